// A web-like graph by the rule of src/core/web_graph.hpp: each range of vertices makes its runs of neighbours once, which
// are written as ids when all degrees are known. A run takes 8 bytes and holds about four ids. The rows of a compressed
// graph are made twice, a few hundred at a time (src/place/list_encoder.hpp).

#include <utility>
#include <vector>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>

#include "base/parallel.hpp"    // parallel_ranges
#include "core/web_shape.hpp"   // web_graph_of
#include "generate/finish.hpp"  // decorate, expect_memory
#include "generate/params.hpp"  // expect_params, metadata_of
#include "place/list_encoder.hpp"

namespace tendril {
namespace {

/// The runs of each range of vertices that a thread takes at once, and indptr.
struct drawn_rows {
  std::vector<std::vector<core::web_run>> runs;
  buffer<edge_id> indptr;
};

drawn_rows draw_rows(core::web_graph const& rule, cpu_exec const& exec)
{
  std::int64_t const num_vertices = rule.num_vertices();
  drawn_rows out{std::vector<std::vector<core::web_run>>(static_cast<std::size_t>(
                     (num_vertices + generate::vertices_a_range - 1) / generate::vertices_a_range)),
                 buffer<edge_id>(num_vertices + 1, *exec.memory)};
  auto* const degrees = out.indptr.data() + 1;
  base::parallel_ranges(exec, num_vertices, generate::vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    auto& runs = out.runs[static_cast<std::size_t>(begin / generate::vertices_a_range)];
    core::for_each_web_row(rule, static_cast<vertex_id>(begin), static_cast<vertex_id>(end),
                           [&](vertex_id v, core::web_row row) {
                             edge_id degree = 0;
                             for (core::web_run run{}; row.next(run);) {
                               runs.push_back(run);
                               degree += run.size();
                             }
                             degrees[v] = degree;
                           });
  });
  out.indptr[0] = 0;
  for (std::int64_t v = 0; v < num_vertices; ++v) { out.indptr[v + 1] += out.indptr[v]; }
  return out;
}

graph_arrays write_rows(drawn_rows rows, cpu_exec const& exec)
{
  std::int64_t const num_vertices = rows.indptr.size() - 1;
  buffer<vertex_id> indices(rows.indptr[num_vertices], *exec.memory);
  base::parallel_ranges(exec, num_vertices, generate::vertices_a_range, [&](std::int64_t begin, std::int64_t) {
    auto* out = indices.data() + rows.indptr[begin];
    for (auto const run : std::exchange(rows.runs[static_cast<std::size_t>(begin / generate::vertices_a_range)], {})) {
      for (vertex_id u = run.begin; u < run.end; ++u) { *out++ = u; }
    }
  });
  graph_arrays arrays;
  arrays.indptr = std::move(rows.indptr);
  arrays.indices = std::move(indices);
  return arrays;
}

/// The rows of a range, for a compressed graph: its neighbours never lie in memory all at once.
struct web_rows {
  core::web_graph rule;

  [[nodiscard]] place::listed_rows load(std::int64_t begin, std::int64_t end, place::row_scratch& scratch) const
  {
    scratch.clear();
    core::for_each_web_row(rule, static_cast<vertex_id>(begin), static_cast<vertex_id>(end),
                           [&](vertex_id, core::web_row row) {
                             for (core::web_run run{}; row.next(run);) {
                               for (vertex_id u = run.begin; u < run.end; ++u) { scratch.ids.push_back(u); }
                             }
                             scratch.end_row();
                           });
    return scratch.rows(begin);
  }
};

/// The graph without a CSR of it.
graph_arrays compressed_rows(core::web_graph const& rule, graph_form form, cpu_exec const& exec)
{
  graph_arrays arrays;
  arrays.compressed = place::encode_lists(web_rows{rule}, rule.num_vertices(), form, "generating", exec);
  return arrays;
}

}  // namespace

graph generate_web(web_params const& p, build_options const& build, edge_attributes const& extra, cpu_exec const& exec)
{
  generate::expect_params(p);
  generate::expect_edge_attributes("generate_web", extra);
  generate::expect_num_vertices("generate_web", build, p.num_vertices);
  auto const rule = core::web_graph_of(p.seed, static_cast<std::uint32_t>(p.num_vertices), p.edge_factor);
  bool const builds = generate::asks_for_building(build, p.num_vertices);
  if (p.form != graph_form::csr && !builds && !generate::asks_for_attributes(extra)) {
    graph_arrays arrays = compressed_rows(rule, p.form, exec);
    arrays.metadata = generate::metadata_of(p);
    return graph(std::move(arrays), graph_content::valid);
  }
  // While it is written: ids, and runs of 8 bytes for about four ids. While it is built: as other generators.
  double const edges = p.edge_factor * static_cast<double>(p.num_vertices);
  double const build_bytes = (build.keep_edge_ids ? 28.0 : 12.0) * (build.symmetrize ? 2 : 1);
  generate::expect_memory("generate_web", (builds ? 4 + build_bytes : 7) * edges +
                                              (builds ? 16.0 : 8.0) * static_cast<double>(p.num_vertices));

  graph_arrays arrays = write_rows(draw_rows(rule, exec), exec);
  if (builds) { arrays = build_graph(graph(std::move(arrays), graph_content::valid), build, exec).arrays(); }
  arrays.metadata = generate::metadata_of(p);
  return compress(generate::decorate(std::move(arrays), extra, p.seed, exec), p.form, exec);
}

}  // namespace tendril
