#include "gpu/minibatch_run.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <cuda_runtime_api.h>

#include "gpu/check.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t word_bytes = sizeof(unsigned long long);

constexpr std::int64_t words_of(std::size_t bytes)
{
  static_assert(sizeof(batch_call) % word_bytes == 0);
  static_assert(sizeof(vertex_call) % word_bytes == 0 && sizeof(edge_call) % word_bytes == 0);
  return static_cast<std::int64_t>(bytes) / word_bytes;
}

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

batch_run::batch_run(batch_plan const& plan, batch_space& space, gpu_exec const& exec, batch_input input,
                     std::size_t slot)
    : plan_(plan), space_(space), exec_(exec), input_(std::move(input)), slot_(slot)
{
  call_words_ =
      words_of(sizeof(batch_call) + plan.num_types() * sizeof(vertex_call) + plan.edges.size() * sizeof(edge_call));
  if (space.queue) { call_words_ += 1 + words_of(plan.num_types() * sizeof(queue_seeds)); }
}

/// Which column tells what is known follows from the edge types alone: a launch writes that of its neighbours' type.
void batch_run::trace_columns()
{
  std::vector<std::int64_t> now;
  for (std::size_t type = 0; type < plan_.num_types(); ++type) { now.push_back(columns_.seeds_known(type)); }
  for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
    hop_begin_.push_back(now);
    for (std::size_t t = 0; t < plan_.edges.size(); ++t) {
      known_.push_back(now);
      now[index_of(plan_.edges[t].to)] = columns_.known_after(launch_of(hop, t));
    }
  }
  hop_begin_.push_back(now);
}

std::vector<size_bound> batch_run::seed_bounds(batch_input const& input, bool rounded)
{
  std::vector<size_bound> out;
  for (auto const& of_type : input.seeds) {
    auto const size =
        static_cast<std::int64_t>(rounded && !of_type.empty() ? std::bit_ceil(of_type.size()) : of_type.size());
    out.push_back({input.num_batches == 1 ? size : std::min(size, input.batch_size), size});
  }
  return out;
}

slab_room batch_run::room_of(batch_plan const& plan, batch_bounds const& bounds)
{
  slab_room room;
  room.disjoint = plan.disjoint;
  for (std::size_t type = 0; type < plan.num_types(); ++type) { room.nodes.push_back(bounds.nodes(type).each); }
  for (std::size_t t = 0; t < plan.edges.size(); ++t) {
    std::int64_t const edges = std::max<std::int64_t>(bounds.edges(t).each, 1);
    switch (plan.subgraph) {
      case subgraph_type::directional: room.edges.push_back({edges, bounds.expanded(t).each + 1}); break;
      case subgraph_type::bidirectional: room.edges.push_back({2 * edges, 0}); break;
      case subgraph_type::induced: room.edges.push_back({0, 0}); break;
    }
  }
  return room;
}

void batch_run::prepare(bool rounded)
{
  batch_bounds const exact(plan_.sizes, input_.num_batches, seed_bounds(input_, false));
  bounds_ = rounded ? batch_bounds(plan_.sizes, input_.num_batches, seed_bounds(input_, true)) : exact;
  ahead_ = batch_forecast::of(plan_, bounds_, 0, 0);
  std::int64_t seeds = 0;
  for (auto const& of_type : seed_bounds(input_, rounded)) { seeds += of_type.total; }
  if (seeds >= plan_.limits.picks) { throw too_many_picks{0, seeds}; }

  std::int64_t const groups = plan_.disjoint ? seeds : input_.num_batches;
  std::int64_t tiles = ahead_.tiles;
  for (auto const& of_type : seed_bounds(input_, true)) { tiles += 1 + of_type.total / number_tile_slots; }
  columns_ = count_columns(plan_, input_.num_batches, tiles);
  trace_columns();
  space_.lists.resize(2 * plan_.num_types());
  space_.grow(space_.groups, std::max<std::int64_t>(groups, 1));
  space_.grow(space_.at, seeds);
  space_.grow(space_.block, call_words_ + 1 + columns_.num_words());
  grow(ahead_, 0);
  first_stamp_ = space_.take_stamps(std::max<std::int64_t>(groups, 1) * static_cast<std::int64_t>(plan_.num_types()));
  if (space_.queue) { prepare_queue(std::max<std::int64_t>(groups, 1)); }
  slab_ = batch_slab(room_of(plan_, rounded ? batch_forecast::of(plan_, exact, 0, 0).bounds : ahead_.bounds),
                     input_.num_batches, memory_of(exec_));
  write_block();
}

