// k-hop neighbourhoods as trees. Hops are done one after the other, and within a hop the vertices of many roots in parallel
// (hop_expander.hpp): root after root, or in the order of the file that the graph lies in.

#include <tendril/sample.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/checked.hpp>

#include "base/expects.hpp"      // TENDRIL_EXPECTS
#include "base/memory_room.hpp"  // expect_memory
#include "base/parallel.hpp"     // parallel_ranges
#include "cpu/arguments.hpp"
#include "cpu/picks/copy_row.hpp"
#include "cpu/trees/file_order.hpp"
#include "cpu/trees/hop_expander.hpp"
#include "plan/planner.hpp"
#include "samplers/trees/khop_checks.hpp"

namespace tendril {
namespace {

using cpu::hop_expander;
using cpu::hop_slots;

void check(graph const& graph, khop_params const& params)
{
  cpu::check_in_host_memory(graph);
  samplers::check_khop(graph, params);
}

/// Checks that the slots of the hops from `hop` on can be had, up to the next one that takes all neighbours, with what
/// threads work with.
void expect_memory_of_hops(khop_params const& params, std::size_t hop, std::int64_t parents, std::int64_t bytes_a_slot,
                           std::int64_t num_roots, cpu_exec const& exec)
{
  // Of a thread: a vertex's picks, and the random bits that are drawn ahead of them.
  std::int64_t const bytes_a_pick = params.weighted && !params.replace ? 4 : 12;
  auto const& fanouts = params.fanouts;
  std::int64_t slots = parents, all = 0, widest = 0;
  std::size_t last = hop;
  for (; last < fanouts.size() && fanouts[last] != -1; ++last) {
    slots = checked_product("slots of a hop", slots, fanouts[last]);
    all = checked_sum("slots of all hops", all, slots);
    widest = std::max<std::int64_t>(widest, fanouts[last]);
  }
  std::int64_t const threads = std::min<std::int64_t>(base::num_threads(exec), num_roots);
  std::int64_t const of_threads = slots == 0 ? 0 : checked_product("picks of a tile", threads, widest, bytes_a_pick);
  base::expect_memory(
      checked_sum("bytes of all hops", checked_product("bytes of all hops", all, bytes_a_slot), of_threads),
      fmt::format("fanouts: {} slots in hops {} to {} (seeds in one call: {})", all, hop + 1, last, num_roots));
}

/// A hop that samples `fanout` of each vertex's neighbours.
tree_hop sample_hop(graph_view const& graph, cpu::file_order* in_file, hop_slots const& parents, std::int64_t num_roots,
                    std::int64_t first_root, std::uint32_t fanout, cpu::pick_rule const& rule, rng_key key,
                    bool with_edges, cpu_exec const& exec)
{
  tree_hop out;
  out.fanout = fanout;
  std::int64_t const slots = checked_product("slots of a hop", parents.size, fanout);
  out.vertices = buffer<vertex_id>(slots, *exec.memory);
  if (with_edges) { out.edges = buffer<edge_id>(slots, *exec.memory); }
  edge_id* const edges = with_edges ? out.edges.data() : nullptr;
  if (in_file != nullptr) {
    in_file->visit(
        {parents.vertices, static_cast<std::size_t>(parents.size)}, exec,
        [&](graph_view const& there, std::span<std::int64_t const> these) {
          there.visit([&](auto const& g) {
            hop_expander(g, rule, key, fanout).expand(parents, these, first_root, out.vertices.data(), edges);
          });
        });
    return out;
  }
  std::int64_t const slots_a_root = std::max<std::int64_t>(1, parents.size / std::max<std::int64_t>(1, num_roots));
  std::int64_t const grain = std::clamp<std::int64_t>(65536 / (slots_a_root * fanout), 1, 4096);
  graph.visit([&](auto const& g) {
    base::parallel_ranges(exec, num_roots, grain, [&](std::int64_t begin, std::int64_t end) {
      hop_expander expander(g, rule, key, fanout);
      expander.expand(parents, begin, end, first_root, out.vertices.data(), edges);
    });
  });
  return out;
}

/// A hop that takes all neighbours.
tree_hop all_neighbors(graph_view const& graph, hop_slots const& parents, std::size_t hop, bool with_edges,
                       cpu_exec const& exec)
{
  tree_hop out;
  out.fanout = -1;
  out.offsets = buffer<std::int64_t>(parents.size + 1, *exec.memory);
  std::int64_t total = 0;
  for (std::int64_t s = 0; s < parents.size; ++s) {
    out.offsets[s] = total;
    total += parents.vertices[s] == no_vertex ? 0 : graph.degree(parents.vertices[s]);
  }
  out.offsets[parents.size] = total;
  base::expect_memory(checked_product("slots of a hop", total, with_edges ? 12 : 4),
                      fmt::format("hop {}: {} slots in one call", hop + 1, total));
  out.vertices = buffer<vertex_id>(total, *exec.memory);
  if (with_edges) { out.edges = buffer<edge_id>(total, *exec.memory); }
  graph.visit([&](auto const& g) {
    base::parallel_ranges(exec, parents.size, 256, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = begin; s < end; ++s) {
        if (out.offsets[s + 1] == out.offsets[s]) { continue; }
        cpu::copy_row(g.row(parents.vertices[s]), out.vertices.data() + out.offsets[s],
                      with_edges ? out.edges.data() + out.offsets[s] : nullptr);
      }
    });
  });
  return out;
}

