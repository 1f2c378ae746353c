// All hops of mini-batches in one launch without barriers, as PGSampler does it (section III): a queue of tasks (vertex,
// hop) in global memory that resident blocks take from and put into until none is left. What a task samples depends on
// (batch, vertex, hop) alone, so the order in which tasks run is of no consequence; the vertices are numbered afterwards
// (src/gpu/batches/number.cu). CPU twin: src/cpu/minibatch*.cpp.
//
// A task is the work of ceil(k / 2) lanes, two picks each (of a race: of a warp). Each group of lanes holds a ticket, the
// number of the task that it will run, and asks whether that is ready; a warp runs what is ready of its groups' and asks
// again. New tasks go through a hash table, which lets each (vertex, hop) in once (the paper: a bitmap of vertices times
// hops, cleared for each batch).
//
// Termination. The paper stops when head >= tail, which holds also while the last tasks are running that have yet to put
// in theirs, if other blocks are fast. Here `unfinished` counts the tasks that have a number and are not finished: one
// word holds it together with the tail, so that a task finishes and numbers its successors in one atomic step.
//   (1) unfinished is 0 only if no numbered task is waiting or running; new ones are numbered by running tasks alone, once
//       all seeds are in. So as soon as they are and unfinished is 0, it stays 0: stopping loses nothing.
//   (2) Until then work goes on. Take the least number of a task that is not finished. Tickets are handed out in order, so
//       either its ticket is held, by a group that runs the task as soon as it is ready; or all tickets that were handed
//       out are lower ones. Those are of finished tasks, so their holders are done with them and take the next, which
//       is this one. A task's maker waits for nothing between numbering it and making it ready. And seeds are put in by
//       whoever is there. So nothing depends on blocks that have not started: other work may hold part of the device.
//
// Floor: a task reads its row's two ends, and for each pick a neighbour (not in the last hop) and a slot of the table of
// tasks; results are 8 bytes a pick, written in order and read once. Two atomics on two addresses for some six tasks.

#include <cuda/atomic>

#include "core/its.hpp"
#include "gpu/batches/pick.cuh"
#include "gpu/batches/queue.hpp"
#include "gpu/batches/shape.cuh"
#include "gpu/picks/race_picks.cuh"
#include "gpu/picks/summed_picks.cuh"

namespace tendril::gpu {
namespace {

constexpr int queue_threads = 128;
constexpr std::uint32_t no_ticket = 0xffffffffU;
constexpr unsigned long long one_unfinished = 1ULL << 32U;

template <class T>
using device_word = cuda::atomic_ref<T, cuda::thread_scope_device>;

/// A vertex that may become a task.
struct candidate_task {
  bool is_there = false;
  std::uint32_t vertex = 0;
  std::uint32_t group = 0;
  std::uint32_t kind = 0;

  [[nodiscard]] __device__ std::uint32_t hop() const { return kind & 0xffffU; }
  [[nodiscard]] __device__ std::uint32_t type() const { return kind >> 16U; }
};

__device__ __forceinline__ std::uint32_t kind_of(std::uint32_t hop, std::uint32_t type) { return hop | type << 16U; }

__device__ __forceinline__ std::uint32_t stamp_of_task(queue_job const& job, std::uint32_t first_stamp,
                                                       std::uint32_t group, std::uint32_t hop, std::uint32_t type)
{
  return first_stamp + (group * job.num_hops + hop) * job.view.num_types + type;
}

/// One warp's dealings with the queue. All members: the whole warp, converged.
class task_queue {
 public:
  explicit __device__ task_queue(queue_job const& job)
      : job_(job), first_stamp_(*job.first_stamp), serial_(*job.serial), lane_(static_cast<unsigned>(lane_id()))
  {
    for (std::uint32_t type = 0; type < job.view.num_types; ++type) { num_chunks_ += chunks_of(job.seeds[type]); }
  }