/// @param keep_from  Not 0: lists and table are in use, the latter by stamps from there on.
void batch_run::grow(batch_forecast const& by, std::uint32_t keep_from)
{
  bool const keep = keep_from != 0;
  space_.grow(space_.picked, by.picks);
  space_.grow(space_.at, by.picks);
  space_.grow(space_.race, by.race_bytes);
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    std::int64_t size = by.lists[type];
    if (plan_.subgraph == subgraph_type::induced) { size = std::max(size, by.bounds.nodes(type).total); }
    for (std::size_t which = 0; which < 2; ++which) {
      space_.grow(list_of(type, which).vertices, std::max<std::int64_t>(size, 1), keep);
      space_.grow(list_of(type, which).groups, std::max<std::int64_t>(size, 1), keep);
    }
  }
  space_.grow_table(by.bounds.all_nodes(), keep_from, plan_.limits);
}

void batch_run::write_block()
{
  if (space_.host_blocks.size() <= slot_) { space_.host_blocks.resize(slot_ + 1); }
  auto& host = space_.host_blocks[slot_];
  std::int64_t const needed = call_words_ + 2 + columns_.report_words();
  if (host.size() < needed) {
    host = {};
    host = buffer<unsigned long long>(needed, pinned_memory());
    ++space_.generation;  // captured copies name it
  }
  batch_call call;
  call.seed = plan_.seed;
  call.first_batch = input_.first_batch;
  call.num_batches = input_.num_batches;
  call.num_groups = plan_.disjoint ? input_.num_seeds() : input_.num_batches;
  if (!single()) { call.by_batch = core::fast_divisor(static_cast<std::uint32_t>(input_.batch_size)); }
  call.first_stamp = first_stamp_;
  std::vector<vertex_call> vertices(plan_.num_types());
  std::vector<edge_call> edges(plan_.edges.size());
  slab_.describe(vertices.data(), edges.data());
  std::int64_t first_seed = 0;
  for (std::size_t type = 0; type < vertices.size(); ++type) {
    auto& of_type = vertices[type];
    of_type.seeds = input_.seeds[type].data();
    of_type.times = input_.times.empty() ? nullptr : input_.times[type].data();
    of_type.num_seeds = std::ssize(input_.seeds[type]);
    of_type.first_seed = first_seed;
    of_type.num_vertices = plan_.num_vertices[type];
    first_seed += of_type.num_seeds;
  }
  auto* to = reinterpret_cast<std::byte*>(host.data());
  auto const put = [&to](void const* from, std::size_t bytes) {
    if (bytes == 0) { return; }
    std::memcpy(to, from, bytes);
    to += bytes;
  };
  put(&call, sizeof call);
  put(vertices.data(), vertices.size() * sizeof(vertex_call));
  put(edges.data(), edges.size() * sizeof(edge_call));
  if (space_.queue) {
    std::uint32_t const stamp_and_serial[2] = {space_.queue->first_stamp(), space_.queue->serial()};
    put(stamp_and_serial, sizeof stamp_and_serial);
    std::vector<queue_seeds> const first = queue_seeds_now();
    put(first.data(), first.size() * sizeof(queue_seeds));
  }
  host[call_words_] = ~0ULL;  // no bad seed
}

call_view batch_run::view() const
{
  auto const* at = reinterpret_cast<std::byte const*>(space_.block.data());
  call_view out;
  out.call = reinterpret_cast<batch_call const*>(at);
  out.vertices = reinterpret_cast<vertex_call const*>(at + sizeof(batch_call));
  out.edges = reinterpret_cast<edge_call const*>(at + sizeof(batch_call) + plan_.num_types() * sizeof(vertex_call));
  out.num_types = static_cast<std::uint32_t>(plan_.num_types());
  out.disjoint = plan_.disjoint;
  return out;
}

std::int64_t* batch_run::column(std::int64_t at) const
{
  return reinterpret_cast<std::int64_t*>(space_.block.data()) + call_words_ + 1 + at;
}

unsigned int* batch_run::ticket(std::size_t launch) const
{
  return reinterpret_cast<unsigned int*>(column(columns_.ticket(launch)));
}

