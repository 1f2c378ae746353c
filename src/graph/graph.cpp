#include <tendril/graph.hpp>

#include <tendril/several_gpus.hpp>  // spread_graph

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

compressed_arrays validation::compressed_of(graph_arrays const& arrays) noexcept
{
  auto const& lists = arrays.compressed;
  auto const& narrow = arrays.narrow;
  compressed_arrays out{lists.num_vertices,    lists.num_edges,           lists.directory(),
                        arrays.weights.data(), arrays.edge_labels.view(), arrays.node_types.view()};
  if (!narrow.weight_codes.empty()) { out.weights = {narrow.weight_codes.view(), narrow.weight_values.data()}; }
  if (!narrow.labels.empty()) {
    out.edge_labels = {narrow.labels.words.data(), 2, static_cast<int>(narrow.labels.width)};
  }
  return out;
}

edge_id_view validation::edge_ids_of(graph_arrays const& arrays) noexcept
{
  auto const& narrow = arrays.narrow;
  if (narrow.ids.empty()) { return {arrays.edge_ids.data()}; }
  return {nullptr, narrow.ids.view(), narrow.least_id, narrow.ids_ascend};
}

graph_view validation::view_of(graph_arrays const& arrays) noexcept
{
  if (arrays.compressed.words.empty()) { return csr_view(csr_of(arrays)); }
  return {compressed_view(compressed_of(arrays)), arrays.compressed.form};
}

namespace {

/// The shapes of a compressed graph's arrays.
void expect_lists(graph_arrays const& a)
{
  compressed_lists const& lists = a.compressed;
  TENDRIL_EXPECTS(a.indptr.empty() && a.indices.empty(),
                  "graph: it has both indptr or indices and compressed lists, expected one of them");
  TENDRIL_EXPECTS(lists.num_vertices >= 0, "graph: {} vertices, expected a number >= 0", lists.num_vertices);
  std::int64_t const blocks = lists.num_vertices / list_block::vertices + 1;
  TENDRIL_EXPECTS(lists.blocks.size() == blocks, "graph: {} blocks of a directory, expected {} for {} vertices",
                  lists.blocks.size(), blocks, lists.num_vertices);
  TENDRIL_EXPECTS(lists.num_edges >= 0, "graph: {} edges, expected a number >= 0", lists.num_edges);
  TENDRIL_EXPECTS(lists.words.size() >= list_codes::words_beyond,
                  "graph: {} words of compressed lists, expected at least the {} beyond", lists.words.size(),
                  list_codes::words_beyond);
}

/// One of narrow_edges: it has the right size, and stands alone.
void expect_packed(char const* name, packed_array const& array, bool has_plain, edge_id edges, std::uint32_t least,
                   std::uint32_t most)
{
  if (array.empty()) { return; }
  TENDRIL_EXPECTS(!has_plain, "graph: {} both as an array and in fewer bits, expected one of them", name);
  TENDRIL_EXPECTS(array.size == edges, "graph: {} has {} elements, expected one an edge: {}", name, array.size, edges);
  TENDRIL_EXPECTS(array.width >= least && array.width <= most, "graph: {} of {} bits, expected {} to {}", name,
                  array.width, least, most);
  // Division first: the product must not overflow.
  bool const fits = edges / 32 <= array.words.size() || array.width == 0;
  std::int64_t const words = fits ? packed_numbers::num_words(edges, array.width) : 0;
  TENDRIL_EXPECTS(fits && array.words.size() == words, "graph: {} words of {}, expected {} for {} edges of {} bits",
                  array.words.size(), name, fits ? std::to_string(words) : "more", edges, array.width);
}

/// The shapes of edge arrays in fewer bits.
void expect_narrow(graph_arrays const& a, bool is_csr, edge_id edges)
{
  narrow_edges const& narrow = a.narrow;
  bool const any = !narrow.weight_codes.empty() || !narrow.labels.empty() || !narrow.ids.empty();
  if (!any) { return; }
  TENDRIL_EXPECTS(!is_csr, "graph: edge arrays in fewer bits in CSR form, expected them in a compressed graph");
  constexpr std::uint32_t most_code_bits = 16, most_id_bits = 62;
  expect_packed("weights", narrow.weight_codes, !a.weights.empty(), edges, 0, most_code_bits);
  TENDRIL_EXPECTS(narrow.weight_codes.empty() || !narrow.weight_values.empty(),
                  "graph: codes of weights without values, expected at least one");
  TENDRIL_EXPECTS(narrow.labels.empty() || narrow.bytes_per_label == 1 || narrow.bytes_per_label == 2,
                  "graph: edge labels of {} bytes, expected 1 or 2", narrow.bytes_per_label);
  expect_packed("edge_labels", narrow.labels, !a.edge_labels.empty(), edges, 1,
                8 * static_cast<std::uint32_t>(narrow.bytes_per_label));
  expect_packed("edge_ids", narrow.ids, !a.edge_ids.empty(), edges, 0, most_id_bits);
  TENDRIL_EXPECTS(narrow.ids.empty() || (narrow.least_id >= 0 && narrow.least_id >> most_id_bits == 0),
                  "graph: least edge id {}, expected a number from 0 to 2^{}", narrow.least_id, most_id_bits);
}

}  // namespace

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
  if (form() == graph_form::csr) {
    TENDRIL_EXPECTS(a.indptr.size() >= 1, "graph: indptr is empty, expected num_vertices + 1 offsets");
  } else {
    expect_lists(a);
  }
  std::int64_t const vertices = num_vertices();
  std::int64_t const edges = num_edges();
  TENDRIL_EXPECTS(vertices <= max_num_vertices, "graph: {} vertices, expected at most {}", vertices, max_num_vertices);
  if (a.device < 0 && form() == graph_form::csr) {
    TENDRIL_EXPECTS(a.indptr[0] == 0, "graph: indptr starts with {}, expected 0", a.indptr[0]);
    TENDRIL_EXPECTS(a.indptr[vertices] == edges, "graph: indptr ends with {}, expected the number of indices, {}",
                    a.indptr[vertices], edges);
  }
  auto const expect_size = [](char const* name, std::int64_t size, std::int64_t expected, char const* unit) {
    TENDRIL_EXPECTS(size == 0 || size == expected, "graph: {} has {} elements, expected one {}: {}", name, size, unit,
                    expected);
  };
  expect_narrow(a, form() == graph_form::csr, edges);
  expect_size("weights", a.weights.size(), edges, "an edge");
  expect_size("edge_labels", a.edge_labels.size(), edges, "an edge");
  expect_size("edge_ids", a.edge_ids.size(), edges, "an edge");
  expect_size("node_types", a.node_types.size(), vertices, "a vertex");
  expect_size("original_ids", a.original_ids.size(), vertices, "a vertex");
}