/// Where each root's slots begin in a hop, given the hop before.
hop_slots slots_of(tree_hop const& hop, hop_slots const& parents, std::int64_t num_roots)
{
  hop_slots out{hop.vertices.data(), hop.vertices.size(), parents.a_root * std::max<std::int64_t>(hop.fanout, 1)};
  if (hop.fanout > 0 && parents.root_begin.empty()) { return out; }
  out.root_begin.resize(static_cast<std::size_t>(num_roots) + 1);
  for (std::int64_t r = 0; r <= num_roots; ++r) {
    std::int64_t const at = parents.begin_of(r);
    out.root_begin[static_cast<std::size_t>(r)] = hop.fanout > 0 ? at * hop.fanout : hop.offsets[at];
  }
  for (std::int64_t r = 0; r < num_roots; ++r) {  // a slot's place in its tree is a word of its counter
    TENDRIL_EXPECTS(out.begin_of(r + 1) - out.begin_of(r) <= 0xffffffffLL,
                    "fanouts: the tree of seed {} has more than 2^32 slots in one hop", r);
  }
  return out;
}

/// @param in_file  Null: root after root.
khop_trees make_trees(graph const& graph, cpu::file_order* in_file, std::span<vertex_id const> seeds,
                      khop_params const& params, cpu_exec const& exec, std::int64_t first_root, bool with_edges)
{
  check(graph, params);
  auto const num_roots = static_cast<std::int64_t>(seeds.size());
  samplers::check_first_root(first_root);
  cpu::check_vertices("seed", seeds, graph.view());
  khop_params const planned = plan::without_idle_weights(graph, params);
  auto const plan = plan::make_khop_plan(graph, planned, num_roots, exec);
  auto const tables = plan::make_pick_tables(graph, plan, exec);
  cpu::pick_rule const rule{planned.replace, planned.weighted, plan.rule, &tables};

  khop_trees out;
  out.num_roots = num_roots;
  hop_slots parents{seeds.data(), num_roots};
  for (std::size_t h = 0; h < params.fanouts.size(); ++h) {
    if (exec.on_progress) {
      exec.on_progress({"sampling", static_cast<std::int64_t>(h), static_cast<std::int64_t>(params.fanouts.size())});
    }
    std::int64_t const fanout = params.fanouts[h];
    if (fanout == -1) {
      out.hops.push_back(all_neighbors(graph.view(), parents, h, with_edges, exec));
    } else {
      if (h == 0 || params.fanouts[h - 1] == -1) {
        expect_memory_of_hops(planned, h, parents.size, with_edges ? 12 : 4, num_roots, exec);
      }
      rng_key const key = core::khop_key(params.seed, h + 1);
      out.hops.push_back(sample_hop(graph.view(), in_file, parents, num_roots, first_root,
                                    static_cast<std::uint32_t>(fanout), rule, key, with_edges, exec));
    }
    parents = slots_of(out.hops.back(), parents, num_roots);
  }
  return out;
}

}  // namespace

khop_trees khop_sample(graph const& graph, std::span<vertex_id const> seeds, khop_params const& params,
                       cpu_exec const& exec, std::int64_t first_root, bool with_edges)
{
  return make_trees(graph, nullptr, seeds, params, exec, first_root, with_edges);
}

class khop_file_sampler::impl {
 public:
  impl(graph input, khop_params params, std::int64_t graph_bytes)
      : input(std::move(input)), params(std::move(params)), order(this->input, graph_bytes)
  {
  }

  graph input;
  khop_params params;
  cpu::file_order order;
};

khop_file_sampler::khop_file_sampler(graph input, khop_params params, std::int64_t graph_bytes)
{
  check(input, params);
  TENDRIL_EXPECTS(graph_bytes >= 2, "graph_bytes: {}, expected 2 or more", graph_bytes);
  impl_ = std::make_unique<impl>(std::move(input), std::move(params), graph_bytes);
}
khop_file_sampler::khop_file_sampler(khop_file_sampler&&) noexcept = default;
khop_file_sampler& khop_file_sampler::operator=(khop_file_sampler&&) noexcept = default;
khop_file_sampler::~khop_file_sampler() = default;

khop_trees khop_file_sampler::sample(std::span<vertex_id const> seeds, cpu_exec const& exec, std::int64_t first_root,
                                     bool with_edges)
{
  return make_trees(impl_->input, &impl_->order, seeds, impl_->params, exec, first_root, with_edges);
}

std::int64_t khop_file_sampler::read_bytes() const { return impl_->order.read_bytes(); }

sampling_plan plan_khop(graph const& graph, khop_params const& params, std::int64_t num_roots, cpu_exec const& exec)
{
  check(graph, params);
  return plan::make_khop_plan(graph, plan::without_idle_weights(graph, params), num_roots, exec);
}

}  // namespace tendril
