// A group of mini-batches before its launches: memory for all that can be foreseen, and the block of words that tells the
// kernels about it.

#include "gpu/batches/run.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"

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

slab_room batch_run::room_of(batch_plan const& plan, batch_bounds const& bounds, expected_sizes const& expected)
{
  bool const is_expected = plan.is_made_as_expected() && plan.subgraph == subgraph_type::directional;
  auto const size = [&](std::size_t which, std::int64_t bound) {
    return is_expected ? expected.of(which, bound) : bound;
  };
  slab_room room;
  room.disjoint = plan.disjoint;
  for (std::size_t type = 0; type < plan.num_types(); ++type) {
    room.nodes.push_back(size(size_index::nodes(type), bounds.nodes(type).each));
  }
  for (std::size_t t = 0; t < plan.edges.size(); ++t) {
    std::size_t const of_edges = size_index::edges(plan, t);
    std::int64_t const edges = std::max<std::int64_t>(size(of_edges, bounds.edges(t).each), 1);
    switch (plan.subgraph) {
      case subgraph_type::directional:
        room.edges.push_back({edges, size(of_edges + 1, bounds.expanded(t).each) + 1});
        break;
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
  space_.grow(space_.block, call_words_ + status_words + columns_.num_words());
  std::int64_t const most = ahead_.bounds.all_nodes();
  expected_ = plan_.is_made_as_expected() ? space_.expected.of(size_index::table, most) : most;
  grow(ahead_, 0);
  first_stamp_ = space_.take_stamps(std::max<std::int64_t>(groups, 1) * static_cast<std::int64_t>(plan_.num_types()));
  if (space_.queue) { prepare_queue(std::max<std::int64_t>(groups, 1)); }
  exact_ = rounded ? batch_forecast::of(plan_, exact, 0, 0).bounds : ahead_.bounds;
  slab_ = batch_output(room_of(plan_, exact_, space_.expected), input_.num_batches, memory_of(exec_));
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
  if (keep) { expected_ = std::max(expected_, by.bounds.all_nodes()); }
  space_.grow_table(expected_, keep_from, plan_.limits);
}

void batch_run::write_block()
{
  if (space_.host_blocks.size() <= slot_) { space_.host_blocks.resize(slot_ + 1); }
  auto& host = space_.host_blocks[slot_];
  std::int64_t const needed = call_words_ + 2 * status_words + columns_.report_words();
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
  host[call_words_ + 1] = 0;  // the table isn't full
}

number_table batch_run::table() const
{
  // Behind a fan-out of -1 more may be needed than before: what is in the table stays where it is.
  number_table out = plan_.takes_all() ? space_.whole_table() : space_.table(expected_);
  out.full = space_.block.data() + call_words_ + 1;
  return out;
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
  return reinterpret_cast<std::int64_t*>(space_.block.data()) + call_words_ + status_words + at;
}

unsigned int* batch_run::ticket(std::size_t launch) const
{
  return reinterpret_cast<unsigned int*>(column(columns_.ticket(launch)));
}

batch_space::list& batch_run::list_of(std::size_t type, std::size_t which) const
{
  return space_.lists[2 * type + which];
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

}  // namespace tendril::gpu
