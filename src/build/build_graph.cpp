#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <tendril/compress.hpp>  // to_csr
#include <tendril/edge_list.hpp>
#include <tendril/graph.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "build/csr.hpp"      // csr_builder
#include "build/expects.hpp"  // expect_num_vertices, expect_lengths
#include "build/gather.hpp"   // gather, gather_labels
#include "graph/check.hpp"    // expect_ascending_offsets, find_asymmetry

namespace tendril {
namespace {

build::edge_columns_view columns_of(coo_view const& edges)
{
  return {edges.weights.empty() ? nullptr : edges.weights.data(), edges.labels};
}

std::int64_t bytes_of(coo_view const& edges)
{
  return std::ssize(edges.sources) * (8 + 4 * !edges.weights.empty() + edges.labels.bytes_per_label);
}

}  // namespace

graph build_graph(coo_view const& edges, build_options const& options, cpu_exec const& exec)
{
  build::expect_num_vertices(options);
  build::expect_lengths(edges);
  build::coo_edges const pairs{edges.sources, edges.targets};
  return graph(build::csr_builder(pairs, columns_of(edges), options, bytes_of(edges), exec).build(),
               graph_content::valid);
}

coo_view edge_list::view() const
{
  label_view labels;
  if (!narrow_labels.empty()) { labels = {narrow_labels.data(), 1}; }
  if (!wide_labels.empty()) { labels = {wide_labels.data(), 2}; }
  return {sources.span(), targets.span(), weights.span(), labels};
}

graph build_graph(edge_list&& edges, build_options const& options, cpu_exec const& exec)
{
  edge_list list = std::move(edges);
  build::expect_num_vertices(options);
  coo_view const view = list.view();
  build::expect_lengths(view);
  build::owned_edges owned(list);
  return graph(build::csr_builder(owned, columns_of(view), options, bytes_of(view), exec).build(),
               graph_content::valid);
}

graph build_graph(graph const& stored, build_options const& options, cpu_exec const& exec)
{
  build::expect_num_vertices(options);
  graph const input = stored.form() == graph_form::csr ? stored : to_csr(stored, exec);
  auto const& from = input.arrays();
  std::int64_t const num_vertices = input.num_vertices();
  TENDRIL_EXPECTS(options.num_vertices == -1 || options.num_vertices >= num_vertices,
                  "build_graph: num_vertices is {}, expected -1 or at least the graph's own number, {}",
                  options.num_vertices, num_vertices);
  TENDRIL_EXPECTS(options.num_vertices <= num_vertices || from.original_ids.empty(),
                  "build_graph: num_vertices is {}, expected -1 or {} for a graph that keeps original ids",
                  options.num_vertices, num_vertices);
  // Arrays that are mapped should be sound; a reader's own may have neighbours in any order, which are sorted here.
  if (!from.source.empty()) { input.check(exec); }
  validation::expect_ascending_offsets(input, exec);

  build_options chosen = options;
  if (chosen.num_vertices < 0) { chosen.num_vertices = num_vertices; }
  build::csr_edges const edges{from.indptr.span(), from.indices.span()};
  build::edge_columns_view const columns{from.weights.empty() ? nullptr : from.weights.data(), from.edge_labels.view()};
  graph_arrays arrays = build::csr_builder(edges, columns, chosen, input.num_bytes(), exec).build();

  std::int64_t const built = arrays.indptr.size() - 1;
  auto const kept = arrays.original_ids.span();
  arrays.node_types = build::gather_labels(from.node_types, kept, built, exec);
  if (!from.original_ids.empty()) {
    arrays.original_ids = kept.empty()
                              ? from.original_ids
                              : shared_array(build::gather(from.original_ids.data(), num_vertices, kept, built, exec));
  }
  arrays.edge_label_names = from.edge_label_names;
  arrays.node_type_names = from.node_type_names;
  arrays.metadata = from.metadata;
  arrays.symmetric = arrays.symmetric || from.symmetric;
  // What is built is sound. Original ids and symmetry are the input's, as good as they are there.
  auto const known = input.content() == graph_content::valid ? graph_content::valid : graph_content::sound;
  graph result(std::move(arrays), known);
  // The first of parallel edges is kept in each direction. Where the input orders them differently from one direction
  // to the other, their weights may differ.
  bool const in_doubt = from.symmetric && !options.symmetrize && options.drop_duplicates && input.has_weights();
  if (in_doubt && validation::find_asymmetry(result, exec)) {
    arrays = result.arrays();
    arrays.symmetric = false;
    return graph(std::move(arrays), known);
  }
  return result;
}

}  // namespace tendril
