// k-hop neighbourhoods as trees. Hops are done one after the other (grow.cpp), and within a hop the vertices of many roots in
// parallel (hop_expander.hpp): root after root, or in the order of the file that the graph lies in.

#include <tendril/sample.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include <tendril/checked.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "cpu/arguments.hpp"
#include "cpu/picks/copy_row.hpp"
#include "cpu/trees/file_order.hpp"
#include "cpu/trees/grow.hpp"
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

/// The neighbours in a graph that lies in host memory.
class graph_source final : public cpu::tree_source {
 public:
  /// @param in_file  Null: root after root.
  graph_source(graph_view const& graph, cpu::file_order* in_file, cpu::pick_rule const& rule)
      : graph_(graph), in_file_(in_file), rule_(rule)
  {
  }

  [[nodiscard]] tree_hop sample(hop_slots const& parents, cpu::tree_job const& job, std::size_t hop,
                                std::uint32_t fanout) override
  {
    tree_hop out = job.room_for(fanout, checked_product("slots of a hop", parents.size, fanout));
    edge_id* const edges = job.with_edges ? out.edges.data() : nullptr;
    rng_key const key = core::khop_key(job.params.seed, hop + 1);
    if (in_file_ != nullptr) {
      in_file_->visit(
          {parents.vertices, static_cast<std::size_t>(parents.size)}, job.exec,
          [&](graph_view const& there, std::span<std::int64_t const> these) {
            there.visit([&](auto const& g) {
              hop_expander(g, rule_, key, fanout).expand(parents, these, job.first_root, out.vertices.data(), edges);
            });
          });
      return out;
    }
    std::int64_t const slots_a_root =
        std::max<std::int64_t>(1, parents.size / std::max<std::int64_t>(1, job.num_roots));
    std::int64_t const grain = std::clamp<std::int64_t>(65536 / (slots_a_root * fanout), 1, 4096);
    graph_.visit([&](auto const& g) {
      base::parallel_ranges(job.exec, job.num_roots, grain, [&](std::int64_t begin, std::int64_t end) {
        hop_expander expander(g, rule_, key, fanout);
        expander.expand(parents, begin, end, job.first_root, out.vertices.data(), edges);
      });
    });
    return out;
  }

  [[nodiscard]] tree_hop take_all(hop_slots const& parents, cpu::tree_job const& job, std::size_t hop) override
  {
    buffer<std::int64_t> offsets(parents.size + 1, *job.exec.memory);
    std::int64_t total = 0;
    for (std::int64_t s = 0; s < parents.size; ++s) {
      offsets[s] = total;
      total += parents.vertices[s] == no_vertex ? 0 : graph_.degree(parents.vertices[s]);
    }
    offsets[parents.size] = total;
    cpu::expect_memory_of_all(job, hop, total);
    tree_hop out = job.room_for(-1, total);
    out.offsets = std::move(offsets);
    graph_.visit([&](auto const& g) {
      base::parallel_ranges(job.exec, parents.size, 256, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t s = begin; s < end; ++s) {
          if (out.offsets[s + 1] == out.offsets[s]) { continue; }
          cpu::copy_row(g.row(parents.vertices[s]), out.vertices.data() + out.offsets[s],
                        job.with_edges ? out.edges.data() + out.offsets[s] : nullptr);
        }
      });
    });
    return out;
  }

 private:
  graph_view const& graph_;
  cpu::file_order* in_file_;
  cpu::pick_rule const& rule_;
};

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

  graph_view const view = graph.view();
  graph_source source(view, in_file, rule);
  return cpu::grow_trees(seeds, {planned, num_roots, first_root, with_edges, exec}, source);
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
