#include "gpu/batches/memory.hpp"

#include <algorithm>
#include <utility>

namespace tendril::gpu {
namespace {

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

run_memory::run_memory(batch_plan const& the_plan, batch_space& the_space, gpu_exec const& the_exec,
                       batch_input the_input, std::size_t slot)
    : plan(the_plan),
      space(the_space),
      exec(the_exec),
      input(std::move(the_input)),
      block(the_plan, the_space, input.num_batches, slot)
{
}

void run_memory::prepare(bool rounded)
{
  sizes = run_sizes::of(plan, input, space.expected, rounded);
  space.lists.resize(2 * plan.num_types());
  space.grow(space.groups, sizes.trees);
  space.grow(space.at, sizes.seeds);
  block.lay_out(sizes.tiles);
  grow(sizes.ahead, 0);
  first_stamp_ = space.take_stamps(sizes.trees * static_cast<std::int64_t>(plan.num_types()));
  if (space.queue) { prepare_queue(); }
  // Who gave other memory than the stream's own may have given it because other streams read batches.
  bool const keeps_memory = single() && exec.memory == nullptr;
  output = batch_output(room_of(plan, sizes.exact, space.expected), input.num_batches, memory_of(exec),
                        keeps_memory ? &space.outputs : nullptr);
  write_block();
}

void run_memory::make_room(std::size_t hop, std::size_t t, size_bound const& picks, gpu_exec const& on)
{
  sizes.bounds.take_all(t, picks);
  batch_forecast next = batch_forecast::of(plan, sizes.bounds, hop, t + 1);
  next.picks = std::max(next.picks, picks.total);
  // New vertices of this hop go to the next list before the forecast sees them as a hop's.
  for (std::size_t type = 0; type < plan.num_types(); ++type) {
    next.lists[type] = std::max(next.lists[type], sizes.bounds.next(type).total);
  }
  grow(next, first_stamp_);
  sizes.ahead = next;
  batch_output larger(room_of(plan, next.bounds, space.expected), input.num_batches, memory_of(exec));
  larger.take_over(output, on);
  output = std::move(larger);
  write_block();
  block.upload_call(on);
}

/// @param keep_from  Not 0: lists and table are in use, the latter by stamps from there on.
void run_memory::grow(batch_forecast const& by, std::uint32_t keep_from)
{
  bool const keep = keep_from != 0;
  space.grow(space.picked, by.picks);
  space.grow(space.at, by.picks);
  space.grow(space.race, by.race_bytes);
  for (std::size_t type = 0; type < plan.num_types(); ++type) {
    std::int64_t size = by.lists[type];
    if (plan.subgraph == subgraph_type::induced) { size = std::max(size, by.bounds.nodes(type).total); }
    for (std::size_t which = 0; which < 2; ++which) {
      space.grow(list_of(type, which).vertices, std::max<std::int64_t>(size, 1), keep);
      space.grow(list_of(type, which).groups, std::max<std::int64_t>(size, 1), keep);
    }
  }
  if (plan.labor) { grow_labor(by, keep); }
  if (keep) { sizes.vertices = std::max(sizes.vertices, by.bounds.all_nodes()); }
  space.grow_table(sizes.vertices, keep_from, cut(), plan.limits);
}

/// Memory of the launches by LABOR. What a launch has counted stays.
void run_memory::grow_labor(batch_forecast const& by, bool keep)
{
  std::int64_t const most = std::max<std::int64_t>(*std::max_element(by.lists.begin(), by.lists.end()), 1);
  space.grow(space.counts, most, keep);
  space.grow(space.offsets, most + 1, keep);
  space.grow(space.labor.weights, most, keep);
  space.grow(space.labor.staged, by.staged, keep);
  space.grow(space.labor.long_rows, most, keep);
  space.grow(space.labor.spilled, most, keep);
  space.grow(space.labor.lists, 1, keep);
  space.grow(space.labor.scan, static_cast<std::int64_t>(labor_scan_bytes(most)));
}

/// Memory and stamps of the persistent executor.
void run_memory::prepare_queue()
{
  constexpr std::int64_t most_tasks = std::int64_t{1} << 30U;
  std::int64_t const tasks = sizes.ahead.tasks;
  std::int64_t const stamps = sizes.trees * static_cast<std::int64_t>(plan.num_hops * plan.num_types());
  if (tasks > most_tasks || stamps > most_stamps) { throw too_many_picks{0, std::max(tasks, stamps)}; }
  if (space.queue->grow(tasks)) { ++space.generation; }
  space.queue->begin_call(sizes.trees);
}

/// What the first hop expands: lists that are complete when the queue begins.
std::vector<queue_seeds> run_memory::first_of_queue() const
{
  std::vector<queue_seeds> out(plan.num_types());
  for (std::size_t type = 0; type < out.size(); ++type) {
    if (plan.num_hops == 0 || !is_expanded(type)) { continue; }
    auto const& list = list_of(type, 0);
    std::int64_t const num = single() ? block.hop_begin(0, type) : block.columns().list_begin(type) + input.num_batches;
    out[type] = {list.vertices.data(), list.groups.data(), block.column(num)};
  }
  return out;
}

void run_memory::write_block()
{
  batch_call call;
  call.seed = plan.seed;
  call.numbers = input.numbers;
  call.num_batches = input.num_batches;
  call.num_groups = plan.disjoint ? input.num_seeds() : input.num_batches;
  if (!single()) { call.by_batch = core::fast_divisor(static_cast<std::uint32_t>(input.batch_size)); }
  call.first_stamp = first_stamp_;
  call.dependency = plan.dependency;
  std::vector<vertex_call> vertices(plan.num_types());
  std::vector<edge_call> edges(plan.edges.size());
  output.describe(vertices.data(), edges.data());
  std::int64_t first_seed = 0;
  for (std::size_t type = 0; type < vertices.size(); ++type) {
    auto& of_type = vertices[type];
    of_type.seeds = input.seeds[type].data();
    of_type.times = input.times.empty() ? nullptr : input.times[type].data();
    of_type.num_seeds = std::ssize(input.seeds[type]);
    of_type.first_seed = first_seed;
    of_type.num_vertices = plan.num_vertices[type];
    first_seed += of_type.num_seeds;
  }
  block.write(call, vertices, edges, space.queue ? first_of_queue() : std::vector<queue_seeds>());
}

/// Each batch's part of the table.
table_cut run_memory::cut() const
{
  return {sizes.trees * static_cast<std::int64_t>(plan.num_types()), input.num_batches};
}

number_table run_memory::table() const
{
  // A launch whose picks are counted may need a larger table than the launches before it; what is in the table stays where
  // it is, unless all of it moves.
  number_table out = plan.waits() ? space.whole_table() : space.table(sizes.vertices);
  out.cut(cut());
  out.full = block.table_is_full();
  return out;
}

bool run_memory::is_expanded(std::size_t type) const
{
  return std::any_of(plan.edges.begin(), plan.edges.end(),
                     [&](edge_plan const& edges) { return index_of(edges.from) == type; });
}

}  // namespace tendril::gpu
