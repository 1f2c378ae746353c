#include <tendril/graph.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "graph/check.hpp"
#include "graph/content.hpp"
#include "graph/derived_cache.hpp"
#include "graph/places.hpp"

namespace tendril {

csr_arrays validation::csr_of(graph_arrays const& arrays) noexcept
{
  std::int64_t const num_vertices = arrays.indptr.empty() ? 0 : arrays.indptr.size() - 1;
  return {num_vertices,          arrays.indices.size(),     arrays.indptr.data(),    arrays.indices.data(),
          arrays.weights.data(), arrays.edge_labels.view(), arrays.node_types.view()};
}

packed_arrays validation::packed_of(graph_arrays const& arrays) noexcept
{
  auto const& packed = arrays.packed;
  return {packed.records.size(), packed.num_edges,      packed.records.data(),     packed.words.data(),
          arrays.indptr.data(),  arrays.weights.data(), arrays.edge_labels.view(), arrays.node_types.view()};
}

graph_view validation::view_of(graph_arrays const& arrays) noexcept
{
  if (arrays.packed.words.empty()) { return csr_view(csr_of(arrays)); }
  return packed_view(packed_of(arrays));
}

graph::graph()
    : derived_(std::make_shared<derived_cache>()), content_(std::make_shared<content_state>(graph_content::valid))
{
}

graph::graph(graph_arrays arrays, graph_content known)
    : arrays_(std::move(arrays)),
      derived_(std::make_shared<derived_cache>()),
      content_(std::make_shared<content_state>(known))
{
  auto const& a = arrays_;
  TENDRIL_EXPECTS(a.indptr.size() >= 1, "graph: indptr is empty, expected num_vertices + 1 offsets");
  std::int64_t const vertices = a.indptr.size() - 1;
  std::int64_t const edges = num_edges();
  TENDRIL_EXPECTS(vertices <= max_num_vertices, "graph: {} vertices, expected at most {}", vertices, max_num_vertices);
  if (a.device < 0) {
    TENDRIL_EXPECTS(a.indptr[0] == 0, "graph: indptr starts with {}, expected 0", a.indptr[0]);
    TENDRIL_EXPECTS(a.indptr[vertices] == edges, "graph: indptr ends with {}, expected the number of {}, {}",
                    a.indptr[vertices], form() == graph_form::csr ? "indices" : "edges", edges);
  }
  if (form() == graph_form::packed) {
    TENDRIL_EXPECTS(a.indices.empty(), "graph: it has both indices and packed neighbours, expected one of them");
    TENDRIL_EXPECTS(a.packed.records.size() == vertices,
                    "graph: {} records of packed neighbours, expected one a vertex: {}", a.packed.records.size(),
                    vertices);
    TENDRIL_EXPECTS(edges >= 0, "graph: {} packed neighbours, expected a number >= 0", edges);
  }
  auto const expect_size = [](char const* name, std::int64_t size, std::int64_t expected, char const* unit) {
    TENDRIL_EXPECTS(size == 0 || size == expected, "graph: {} has {} elements, expected one {}: {}", name, size, unit,
                    expected);
  };
  expect_size("weights", a.weights.size(), edges, "an edge");
  expect_size("edge_labels", a.edge_labels.size(), edges, "an edge");
  expect_size("edge_ids", a.edge_ids.size(), edges, "an edge");
  expect_size("node_types", a.node_types.size(), vertices, "a vertex");
  expect_size("original_ids", a.original_ids.size(), vertices, "a vertex");
}

std::int64_t graph::num_vertices() const noexcept { return arrays_.indptr.empty() ? 0 : arrays_.indptr.size() - 1; }

graph_content graph::content() const noexcept { return content_->known(); }

void graph::check(cpu_exec const& exec) const
{
  if (arrays_.device >= 0 || content() != graph_content::unchecked) { return; }
  // Without a lock: threads that come first at once all check, and none waits for what a callback of another needs.
  validation::expect_sound(arrays_, exec);
  content_->raise(graph_content::sound);
}

void graph::validate(cpu_exec const& exec) const
{
  validation::expect_in_host_memory(*this);
  validation::expect_valid(arrays_, exec);
  content_->raise(graph_content::valid);
}

graph_view graph::view() const
{
  if (content() == graph_content::unchecked) { check(); }
  return validation::view_of(arrays_);
}

csr_arrays graph::csr() const
{
  if (content() == graph_content::unchecked) { check(); }
  return raw_csr();
}

csr_arrays graph::raw_csr() const
{
  TENDRIL_EXPECTS(form() == graph_form::csr, "graph: its neighbours are packed, expected a graph in CSR form (to_csr)");
  return validation::csr_of(arrays_);
}

std::int64_t graph::num_bytes() const noexcept
{
  auto const& a = arrays_;
  return 8 * a.indptr.size() + 4 * a.indices.size() + 16 * a.packed.records.size() + 4 * a.packed.words.size() +
         4 * a.weights.size() + a.edge_labels.size() * a.edge_labels.bytes_per_label() +
         a.node_types.size() * a.node_types.bytes_per_label() + 8 * a.edge_ids.size() + 4 * a.original_ids.size();
}

double graph::bits_per_edge() const noexcept
{
  if (num_edges() == 0) { return 0; }
  auto const& a = arrays_;
  std::int64_t const bytes =
      8 * a.indptr.size() + 4 * a.indices.size() + 16 * a.packed.records.size() + 4 * a.packed.words.size();
  return 8.0 * static_cast<double>(bytes) / static_cast<double>(num_edges());
}

void graph::drop_derived() const noexcept { derived_->clear(); }

}  // namespace tendril
