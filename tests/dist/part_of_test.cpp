// Parts in memory: together they are the graph.

#include <tendril/partition.hpp>

#include <gtest/gtest.h>

#include "dist/partition_support.hpp"
#include "support/graph_forms.hpp"

namespace tendril::test {
namespace {

/// Puts the rows of parts behind each other, serially.
graph_arrays joined(graph const& g, partition_params params)
{
  std::vector<edge_id> indptr{0}, ids;
  std::vector<vertex_id> indices;
  std::vector<float> weights;
  std::vector<int> labels;
  graph_arrays out;
  for (std::int64_t p = 0; p < params.num_parts; ++p) {
    params.form = graph_form::csr;
    graph_part const part = part_of(g, params, p);
    EXPECT_EQ(part.index, p);
    EXPECT_EQ(part.rows.indptr.size(), part.num_vertices() + 1);
    EXPECT_EQ(part.rows.indptr[0], 0);
    edge_id const before = indptr.back();
    for (std::int64_t i = 1; i < part.rows.indptr.size(); ++i) { indptr.push_back(before + part.rows.indptr[i]); }
    auto const append = [](auto& to, auto const& from) {
      for (auto const x : from) { to.push_back(x); }
    };
    append(indices, part.rows.indices);
    append(weights, part.rows.weights);
    append(labels, to_vector(part.rows.edge_labels));
    append(ids, part.rows.edge_ids);
    out.node_types = part.node_types;
    out.original_ids = part.original_ids;
  }
  out.indptr = to_array(indptr);
  out.indices = to_array(indices);
  out.weights = to_array(weights);
  out.edge_ids = to_array(ids);
  if (g.bytes_per_edge_label() == 1) {
    out.edge_labels = to_array(std::vector<std::uint8_t>(labels.begin(), labels.end()));
  } else if (g.bytes_per_edge_label() == 2) {
    out.edge_labels = to_array(std::vector<std::uint16_t>(labels.begin(), labels.end()));
  }
  return out;
}

TEST(parts, of_any_graph_are_its_rows)
{
  for (graph const& original : graphs_to_cut()) {
    for (graph const& g : in_all_forms(original)) {
      for (auto const method : {partition_method::range, partition_method::degree}) {
        for (std::int64_t const n : part_counts) {
          SCOPED_TRACE(fmt::format("{} {} {}", to_string(g.form()), to_string(method), n));
          expect_same_arrays(graph(joined(g, {n, method})), original);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tendril::test