  /// Puts in seeds, 32 at a time, as long as some are not taken.
  __device__ void put_in_seeds() const
  {
    while (true) {
      std::uint32_t chunk = 0;
      if (lane_ == 0) { chunk = atomicAdd(job_.chunks_taken, 1U); }
      chunk = __shfl_sync(full_warp, chunk, 0);
      if (chunk >= num_chunks_) { return; }
      std::uint32_t type = 0;
      for (; chunk >= chunks_of(job_.seeds[type]); ++type) { chunk -= chunks_of(job_.seeds[type]); }
      queue_seeds const& seeds = job_.seeds[type];
      std::int64_t const i = std::int64_t{chunk} * warp_size + lane_;
      candidate_task task;
      if (i < *seeds.num) { task = {true, seeds.vertices[i], seeds.group_of[i], kind_of(0, type)}; }
      collected<1> own;
      collect(own, 0, task);
      put_in(own, 0);
      if (lane_ == 0) { device_word<unsigned int>(*job_.chunks_done).fetch_add(1U, cuda::memory_order_acq_rel); }
    }
  }

  /// Collects a task, unless it is in the queue already or collected by another: put_in() then numbers it. Up to `many`
  /// a lane between two calls of that.
  template <int many>
  struct collected {
    candidate_task tasks[many];
    std::uint32_t at[many];  ///< Places in the table; nowhere: not new.
  };

  template <int many>
  __device__ void collect(collected<many>& to, int i, candidate_task const& task) const
  {
    to.tasks[i] = task;
    to.at[i] = nowhere;
    if (!task.is_there) { return; }
    std::uint32_t const stamp = stamp_of_task(job_, first_stamp_, task.group, task.hop(), task.type());
    std::uint32_t place = 0;
    if (job_.table.put(stamped(stamp, task.vertex), first_stamp_, place)) { to.at[i] = place; }
  }

  /// Puts what was collected into the queue, and says that `finished` tasks are done: one atomic step.
  template <int many>
  __device__ void put_in(collected<many> const& from, std::uint32_t finished) const
  {
    unsigned news[many];
    std::uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < many; ++i) {
      news[i] = __ballot_sync(full_warp, from.at[i] != nowhere);
      count += static_cast<std::uint32_t>(__popc(news[i]));
    }
    if (count == 0 && finished == 0) { return; }
    unsigned long long before = 0;
    if (lane_ == 0) {
      // unfinished += count - finished, in the upper half; the sum never borrows from below, since count counts there.
      unsigned long long const step = count + (static_cast<unsigned long long>(count) - finished) * one_unfinished;
      before = device_word<unsigned long long>(*job_.tail).fetch_add(step, cuda::memory_order_acq_rel);
    }
    auto next = __shfl_sync(full_warp, static_cast<std::uint32_t>(before), 0);
#pragma unroll
    for (int i = 0; i < many; ++i) {
      if (from.at[i] != nowhere) {
        publish(next + static_cast<std::uint32_t>(__popc(news[i] & ((1U << lane_) - 1U))), from.tasks[i], from.at[i]);
      }
      next += static_cast<std::uint32_t>(__popc(news[i]));
    }
  }

  /// The next ticket for each lane that wants one.
  [[nodiscard]] __device__ std::uint32_t take_tickets(bool wants, std::uint32_t held) const
  {
    unsigned const wanting = __ballot_sync(full_warp, wants);
    if (wanting == 0) { return held; }
    std::uint32_t first = 0;
    if (lane_ == 0) { first = atomicAdd(job_.head, static_cast<unsigned>(__popc(wanting))); }
    first = __shfl_sync(full_warp, first, 0);
    return wants ? first + static_cast<std::uint32_t>(__popc(wanting & ((1U << lane_) - 1U))) : held;
  }

  /// Whether a ticket's task can be run. Any lane.
  [[nodiscard]] __device__ bool is_ready(std::uint32_t ticket) const
  {
    if (ticket >= job_.capacity) { return false; }
    return device_word<std::uint32_t>(job_.tasks[ticket].ready).load(cuda::memory_order_acquire) == serial_;
  }

