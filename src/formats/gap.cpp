// Serialized graphs of the GAP Benchmark Suite (Beamer, Asanović, Patterson, arXiv:1508.03619): .sg, and .wsg with
// integer weights. One byte (directed), then int64 numbers of stored edges and of vertices, then V + 1 int64 offsets
// and the neighbours (int32, or pairs of int32 with the weight); after these the same for the incoming edges if the
// graph is directed. An undirected graph stores each edge in both directions, and counts both.

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/file.hpp>  // atomic_file

#include "base/expects.hpp"
#include "base/parallel.hpp"  // parallel_ranges
#include "formats/elements.hpp"
#include "formats/readers.hpp"
#include "formats/stored_csr.hpp"

namespace tendril::formats {
namespace {

constexpr std::int64_t header_bytes = 1 + 8 + 8;
constexpr std::int64_t most_vertices = std::int64_t{1} << 31;  // ids are int32

struct layout {
  bool directed = false, weighted = false;
  std::int64_t num_edges = 0, num_vertices = 0;

  [[nodiscard]] std::int64_t edge_bytes() const { return weighted ? 8 : 4; }
  [[nodiscard]] std::int64_t neighbors_at() const { return header_bytes + 8 * (num_vertices + 1); }
  [[nodiscard]] std::int64_t file_bytes() const
  {
    return header_bytes + (directed ? 2 : 1) * (8 * (num_vertices + 1) + edge_bytes() * num_edges);
  }
};

/// Whether there are weights follows from the file's size; the name decides only where there are no edges.
layout parse_layout(std::string const& path, std::span<std::byte const> bytes)
{
  auto const size = static_cast<std::int64_t>(bytes.size());
  if (size < header_bytes) {
    throw format_error(fmt::format("{}: {} bytes, expected a header of {}", path, size, header_bytes));
  }
  auto const directed = load<std::uint8_t>(bytes, 0);
  if (directed > 1) { throw format_error(fmt::format("{}: directed is {}, expected 0 or 1", path, directed)); }
  layout found{directed == 1, path.ends_with(".wsg"), load<std::int64_t>(bytes, 1), load<std::int64_t>(bytes, 9)};
  if (found.num_edges < 0 || found.num_edges > size / 4) {
    throw format_error(
        fmt::format("{}: {} edges, expected at most {} in {} bytes", path, found.num_edges, size / 4, size));
  }
  std::int64_t const most = std::min(size / 8, most_vertices);
  if (found.num_vertices < 0 || found.num_vertices > most) {
    throw format_error(
        fmt::format("{}: {} vertices, expected at most {} in {} bytes", path, found.num_vertices, most, size));
  }
  if (found.file_bytes() != size) { found.weighted = !found.weighted; }
  if (found.file_bytes() != size) {
    layout const plain{found.directed, false, found.num_edges, found.num_vertices};
    layout const weighted{found.directed, true, found.num_edges, found.num_vertices};
    throw format_error(fmt::format("{}: {} bytes, expected {} or, with weights, {} for {} vertices and {} {} edges",
                                   path, size, plain.file_bytes(), weighted.file_bytes(), found.num_vertices,
                                   found.num_edges, found.directed ? "directed" : "undirected"));
  }
  return found;
}

class gap_writer {
 public:
  gap_writer(std::string const& path, bool weighted, cpu_exec const& exec)
      : file_(path), weighted_(weighted), exec_(exec)
  {
  }

  void write_header(bool directed, std::int64_t num_edges, std::int64_t num_vertices)
  {
    auto const flag = static_cast<std::uint8_t>(directed);
    file_.expect_size(layout{directed, weighted_, num_edges, num_vertices}.file_bytes());
    file_.write(&flag, 1);
    file_.write(&num_edges, 8);
    file_.write(&num_vertices, 8);
  }