batch_space::list& batch_run::list_of(std::size_t type, std::size_t which) const
{
  return space_.lists[2 * type + which];
}

void batch_run::enqueue(gpu_exec const& on)
{
  auto& host = space_.host_blocks[slot_];
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(space_.block.data(), host.data(),
                                   static_cast<std::size_t>((call_words_ + 1) * word_bytes), cudaMemcpyHostToDevice,
                                   on.stream));
  begin_job job;
  job.view = view();
  job.table = space_.table();
  job.zeros = reinterpret_cast<unsigned long long*>(column(0));
  job.num_zeros = columns_.num_words();
  job.groups = space_.groups.data();
  job.at = space_.at.data();
  job.bad_seed = space_.block.data() + call_words_;
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    job.most_seeds = std::max(job.most_seeds, bounds_.nodes(type).total);
  }
  job.most_groups = space_.groups.size();
  begin_batches(job, on);
  number_all_seeds(on);
  for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
    if (!single()) { list_frontiers(hop, on); }
    if (hop == 0 && space_.queue) { run_queue(queue_now(), on); }
    for (std::size_t t = 0; t < plan_.edges.size(); ++t) { sample(hop, t, on); }
    bounds_.end_hop();
  }
  if (plan_.subgraph == subgraph_type::bidirectional && plan_.num_hops > 0) {
    std::int64_t const last = columns_.edges_after(launch_of(plan_.num_hops - 1, 0));
    add_reverses(view(), column(last), input_.num_batches, bounds_.edges(0).each, on);
  }
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(host.data() + call_words_ + 1, space_.block.data() + call_words_,
                                   static_cast<std::size_t>((1 + columns_.report_words()) * word_bytes),
                                   cudaMemcpyDeviceToHost, on.stream));
}

void batch_run::number_all_seeds(gpu_exec const& on)
{
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    if (input_.seeds[type].empty()) { continue; }
    number_job job;
    job.view = view();
    job.table = space_.table();
    job.to = static_cast<std::int32_t>(type);
    job.single = single();
    job.at = space_.at.data();
    job.most_slots = seed_bounds(input_, true)[type].total;
    job.known_after = column(columns_.seeds_known(type));
    if (single() && plan_.num_hops > 0) {
      job.next_vertices = list_of(type, 0).vertices.data();
      job.next_groups = list_of(type, 0).groups.data();
    }
    job.edges_added = column(columns_.edges_added());
    job.vertices_added = column(columns_.vertices_added());
    job.ticket = ticket(type);
    take_tiles(job, job.most_slots, on);
    number_seeds(job, on);
  }
}

bool batch_run::is_expanded(std::size_t type) const
{
  return std::any_of(plan_.edges.begin(), plan_.edges.end(),
                     [&](edge_plan const& edges) { return index_of(edges.from) == type; });
}

/// Memory and stamps of the persistent executor.
void batch_run::prepare_queue(std::int64_t groups)
{
  constexpr std::int64_t most_tasks = std::int64_t{1} << 30U;
  std::int64_t const stamps = groups * static_cast<std::int64_t>(plan_.num_hops * plan_.num_types());
  if (ahead_.tasks > most_tasks || stamps > most_stamps) { throw too_many_picks{0, std::max(ahead_.tasks, stamps)}; }
  if (space_.queue->grow(ahead_.tasks)) { ++space_.generation; }
  space_.queue->begin_call(groups);
}

/// Whom the first hop expands: lists that are there when the queue begins.
std::vector<queue_seeds> batch_run::queue_seeds_now() const
{
  std::vector<queue_seeds> out(plan_.num_types());
  for (std::size_t type = 0; type < out.size(); ++type) {
    if (plan_.num_hops == 0 || !is_expanded(type)) { continue; }
    auto const& list = list_of(type, 0);
    std::int64_t const num = single() ? hop_begin_[0][type] : columns_.list_begin(type) + input_.num_batches;
    out[type] = {list.vertices.data(), list.groups.data(), column(num)};
  }
  return out;
}