  /// Whether nothing is left, for good: see (1) above.
  [[nodiscard]] __device__ bool is_over() const
  {
    bool over = false;
    if (lane_ == 0) {
      over = device_word<unsigned int>(*job_.chunks_done).load(cuda::memory_order_acquire) == num_chunks_ &&
             device_word<unsigned long long>(*job_.tail).load(cuda::memory_order_acquire) < one_unfinished;
    }
    return __shfl_sync(full_warp, over ? 1 : 0, 0) != 0;
  }

 private:
  [[nodiscard]] static __device__ std::uint32_t chunks_of(queue_seeds const& seeds)
  {
    std::int64_t const num = seeds.num == nullptr ? 0 : *seeds.num;
    return static_cast<std::uint32_t>((num + warp_size - 1) / warp_size);
  }

  __device__ void publish(std::uint32_t number, candidate_task const& task, std::uint32_t at) const
  {
    std::uint32_t const stamp = stamp_of_task(job_, first_stamp_, task.group, task.hop(), task.type());
    job_.table.set_value(at, stamped(stamp, numbered_as(number)));
    queue_task& to = job_.tasks[number];
    __stcg(&to.vertex, task.vertex);
    __stcg(&to.group, task.group);
    __stcg(&to.kind, task.kind);
    device_word<std::uint32_t>(to.ready).store(serial_, cuda::memory_order_release);
  }

