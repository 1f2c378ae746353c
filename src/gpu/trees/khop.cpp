// The front of the GPU's k-hop trees: checks arguments, plans, builds tables, enqueues hop after hop. CPU twin:
// src/cpu/trees/khop.cpp.

#include "gpu/trees/khop.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // expect_vertices
#include <tendril/place.hpp>
#include <tendril/sample.hpp>

#include "core/draws.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/host_copies.hpp"
#include "gpu/device/workspace.hpp"
#include "gpu/placed/shared_graph.hpp"
#include "gpu/trees/planned_hop.hpp"
#include "graph/places.hpp"
#include "plan/planner.hpp"
#include "samplers/trees/khop_checks.hpp"

namespace tendril {
namespace {

/// What the GPU has no room for is found out when memory is asked for; this is for what can't be counted.
void check_countable(std::int64_t slots, std::int64_t bytes_a_slot, std::size_t hop)
{
  constexpr std::int64_t most_bytes = std::int64_t{1} << 50U;
  if (slots > most_bytes / bytes_a_slot) {
    throw memory_error(
        fmt::format("hop {}: {} slots take more than 2^50 bytes; sample fewer seeds a call", hop, slots));
  }
}

/// A call that has passed its checks.
class khop_run {
 public:
  khop_run(graph const& graph, khop_params const& params, sampling_plan const& plan, gpu::khop_tables const& tables,
           std::int64_t first_root, bool with_edges, gpu_exec const& exec)
      : graph_(graph),
        params_(params),
        plan_(plan),
        tables_(tables),
        first_root_(first_root),
        with_edges_(with_edges),
        exec_(exec)
  {
  }

  /// @param status  Told of seeds that are no vertices. Pinned.
  [[nodiscard]] khop_trees run(std::span<vertex_id const> seeds, gpu::walk_status* status)
  {
    khop_trees out;
    out.num_roots = std::ssize(seeds);
    begin(seeds, status);
    for (std::size_t h = 0; h < params_.fanouts.size(); ++h) {
      std::int64_t const fanout = params_.fanouts[h];
      out.hops.push_back(fanout == -1 ? take_all(seeds, h) : allocate_hop(job_.parents.size, fanout, h));
      tree_hop& made = out.hops.back();
      if (fanout != -1) { sample(made, 0, h); }
      go_on(made.vertices.data(), made.vertices.size());
    }
    return out;
  }

  /// Makes the trees of some of all roots, in memory that allocate() made for all: of those that begin with number `first`.
  /// Without fan-outs of -1.
  void run_into(khop_trees& out, std::int64_t first, std::span<vertex_id const> seeds, gpu::walk_status* status)
  {
    begin(seeds, status);
    for (std::size_t h = 0; h < params_.fanouts.size(); ++h) {
      std::int64_t const slots_a_root = out.hops[h].vertices.size() / out.num_roots;
      sample(out.hops[h], first * slots_a_root, h);
      go_on(out.hops[h].vertices.data() + first * slots_a_root, std::ssize(seeds) * slots_a_root);
    }
  }

  /// Trees of so many roots, one or more. Without fan-outs of -1.
  [[nodiscard]] khop_trees allocate(std::int64_t num_roots) const
  {
    khop_trees out;
    out.num_roots = num_roots;
    std::int64_t slots = num_roots;
    for (std::size_t h = 0; h < params_.fanouts.size(); ++h) {
      out.hops.push_back(allocate_hop(slots, params_.fanouts[h], h));
      slots *= params_.fanouts[h];
    }
    return out;
  }

 private:
  void begin(std::span<vertex_id const> seeds, gpu::walk_status* status)
  {
    job_.graph = graph_.view();
    job_.parents = {seeds.data(), std::ssize(seeds), std::ssize(seeds), 1, nullptr};
    job_.first_root = static_cast<std::uint64_t>(first_root_);
    job_.replace = params_.replace;
    job_.status = status;
  }

  /// The slots that a hop made are the parents of the next.
  void go_on(vertex_id const* vertices, std::int64_t size)
  {
    job_.parents.vertices = vertices;
    job_.parents.size = size;
    job_.status = nullptr;
  }

