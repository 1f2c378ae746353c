// The stretches of a graph's arrays that belong to consecutive vertices, for walks on a mapped file that memory does not
// hold: region_memory.hpp reads them.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tendril/graph.hpp>

#include "graph/file_window.hpp"  // byte_range

namespace tendril {

/// The bytes of an array.
template <class T>
std::span<std::byte const> bytes_of(shared_array<T> const& array)
{
  return std::as_bytes(array.span());
}
inline std::span<std::byte const> bytes_of(label_array const& array)
{
  return {static_cast<std::byte const*>(array.view().data),
          static_cast<std::size_t>(array.size() * array.bytes_per_label())};
}

/// Consecutive vertices make a region. Its bytes are those of all arrays that a walker reads at a vertex: what says where
/// the edges are, neighbours, weights, labels.
class graph_regions {
 public:
  /// @param input       In host memory.
  /// @param most_bytes  Of a region, unless a few vertices that stand together have more.
  graph_regions(graph input, std::int64_t most_bytes);

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(first_vertex_.size()) - 1; }
  /// The vertices of a region are [begin, end).
  [[nodiscard]] std::int64_t begin(std::int64_t region) const { return at(region); }
  [[nodiscard]] std::int64_t end(std::int64_t region) const { return at(region + 1); }
  [[nodiscard]] std::int64_t region_of(vertex_id v) const;
  /// What its arrays take.
  [[nodiscard]] std::int64_t num_bytes(std::int64_t region) const
  {
    return bytes_before_[static_cast<std::size_t>(region) + 1] - bytes_before_[static_cast<std::size_t>(region)];
  }

  [[nodiscard]] graph const& input() const { return input_; }

  static constexpr std::size_t num_arrays = 8;

  /// Calls f(number, array) with each array of which a region has a part. @param arrays  graph_arrays, const or not.
  template <class Arrays, class F>
  static void for_each_array(Arrays& arrays, F f)
  {
    std::size_t k = 0;
    f(k++, arrays.indptr);
    f(k++, arrays.indices);
    f(k++, arrays.compressed.blocks);
    f(k++, arrays.compressed.words);
    f(k++, arrays.weights);
    f(k++, arrays.edge_labels);
    f(k++, arrays.narrow.weight_codes.words);
    f(k++, arrays.narrow.labels.words);
  }
  /// The bytes of an array, by its number there.
  [[nodiscard]] std::span<std::byte const> array(std::size_t k) const;
  using array_parts = std::array<byte_range, num_arrays>;
  /// The part of each array that belongs to the vertices [begin, end), or to vertices that share a block with them.
  [[nodiscard]] array_parts parts(std::int64_t begin, std::int64_t end) const;
  /// The parts of a region, without a look at the graph.
  [[nodiscard]] array_parts const& parts(std::int64_t region) const { return parts_[static_cast<std::size_t>(region)]; }
  /// Of the parts of vertices the one that says where edges are.
  [[nodiscard]] array_parts places(std::int64_t begin, std::int64_t end) const;

 private:
  [[nodiscard]] std::int64_t at(std::int64_t k) const { return first_vertex_[static_cast<std::size_t>(k)]; }
  /// What the arrays take of the vertices before v, which is a multiple of `together`, or all of them.
  [[nodiscard]] std::int64_t bytes_before(std::int64_t v) const;
  /// The word of a compressed graph where the lists of v begin.
  [[nodiscard]] std::int64_t first_word(std::int64_t v) const;

  static constexpr std::int64_t together = list_block::vertices;  // a region has whole blocks of a compressed graph

  graph input_;
  edge_arrays edges_;
  std::vector<std::int64_t> first_vertex_{0};  // [regions + 1]
  std::vector<std::int64_t> bytes_before_{0};  // [regions + 1]
  std::vector<array_parts> parts_;             // [regions]
};

}  // namespace tendril