  queue_job const& job_;
  std::uint32_t first_stamp_, serial_;
  unsigned lane_;
  std::uint32_t num_chunks_ = 0;  ///< Of seeds.
};

/// What a kernel knows of weighted picks besides alias tables: it takes registers.
enum class queue_picks : std::uint8_t { plain, sums, races };

/// A lane's two picks of a task through one edge type. Whole warp, converged.
template <queue_picks Picks, class View>
__device__ __forceinline__ slot_pair pick_for_task(queue_job const& job, queue_edges const& edges,
                                                   expansion_part<View> const& part, vertex_id id,
                                                   expanded_vertex<View> const& vertex, std::uint32_t first_lane,
                                                   std::uint32_t width, std::uint32_t pair)
{
  std::uint32_t const k = part.fanout();
  std::uint32_t const slot = 2 * pair;
  bool const has_edges = vertex.degree > 0;
  slot_pair out;
  switch (static_cast<samplers::edge_choice>(edges.choice)) {
    case samplers::edge_choice::uniform:
      if (!job.replace) { return pick_by_lanes(first_lane, width, pair, k, vertex.degree, part.draws(0, vertex)); }
      if (has_edges) { out = uniform_choice::both(part.draws(0, vertex)(pair), vertex.degree); }
      break;
    case samplers::edge_choice::alias:
      if constexpr (Picks == queue_picks::sums) {
        if (edges.sums.rows != nullptr) {
          if (has_edges && slot < k) {
            out = summed_choice<false>{edges.sums}.of(part, id, vertex, part.draws(0, vertex), slot);
          }
          break;
        }
      }
      if (has_edges) {
        bucket_choice const by{edges.buckets};
        auto const draw = part.draws(0, vertex);
        if (slot < k) { out.first = by.one(draw, vertex.first, vertex.degree, slot); }
        if (slot + 1 < k) { out.second = by.one(draw, vertex.first, vertex.degree, slot + 1); }
      }
      break;
    case samplers::edge_choice::last:
      if (has_edges) { out = last_choice{}(part, 0, vertex, slot); }
      break;
    case samplers::edge_choice::race:
      if constexpr (Picks == queue_picks::races) {
        std::uint64_t entry = core::race_none;
        if (has_edges && k > 0) {  // the same in all lanes: a task is a warp's
          entry = race_by_warp(race_among(part, 0, vertex, 0, vertex.degree), k);
        }
        // Rank l is lane l's; lanes have pairs.
        std::uint64_t const first = __shfl_sync(full_warp, entry, static_cast<int>(slot % warp_size));
        std::uint64_t const second = __shfl_sync(full_warp, entry, static_cast<int>((slot + 1) % warp_size));
        if (slot < min(k, most_warp_picks)) { out.first = pick_of(first); }
        if (slot + 1 < min(k, most_warp_picks)) { out.second = pick_of(second); }
      }
      break;
    case samplers::edge_choice::labor: break;  // no queue is made for it
  }
  return out;
}

template <queue_picks Picks, class View>
__global__ __launch_bounds__(queue_threads) void queue_kernel(queue_job const __grid_constant__ job,
                                                              core::fast_divisor const by_pairs)
{
  task_queue const queue(job);
  queue.put_in_seeds();

  std::uint32_t const width = by_pairs.divisor();
  auto const lane = static_cast<std::uint32_t>(lane_id());
  std::uint32_t const own_group = by_pairs.quotient(lane);
  std::uint32_t const first_lane = own_group * width;
  std::uint32_t const pair = lane - first_lane;
  bool const leads = pair == 0 && first_lane + width <= warp_size;
  std::uint32_t ticket = no_ticket;  // of lanes that lead
  while (true) {
    ticket = queue.take_tickets(leads && ticket == no_ticket, ticket);
    bool const ready = leads && queue.is_ready(ticket);
    unsigned const running = __ballot_sync(full_warp, ready);
    if (running == 0) {
      if (queue.is_over()) { return; }
      __nanosleep(100);
      continue;
    }
    candidate_task task;
    std::uint32_t number = ticket;
    if (ready) {
      queue_task const* const from = job.tasks + ticket;
      task = {true, __ldcg(&from->vertex), __ldcg(&from->group), __ldcg(&from->kind)};
      ticket = no_ticket;
    }
    int const leader = static_cast<int>(min(first_lane, warp_size - 1U));
    task.is_there = (running >> leader & 1U) != 0;
    task.vertex = __shfl_sync(full_warp, task.vertex, leader);
    task.group = __shfl_sync(full_warp, task.group, leader);
    task.kind = __shfl_sync(full_warp, task.kind, leader);
    number = __shfl_sync(full_warp, number, leader);
    bool const expands = task.is_there && task.hop() + 1 < job.num_hops;

    for (std::uint32_t t = 0; t < job.num_edge_types; ++t) {
      queue_edges const& edges = job.edges[t];
      expansion_part<View> part;
      expansion_on<View>& what = part.what;
      what.graph = edges.graph.as<View>();
      what.times = edges.times;
      what.ordinal = edges.ordinal;
      what.groups = job.groups;
      queue_fanout own;
      expanded_vertex<View> vertex;
      if (task.is_there && task.type() == static_cast<std::uint32_t>(edges.from)) {
        own = job.fanouts[task.hop() * job.num_edge_types + t];
        if (own.fanout > 0) { vertex = expand(what, task.vertex, task.group); }
      }
      if (!__any_sync(full_warp, own.fanout > 0)) { continue; }
      what.fanout = own.fanout;
      what.step = core::minibatch_draws::step(task.hop(), t);
      slot_pair const picks = pick_for_task<Picks>(job, edges, part, task.vertex, vertex, first_lane, width, pair);
      task_queue::collected<2> fresh;
      edge_id* const to = job.results + std::size_t{number} * job.results_a_task + own.offset + 2 * pair;
      auto const keep = [&](int which, std::uint32_t pick) {
        bool const is_slot = 2 * pair + static_cast<std::uint32_t>(which) < own.fanout;
        std::uint32_t const position = position_of(what, vertex.first, pick);
        if (is_slot) { to[which] = edge_at(vertex.first, position); }
        candidate_task next;
        if (is_slot && position != core::no_pick && expands) {
          next = {true, target_in(what.graph, vertex.row, vertex.first + position, position), task.group,
                  kind_of(task.hop() + 1, static_cast<std::uint32_t>(edges.to))};
          next.is_there = next.vertex < job.view.vertices[edges.to].num_vertices;
        }
        queue.collect(fresh, which, next);
      };
      keep(0, picks.first);
      keep(1, picks.second);
      queue.put_in(fresh, 0);
    }
    // The vertex itself is expanded again; with that the tasks that ran are finished.
    candidate_task again = task;
    again.is_there = expands && pair == 0;
    again.kind = kind_of(task.hop() + 1, task.type());
    task_queue::collected<1> last;
    queue.collect(last, 0, again);
    queue.put_in(last, static_cast<std::uint32_t>(__popc(running)));
  }
}

/// A thread a slot. A task that the frontier asks for is there: it was put in by whoever picked its vertex.
template <class View>
__global__ __launch_bounds__(expand_threads) void fetch_kernel(queue_job const __grid_constant__ job,
                                                               expansion_on<View> const __grid_constant__ what,
                                                               core::fast_divisor const by_fanout,
                                                               std::uint32_t const hop, std::uint32_t const edge_type)
{
  std::uint32_t const first_stamp = *job.first_stamp;
  std::uint32_t const offset = job.fanouts[hop * job.num_edge_types + edge_type].offset;
  auto const from = static_cast<std::uint32_t>(job.edges[edge_type].from);
  std::int64_t const num_slots = *what.num_vertices * what.fanout;
  for (std::int64_t s = global_thread(); s < num_slots; s += grid_stride()) {
    std::uint32_t const i = by_fanout.quotient(static_cast<std::uint32_t>(s));
    std::uint32_t const j = static_cast<std::uint32_t>(s) - i * what.fanout;
    vertex_id const v = what.vertices[i];
    std::uint32_t const stamp = stamp_of_task(job, first_stamp, what.group_of[i], hop, from);
    std::uint32_t const number = job.table.find(stamped(stamp, v), first_stamp);
    edge_id const edge =
        number == nowhere ? edge_id{-1} : job.results[std::size_t{number} * job.results_a_task + offset + j];
    keep_edge(what, what.group_of[i], s, edge,
              [&](int) { return edge < 0 ? no_vertex : what.graph.edge_target(edge, v, streaming_load{}); });
  }
}

template <queue_picks Picks, class View>
void enqueue(queue_job const& job, gpu_exec const& exec)
{
  std::uint32_t const width =
      Picks == queue_picks::races ? warp_size : std::max(1U, job.most_fanout / 2 + job.most_fanout % 2);
  std::int64_t const a_warp = warp_size / width;
  auto* const kernel = queue_kernel<Picks, View>;
  std::int64_t const threads = (job.capacity + a_warp - 1) / a_warp * warp_size;
  unsigned const blocks = loop_blocks(kernel, threads, queue_threads, 0, exec.device);
  kernel<<<blocks, queue_threads, 0, exec.stream>>>(job, core::fast_divisor(width));
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace

void run_queue(queue_job const& job, gpu_exec const& exec)
{
  if (job.capacity == 0) { return; }
  auto const enqueue_by = [&]<class View>(View) {
    if (job.races) {  // weighted without replacement: no edge type has sums
      enqueue<queue_picks::races, View>(job, exec);
    } else if (job.by_sums) {
      enqueue<queue_picks::sums, View>(job, exec);
    } else {
      enqueue<queue_picks::plain, View>(job, exec);
    }
  };
  job.form == graph_form::csr ? enqueue_by(csr_view{}) : enqueue_by(compressed_view{});
}

void fetch_picks(queue_job const& job, expansion const& what, std::uint32_t hop, std::uint32_t edge_type,
                 gpu_exec const& exec)
{
  std::int64_t const most = what.most_vertices * what.fanout;
  if (most == 0) { return; }
  with_view(what, [&]<class View>(expansion_on<View> const& seen) {
    auto* const kernel = fetch_kernel<View>;
    unsigned const blocks = loop_blocks(kernel, most, expand_threads, 0, exec.device);
    kernel<<<blocks, expand_threads, 0, exec.stream>>>(job, seen, core::fast_divisor(what.fanout), hop, edge_type);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace tendril::gpu