queue_job batch_run::queue_now() const
{
  queue_job job = space_.queue->job();
  auto const* const at = reinterpret_cast<std::byte const*>(view().edges + plan_.edges.size());
  job.view = view();
  job.groups = space_.groups.data();
  job.first_stamp = reinterpret_cast<std::uint32_t const*>(at);
  job.serial = job.first_stamp + 1;
  job.seeds = reinterpret_cast<queue_seeds const*>(at + word_bytes);
  auto* const counters = reinterpret_cast<unsigned long long*>(column(columns_.queue()));
  job.head = reinterpret_cast<unsigned int*>(counters);
  job.tail = counters + 1;
  job.chunks_taken = reinterpret_cast<unsigned int*>(counters + 2);
  job.chunks_done = reinterpret_cast<unsigned int*>(counters + 3);
  return job;
}

/// Lists whom the hop expands: of many batches what is new lies in as many places.
void batch_run::list_frontiers(std::size_t hop, gpu_exec const& on)
{
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    if (!is_expanded(type)) { continue; }
    list_job job;
    job.view = view();
    job.type = static_cast<std::int32_t>(type);
    job.num_batches = input_.num_batches;
    job.from = plan_.all || hop == 0 ? nullptr : column(hop_begin_[hop - 1][type]);
    job.to = column(hop_begin_[hop][type]);
    job.begin = column(columns_.list_begin(type));
    job.vertices = list_of(type, 0).vertices.data();
    job.group_of = list_of(type, 0).groups.data();
    job.most = bounds_.frontier(type).total;
    list_vertices(job, on);
  }
}

number_job batch_run::job_of(std::size_t hop, std::size_t t) const
{
  edge_plan const& type = plan_.edges[t];
  std::size_t const from = index_of(type.from);
  std::size_t const to = index_of(type.to);
  std::size_t const launch = launch_of(hop, t);
  bool const alternates = single() && !plan_.all;
  number_job job;
  job.view = view();
  job.table = space_.table();
  job.to = type.to;
  job.edge_type = static_cast<std::int32_t>(t);
  job.single = single();
  auto& list = list_of(from, alternates ? hop % 2 : 0);
  job.from = {list.vertices.data(), list.groups.data(), nullptr, nullptr};
  if (!single()) {
    job.from.begin = column(columns_.list_begin(from));
    job.from.num = job.from.begin + input_.num_batches;
  } else {
    job.from.num = column(plan_.all || hop == 0 ? hop_begin_[hop][from] : columns_.next_count(hop, from));
  }
  job.graph = type.graph;
  job.first = plan_.all || hop == 0 ? nullptr : column(hop_begin_[hop - 1][from]);
  job.known = column(known_[launch][to]);
  if (hop > 0) {
    job.edges_before = column(columns_.edges_after(launch_of(hop - 1, t)));
    job.expanded_before = column(columns_.expanded_after(launch_of(hop - 1, t)));
  }
  job.known_after = column(columns_.known_after(launch));
  job.edges_after = column(columns_.edges_after(launch));
  job.expanded_after = column(columns_.expanded_after(launch));
  if (single() && hop + 1 < plan_.num_hops) {
    auto& next = list_of(to, alternates ? (hop + 1) % 2 : 0);
    job.next_vertices = next.vertices.data();
    job.next_groups = next.groups.data();
    if (!plan_.all) {
      job.next_base = column(hop_begin_[hop][to]);
      job.next_count = column(columns_.next_count(hop + 1, to));
    }
  }
  job.edges_added = column(columns_.edges_added());
  job.vertices_added = column(columns_.vertices_added());
  job.ticket = ticket(plan_.num_types() + launch);
  return job;
}

expansion batch_run::expansion_of(std::size_t hop, std::size_t t, number_job const& job) const
{
  edge_plan const& type = plan_.edges[t];
  expansion what;
  what.graph = type.graph;
  what.times = type.times;
  what.ordinal = type.ordinal;
  what.num_vertices = job.from.num;
  what.most_vertices = bounds_.frontier(index_of(type.from)).total;
  what.vertices = job.from.vertices;
  what.group_of = job.from.group_of;
  what.groups = space_.groups.data();
  what.step = static_cast<std::uint32_t>(hop) | static_cast<std::uint32_t>(t) << 16U;
  what.picked = space_.picked.data();
  return what;
}