  void write_lists(graph const& lists)
  {
    graph_arrays const& arrays = lists.arrays();
    static constexpr edge_id no_edges = 0;  // the indptr of a graph without vertices
    file_.write(arrays.indptr.empty() ? &no_edges : arrays.indptr.data(),
                sizeof(edge_id) * (static_cast<std::size_t>(lists.num_vertices()) + 1));
    constexpr std::int64_t piece = 1 << 20;
    std::vector<std::int32_t> records;
    for (edge_id begin = 0; begin < lists.num_edges(); begin += piece) {
      if (exec_.on_progress) { exec_.on_progress({"writing", begin, lists.num_edges()}); }
      edge_id const end = std::min(begin + piece, lists.num_edges());
      records.clear();
      for (edge_id e = begin; e < end; ++e) {
        records.push_back(static_cast<std::int32_t>(arrays.indices[e]));
        if (weighted_) { records.push_back(static_cast<std::int32_t>(arrays.weights[e])); }
      }
      file_.write(records.data(), records.size() * sizeof(std::int32_t));
    }
  }

  void commit() { file_.commit(); }

 private:
  atomic_file file_;
  bool weighted_;
  cpu_exec const& exec_;
};

}  // namespace

graph read_gap(std::string const& path, std::span<std::byte const> bytes,
               std::shared_ptr<void const> /*owner*/,  // NOLINT(performance-unnecessary-value-param): as all readers
               read_options const& /*options*/, cpu_exec const& exec)
{
  layout const place = parse_layout(path, bytes);
  // All is copied, since after a header of 17 bytes nothing is aligned.
  buffer<edge_id> indptr(place.num_vertices + 1, *exec.memory);
  std::memcpy(indptr.data(), bytes.data() + header_bytes, 8 * static_cast<std::size_t>(place.num_vertices + 1));
  buffer<vertex_id> indices(place.num_edges, *exec.memory);
  buffer<float> weights(place.weighted ? place.num_edges : 0, *exec.memory);
  base::parallel_ranges(exec, place.num_edges, elements_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t e = begin; e < end; ++e) {
      auto const at = static_cast<std::size_t>(place.neighbors_at() + e * place.edge_bytes());
      auto const neighbor = load<std::int32_t>(bytes, at);
      if (neighbor < 0) {
        throw format_error(
            fmt::format("{}: edge {}: neighbour {}, expected an id in [0, {})", path, e, neighbor, place.num_vertices));
      }
      indices[e] = static_cast<vertex_id>(neighbor);
      if (place.weighted) { weights[e] = static_cast<float>(load<std::int32_t>(bytes, at + 4)); }
    }
  });
  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  if (place.weighted) { arrays.weights = std::move(weights); }
  arrays.symmetric = !place.directed;
  return from_stored_csr(path, std::move(arrays), exec);
}

void write_gap(graph const& input, std::string const& path, cpu_exec const& exec)
{
  graph_arrays const& arrays = input.arrays();
  TENDRIL_EXPECTS(!input.has_edge_labels(), "{}: the graph has edge labels, which a GAP file cannot hold", path);
  TENDRIL_EXPECTS(!input.has_node_types(), "{}: the graph has node types, which a GAP file cannot hold", path);
  TENDRIL_EXPECTS(input.num_vertices() <= most_vertices, "{}: {} vertices, expected at most {} for a GAP file", path,
                  input.num_vertices(), most_vertices);
  bool const weighted = path.ends_with(".wsg");
  TENDRIL_EXPECTS(weighted || !input.has_weights(),
                  "{}: the graph has weights, which a .sg file cannot hold: name it .wsg", path);
  TENDRIL_EXPECTS(!weighted || input.has_weights() || input.num_edges() == 0,
                  "{}: the graph has no weights, which a .wsg file must have: name it .sg", path);
  constexpr float past_int32 = 2147483648.0F;
  for (edge_id e = 0; e < arrays.weights.size(); ++e) {
    float const weight = arrays.weights[e];
    TENDRIL_EXPECTS(weight == std::floor(weight) && std::abs(weight) < past_int32,
                    "{}: edge {}: weight {}, expected an integer below 2^31 for a GAP file", path, e, weight);
  }

  gap_writer writer(path, weighted, exec);
  writer.write_header(!arrays.symmetric, input.num_edges(), input.num_vertices());
  writer.write_lists(input);
  if (!arrays.symmetric) {
    build_options transpose;
    transpose.reverse = true;
    writer.write_lists(build_graph(input, transpose, exec));
  }
  writer.commit();
}

}  // namespace tendril::formats
