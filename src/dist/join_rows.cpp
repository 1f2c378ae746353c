#include "dist/join_rows.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/parallel.hpp"  // parallel_ranges
#include "graph/check.hpp"    // compressed_of
#include "place/list_encoder.hpp"
#include "place/narrow.hpp"

namespace tendril::dist {
namespace {

/// An array of edges of all parts.
template <class T>
class joined_array {
 public:
  joined_array(bool is_there, edge_id num_edges, cpu_exec const& exec)
      : exec_(exec), is_there_(is_there), all_(is_there ? num_edges : 0, *exec.memory)
  {
  }

  /// Of the next part.
  void add(std::span<T const> from)
  {
    if (!is_there_) { return; }
    base::parallel_ranges(exec_, std::ssize(from), std::int64_t{1} << 20U, [&](std::int64_t begin, std::int64_t end) {
      std::copy(from.data() + begin, from.data() + end, all_.data() + at_ + begin);
    });
    at_ += std::ssize(from);
  }
  void add(shared_array<T> const& from) { add(from.span()); }
  void add(label_array const& from)
  {
    if (is_there_) { add(std::span(static_cast<T const*>(from.view().data), static_cast<std::size_t>(from.size()))); }
  }

  [[nodiscard]] explicit operator bool() const { return is_there_; }
  [[nodiscard]] shared_array<T> take() { return std::move(all_); }

 private:
  cpu_exec const& exec_;
  bool is_there_;
  buffer<T> all_;
  std::int64_t at_ = 0;
};

/// Where the edges of all vertices begin.
buffer<edge_id> joined_offsets(std::vector<graph_arrays> const& parts, partition_info const& info, cpu_exec const& exec)
{
  buffer<edge_id> out(info.num_vertices + 1, *exec.memory);
  out[0] = 0;
  edge_id before = 0;
  std::int64_t first = 0;
  for (auto const& part : parts) {
    std::int64_t const size = part.indptr.size() - 1;
    base::parallel_ranges(exec, size, std::int64_t{1} << 20U, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin + 1; v <= end; ++v) { out[first + v] = before + part.indptr[v]; }
    });
    before += part.indices.size();
    first += size;
  }
  return out;
}

/// The rows of compressed parts, as the encoder reads them.
struct rows_of_parts {
  std::vector<compressed_view> parts;
  partition_info const& info;

  [[nodiscard]] place::listed_rows load(std::int64_t begin, std::int64_t end, place::row_scratch& scratch) const
  {
    scratch.clear();
    std::int64_t p = info.part_of(begin);
    for (std::int64_t v = begin; v < end; ++v) {
      while (v >= info.bounds[static_cast<std::size_t>(p) + 1]) { ++p; }
      for (vertex_id const x : parts[static_cast<std::size_t>(p)].row(v - info.bounds[static_cast<std::size_t>(p)])) {
        scratch.ids.push_back(x);
      }
      scratch.end_row();
    }
    return scratch.rows(begin);
  }
};

/// The lists of the whole graph: blocks of vertices are not cut where parts are.
compressed_lists joined_lists(std::vector<graph_arrays> const& parts, partition_info const& info, cpu_exec const& exec)
{
  rows_of_parts rows{{}, info};
  rows.parts.reserve(parts.size());
  for (auto const& part : parts) { rows.parts.emplace_back(validation::compressed_of(part)); }
  return place::encode_lists(rows, info.num_vertices, info.form, "compressing", exec);
}

}  // namespace

graph_arrays join_rows(std::vector<graph_arrays> parts, partition_info const& info, cpu_exec const& exec)
{
  graph_arrays out;
  bool const is_csr = info.form == graph_form::csr;
  if (is_csr) {
    out.indptr = joined_offsets(parts, info, exec);
  } else {
    out.compressed = joined_lists(parts, info, exec);
  }
  joined_array<vertex_id> indices(is_csr, info.num_edges, exec);
  joined_array<float> weights(info.has_weights, info.num_edges, exec);
  joined_array<std::uint8_t> narrow_labels(info.bytes_per_edge_label == 1, info.num_edges, exec);
  joined_array<std::uint16_t> wide_labels(info.bytes_per_edge_label == 2, info.num_edges, exec);
  joined_array<edge_id> edge_ids(info.has_edge_ids, info.num_edges, exec);
  for (graph_arrays& part : parts) {
    place::widen(part, exec);
    indices.add(part.indices);
    weights.add(part.weights);
    narrow_labels.add(part.edge_labels);
    wide_labels.add(part.edge_labels);
    edge_ids.add(part.edge_ids);
    part = {};
  }
  out.indices = indices.take();
  out.weights = weights.take();
  if (narrow_labels) { out.edge_labels = narrow_labels.take(); }
  if (wide_labels) { out.edge_labels = wide_labels.take(); }
  out.edge_ids = edge_ids.take();
  if (!is_csr) { place::narrow(out, exec); }
  return out;
}

}  // namespace tendril::dist