  void allocate(tree_hop& hop, std::int64_t slots, std::size_t h) const
  {
    check_countable(slots, with_edges_ ? 12 : 4, h + 1);
    hop.vertices = buffer<vertex_id>(slots, memory_of(exec_));
    if (with_edges_) { hop.edges = buffer<edge_id>(slots, memory_of(exec_)); }
  }

  [[nodiscard]] tree_hop allocate_hop(std::int64_t parents, std::int64_t fanout, std::size_t h) const
  {
    TENDRIL_EXPECTS(parents <= (std::int64_t{1} << 62U) / fanout, "fanouts: too many slots at hop {}", h + 1);
    tree_hop hop;
    hop.fanout = fanout;
    allocate(hop, parents * fanout, h);
    return hop;
  }

  /// Fills a hop from slot `first` on.
  void sample(tree_hop& hop, std::int64_t first, std::size_t h)
  {
    gpu::hop_slots& parents = job_.parents;
    std::int64_t const fanout = hop.fanout;
    job_.key = core::khop_key(params_.seed, h + 1);
    job_.fanout = static_cast<std::uint32_t>(fanout);
    job_.most_picks = gpu::most_picks(graph_, fanout, exec_);
    job_.vertices = hop.vertices.data() + first;
    job_.edges = with_edges_ ? hop.edges.data() + first : nullptr;
    if (parents.size > 0) { gpu::launch_hop(job_, params_, plan_.rule, tables_, race_scratch_, exec_); }
    parents.a_unit *= fanout;
    check_trees();
  }

  tree_hop take_all(std::span<vertex_id const> seeds, std::size_t h)
  {
    gpu::hop_slots& parents = job_.parents;
    tree_hop hop;
    hop.fanout = -1;
    hop.offsets = buffer<std::int64_t>(parents.size + 1, memory_of(exec_));
    buffer<std::int64_t> begin(parents.num_roots + 1, memory_of(exec_));
    gpu::all_size const size = gpu::all_offsets(job_, hop.offsets.data(), begin.data(), exec_);
    if (job_.status != nullptr && job_.status->bad_start >= 0) {
      expect_vertices(seeds, "seed", graph_.num_vertices(), exec_);
    }
    allocate(hop, size.num_slots, h);
    job_.vertices = hop.vertices.data();
    job_.edges = with_edges_ ? hop.edges.data() : nullptr;
    gpu::all_hop(job_, hop.offsets.data(), size.num_slots, exec_);
    unit_begin_ = std::move(begin);  // what was there is given back in the order of the stream
    parents.unit_begin = unit_begin_.data();
    parents.a_unit = 1;
    most_units_ = size.largest_tree;
    check_trees();
    return hop;
  }

  /// A slot's place in its tree is a word of its counter.
  void check_trees() const
  {
    constexpr std::int64_t most = 0xffffffffLL;
    std::int64_t const a_unit = job_.parents.a_unit;
    if (most_units_ <= most / a_unit) { return; }
    auto const begin = gpu::host_copy(unit_begin_.data(), unit_begin_.size());
    for (std::size_t r = 0; r + 1 < begin.size(); ++r) {
      TENDRIL_EXPECTS(begin[r + 1] - begin[r] <= most / a_unit,
                      "fanouts: the tree of seed {} has more than 2^32 slots in one hop", r);
    }
  }

  graph const& graph_;
  khop_params const& params_;
  sampling_plan const& plan_;
  gpu::khop_tables const& tables_;
  std::int64_t first_root_;
  bool with_edges_;
  gpu_exec const& exec_;
  gpu::khop_job job_;
  buffer<std::byte> race_scratch_;
  buffer<std::int64_t> unit_begin_;  // [num_roots + 1] after a hop that took all neighbours
  std::int64_t most_units_ = 1;      // of a tree
};

/// What all parts of a call are given.
struct khop_call {
  graph const& input;
  khop_params params;
  sampling_plan plan;
  gpu::khop_tables tables;
  bool with_edges;
  gpu_exec const& exec;

