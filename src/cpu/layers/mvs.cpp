// Minimal variance sampling. The draws: src/core/layers.hpp.

#include <tendril/mvs.hpp>

#include <algorithm>

#include "base/parallel.hpp"  // parallel_ranges
#include "core/layers.hpp"
#include "cpu/arguments.hpp"
#include "cpu/layers/layer_draws.hpp"
#include "cpu/picks/copy_row.hpp"
#include "samplers/layers/layer_tables.hpp"
#include "samplers/layers/mvs_checks.hpp"

namespace tendril {
namespace {

constexpr std::int64_t batches_a_range = 16;

}  // namespace

mvs_batches mvs_sample(graph const& graph, std::span<float const> importances, std::int64_t num_samples,
                       mvs_params const& params, cpu_exec const& exec, std::int64_t first_sample)
{
  samplers::check_mvs(graph, static_cast<std::int64_t>(importances.size()), num_samples, params, first_sample);
  cpu::check_in_host_memory(graph);
  for (std::size_t v = 0; v < importances.size(); ++v) {
    if (!samplers::is_importance(importances[v])) {
      samplers::refuse_importance(static_cast<std::int64_t>(v), importances[v]);
    }
  }
  auto out = samplers::allocate_mvs(num_samples, params.batch_size, *exec.memory);
  graph_view const view = graph.view();
  auto const size = static_cast<std::uint32_t>(view.num_vertices);
  samplers::vertex_table table;
  if (!importances.empty()) { table = samplers::make_vertex_table(view.num_vertices, importances.data(), exec); }
  rng_key const key = core::layer_key(params.seed, core::layer_method::mvs, 1);
  base::parallel_ranges(exec, num_samples, batches_a_range, [&](std::int64_t begin, std::int64_t end) {
    cpu::layer_draws draws;
    for (std::int64_t i = begin; i < end; ++i) {
      std::span<vertex_id> const batch(out.vertices.data() + i * params.batch_size,
                                       static_cast<std::size_t>(params.batch_size));
      auto const item = static_cast<std::uint64_t>(first_sample + i);
      draws.fill(batch, params.replace, size > 0, [&](std::uint32_t slot, std::uint32_t round) {
        return core::vertex_of(table.records.data(), size, core::layer_block(key, item, slot, round));
      });
      for (std::size_t s = 0; s < batch.size(); ++s) {
        std::int64_t const k = i * params.batch_size + static_cast<std::int64_t>(s);
        float const p = core::probability_of(table.probabilities.data(), size, batch[s]);
        out.probabilities[k] = p;
        out.weights[k] = core::draw_weight(params.batch_size, p);
      }
    }
  });
  std::int64_t const slots = out.vertices.size();
  out.edge_offsets[0] = 0;
  for (std::int64_t k = 0; k < slots; ++k) {
    out.edge_offsets[k + 1] = out.edge_offsets[k] + (out.vertices[k] == no_vertex ? 0 : view.degree(out.vertices[k]));
  }
  out.neighbors = buffer<vertex_id>(out.edge_offsets[slots], *exec.memory);
  if (params.with_edges) { out.edges = buffer<edge_id>(out.edge_offsets[slots], *exec.memory); }
  view.visit([&](auto const& g) {
    base::parallel_ranges(exec, slots, batches_a_range * 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        std::int64_t const to = out.edge_offsets[k];
        if (out.edge_offsets[k + 1] == to) { continue; }
        cpu::copy_row(g.row(out.vertices[k]), out.neighbors.data() + to,
                      out.edges.empty() ? nullptr : out.edges.data() + to);
      }
    });
  });
  return out;
}

}  // namespace tendril