/// The next tiles of the zeroed ones; behind a fan-out of -1, which nobody could foresee, others.
void batch_run::take_tiles(number_job& job, std::int64_t picks, gpu_exec const& on)
{
  std::int64_t const tiles = (picks + number_tile_slots - 1) / number_tile_slots;
  if (!late_) {
    job.tiles = reinterpret_cast<unsigned long long*>(column(columns_.tiles() + next_tile_));
    next_tile_ += tiles;
    return;
  }
  space_.grow(space_.late_tiles, tiles);
  job.tiles = space_.late_tiles.data();
  if (tiles == 0) { return; }
  TENDRIL_CUDA_TRY(cudaMemsetAsync(job.tiles, 0, static_cast<std::size_t>(tiles * word_bytes), on.stream));
}

void batch_run::pick(edge_plan const& type, expansion const& what, gpu_exec const& on) const
{
  switch (type.choice) {
    case plan::edge_choice::uniform: pick_uniform(what, plan_.replace, on); break;
    case plan::edge_choice::last: pick_last(what, on); break;
    case plan::edge_choice::alias: pick_alias(what, type.buckets->data(), on); break;
    case plan::edge_choice::race: pick_race(what, space_.race.data(), true, on); break;
  }
}

void batch_run::sample(std::size_t hop, std::size_t t, gpu_exec const& on)
{
  edge_plan const& type = plan_.edges[t];
  std::int64_t const k = type.fanouts[hop];
  number_job job = job_of(hop, t);
  expansion what = expansion_of(hop, t, job);
  if (k < 0) {
    take_all(hop, t, job, what, on);
  } else {
    job.most_slots = bounds_.take(t, k).total;
    if (job.most_slots > 0) {
      what.fanout = static_cast<std::uint32_t>(k);
      job.fanout = what.fanout;
      job.by_fanout = core::fast_divisor(what.fanout);
      if (space_.queue) {
        fetch_picks(queue_now(), what, static_cast<std::uint32_t>(hop), static_cast<std::uint32_t>(t), on);
      } else {
        pick(type, what, on);
      }
    }
  }
  if (job.most_slots == 0) {
    write_indptr(job, what.most_vertices, on);
    return;
  }
  job.at = space_.at.data();
  if (k < 0) { write_indptr(job, what.most_vertices, on); }
  job.picked = space_.picked.data();
  take_tiles(job, job.most_slots, on);
  insert_picks(job, on);
  number_picks(job, on);
}

/// All neighbours: counted first, then memory is found for them and what follows.
void batch_run::take_all(std::size_t hop, std::size_t t, number_job& job, expansion& what, gpu_exec const& on)
{
  std::int64_t host[2] = {};
  if (what.most_vertices > 0) {
    space_.grow(space_.counts, what.most_vertices);
    space_.grow(space_.offsets, what.most_vertices + 1);
    count_all(what, space_.counts.data(), on);
    make_offsets(space_.counts.data(), what.most_vertices, space_.offsets.data(), on);
    std::int64_t* const sizes = column(columns_.sizes());
    measure_picks(space_.offsets.data(), job.from.num, job.from.begin, input_.num_batches, sizes, on);
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(host, sizes, sizeof host, cudaMemcpyDeviceToHost, on.stream));
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(on.stream));  // the call's block has been read, too, and can be written again
  size_bound const picks{host[1], host[0]};
  if (picks.total >= plan_.limits.picks) { throw too_many_picks{hop, picks.total}; }
  bounds_.take_all(t, picks);
  batch_forecast next = batch_forecast::of(plan_, bounds_, hop, t + 1);
  next.picks = std::max(next.picks, picks.total);
  // New vertices of this hop go to the next list before the forecast sees them as a hop's.
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    next.lists[type] = std::max(next.lists[type], bounds_.next(type).total);
  }
  grow(next, first_stamp_);
  ahead_ = next;
  late_ = true;
  batch_slab larger(room_of(plan_, next.bounds), input_.num_batches, memory_of(exec_));
  larger.take_over(slab_, on);
  slab_ = std::move(larger);
  write_block();
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(space_.block.data(), space_.host_blocks[slot_].data(),
                                   static_cast<std::size_t>(call_words_ * word_bytes), cudaMemcpyHostToDevice,
                                   on.stream));
  job = job_of(hop, t);
  if (picks.total == 0) { return; }
  what = expansion_of(hop, t, job);
  job.offsets = space_.offsets.data();
  job.most_slots = picks.total;
  pick_all(what, space_.offsets.data(), on);
}

}  // namespace tendril::gpu
