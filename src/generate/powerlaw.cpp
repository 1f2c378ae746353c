// A heavy tail. Degrees: src/core/power_law.hpp. A target is the source of a uniformly drawn edge, that is a vertex in
// proportion to its out-degree (Chung and Lu, PNAS 2002). GPU twin: src/gpu/graph/generate.cu.

#include <algorithm>

#include <tendril/generate.hpp>

#include "base/parallel.hpp"    // parallel_ranges
#include "core/power_law.hpp"   // power_law
#include "generate/finish.hpp"  // drawn_edges, finish
#include "generate/params.hpp"  // expect_params, metadata_of

namespace tendril {
graph generate_powerlaw(powerlaw_params const& p, build_options const& build, edge_attributes const& extra,
                        cpu_exec const& exec)
{
  generate::expect_params(p);
  generate::expect_edge_attributes("generate_powerlaw", extra);
  generate::expect_memory("generate_powerlaw", 8.0 * static_cast<double>(p.num_vertices));

  core::power_law const law(p.exponent, p.min_degree, p.max_degree);
  auto const degree_key = core::make_key(p.seed, core::domain::generator_degrees);
  buffer<std::int64_t> ends(p.num_vertices, *exec.memory);
  base::parallel_ranges(exec, p.num_vertices, generate::vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      ends[v] = v == 0 ? p.max_degree : law.draw(degree_key, static_cast<std::uint64_t>(v));
    }
  });
  std::int64_t num_edges = 0;  // at most 2^32 degrees below 2^32 each: may pass 2^63, but memory ends long before
  double expected_edges = 0;
  for (auto const degree : ends) { expected_edges += static_cast<double>(degree); }
  generate::expect_memory("generate_powerlaw", 8 * expected_edges);
  for (auto& end : ends) { end = num_edges += end; }

  auto edges = generate::make_room("generate_powerlaw", p.num_vertices, num_edges, build, extra, exec);
  base::parallel_ranges(exec, p.num_vertices, generate::vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      std::fill(edges.sources.data() + (v == 0 ? 0 : ends[v - 1]), edges.sources.data() + ends[v],
                static_cast<vertex_id>(v));
    }
  });
  ends = {};
  auto const edge_key = core::make_key(p.seed, core::domain::generator_edges);
  base::parallel_ranges(exec, num_edges, generate::edges_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      auto const bits = core::draw_block(edge_key, static_cast<std::uint64_t>(k), 0, 0).low();
      edges.targets[k] =
          edges.sources[static_cast<std::int64_t>(core::bounded64(bits, static_cast<std::uint64_t>(num_edges)))];
    }
  });
  return generate::finish(std::move(edges), p.num_vertices, build, extra, p.seed, generate::metadata_of(p), exec);
}

}  // namespace tendril