  [[nodiscard]] khop_run run(std::int64_t first_root) const
  {
    return {input, params, plan, tables, first_root, with_edges, exec};
  }
};

/// Trees that GPU and CPU make together, from seeds that are vertices; every tree has the same number of slots.
khop_trees run_shared(khop_call const& call, std::span<vertex_id const> seeds, std::int64_t first_root)
{
  graph const& on_host = call.input.placed()->host;
  (void)plan::make_pick_tables(on_host, plan::make_khop_plan(on_host, call.params, std::ssize(seeds), cpu_exec()),
                               cpu_exec());  // every part finds them
  khop_trees out = call.run(first_root).allocate(std::ssize(seeds));
  auto const part_of = [&](base::item_range turn) {
    return seeds.subspan(static_cast<std::size_t>(turn.first), static_cast<std::size_t>(turn.size));
  };
  gpu::shared_job job;
  job.num_items = std::ssize(seeds);
  job.kind = {2, call.params.weighted ? 1U : 0U, call.params.replace ? 1U : 0U,
              static_cast<std::uint64_t>(call.params.rule), call.with_edges ? 1U : 0U};
  for (tree_hop const& hop : out.hops) {
    job.reads += static_cast<double>(hop.vertices.size()) / static_cast<double>(out.num_roots);
    job.kind.add(static_cast<std::uint64_t>(hop.fanout));
  }
  job.item_bytes = static_cast<std::int64_t>(job.reads) * (call.with_edges ? 12 : 4);
  job.on_gpu = [&](base::item_range turn) {
    auto space = gpu::workspace_pool::of(call.exec.device).take();
    call.run(first_root + turn.first).run_into(out, turn.first, part_of(turn), space->status());
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(call.exec.stream));
    gpu::workspace_pool::of(call.exec.device).give_back(std::move(space));
  };
  job.on_cpu = [&](base::item_range turn, int, gpu::lane& mine) {
    auto const made = khop_sample(on_host, mine.fetch(part_of(turn)), call.params, cpu_exec{.num_threads = 1},
                                  first_root + turn.first, call.with_edges);
    for (std::size_t h = 0; h < made.hops.size(); ++h) {
      std::int64_t const size = made.hops[h].vertices.size();
      std::int64_t const first = turn.first * (size / turn.size);
      mine.upload(out.hops[h].vertices.data() + first, made.hops[h].vertices.data(), size);
      if (call.with_edges) { mine.upload(out.hops[h].edges.data() + first, made.hops[h].edges.data(), size); }
    }
  };
  gpu::work_together(call.input, job, call.exec);
  return out;
}

/// Whether GPU and CPU share the trees: each has the same number of slots then.
bool can_share(graph const& graph, khop_params const& params, std::int64_t num_roots)
{
  return num_roots > 0 && gpu::is_shared(graph) && std::ranges::find(params.fanouts, -1) == params.fanouts.end();
}

void check(graph const& graph, khop_params const& params, gpu_exec const& exec)
{
  validation::expect_on_gpu(graph, exec);
  samplers::check_khop(graph, params);
}

}  // namespace

khop_trees khop_sample(graph const& graph, std::span<vertex_id const> seeds, khop_params const& params,
                       gpu_exec const& exec, std::int64_t first_root, bool with_edges)
{
  check(graph, params, exec);
  samplers::check_first_root(first_root);
  gpu::device_guard const guard(exec.device);
  khop_params const planned = plan::without_idle_weights(graph, params);
  sampling_plan const plan = gpu::make_khop_plan(graph, planned, std::ssize(seeds), with_edges, exec);
  khop_call const call{graph, planned, plan, gpu::make_khop_tables(graph, plan, with_edges, exec), with_edges, exec};
  if (can_share(graph, planned, std::ssize(seeds))) {
    expect_vertices(seeds, "seed", graph.num_vertices(), exec);
    return run_shared(call, seeds, first_root);
  }
  auto space = gpu::workspace_pool::of(exec.device).take();
  space->status()->bad_start = -1;
  khop_trees out = call.run(first_root).run(seeds, space->status());
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  bool const all_known = space->status()->bad_start < 0;
  gpu::workspace_pool::of(exec.device).give_back(std::move(space));
  // Which bad seed a kernel saw is chance: the one that is named is the first.
  if (!all_known) { expect_vertices(seeds, "seed", graph.num_vertices(), exec); }
  return out;
}

sampling_plan plan_khop(graph const& graph, khop_params const& params, std::int64_t num_roots, gpu_exec const& exec)
{
  check(graph, params, exec);
  return gpu::make_khop_plan(graph, plan::without_idle_weights(graph, params), num_roots, false, exec);
}

}  // namespace tendril