std::int64_t graph::num_vertices() const noexcept
{
  if (form() != graph_form::csr) { return arrays_.compressed.num_vertices; }
  return arrays_.indptr.empty() ? 0 : arrays_.indptr.size() - 1;
}

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
  TENDRIL_EXPECTS(form() == graph_form::csr,
                  "graph: its neighbours are compressed, expected a graph in CSR form (to_csr)");
  return validation::csr_of(arrays_);
}

std::int64_t graph::num_bytes() const noexcept
{
  auto const& a = arrays_;
  return 8 * a.indptr.size() + 4 * a.indices.size() + a.compressed.num_bytes() + a.narrow.num_bytes() +
         4 * a.weights.size() + a.edge_labels.size() * a.edge_labels.bytes_per_label() +
         a.node_types.size() * a.node_types.bytes_per_label() + 8 * a.edge_ids.size() + 4 * a.original_ids.size();
}

double graph::bits_per_edge() const noexcept
{
  if (num_edges() == 0) { return 0; }
  auto const& a = arrays_;
  std::int64_t const bytes = 8 * a.indptr.size() + 4 * a.indices.size() + a.compressed.num_bytes();
  return 8.0 * static_cast<double>(bytes) / static_cast<double>(num_edges());
}

void graph::drop_derived() const noexcept
{
  derived_->clear();
  if (spread_graph const* const whole = spread()) {
    for (graph const& one : whole->each) { one.derived_->clear(); }
    whole->over_all.derived_->clear();
  }
}

}  // namespace tendril
