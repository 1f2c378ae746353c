// The stretches of a graph's arrays that belong to consecutive vertices, for walks on a mapped file that memory does not
// hold: they are read in order, one stretch after another, and given back.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tendril/graph.hpp>

namespace tendril {

/// Consecutive vertices make a region. Its pages are those of all arrays that a walker reads at a vertex: what says where
/// the edges are, neighbours, weights, labels, types of vertices.
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
    return bytes_before(end(region)) - bytes_before(begin(region));
  }

  /// Brings the pages of a region into memory, in order. At once where they are there already.
  void read(std::int64_t region) const;
  /// Tells the system that the pages of a region are not read for a while.
  void give_back(std::int64_t region) const;

 private:
  using bytes = std::span<std::byte const>;

  [[nodiscard]] std::int64_t at(std::int64_t k) const { return first_vertex_[static_cast<std::size_t>(k)]; }
  /// What the arrays take of the vertices before v, which is a multiple of `together`, or all of them.
  [[nodiscard]] std::int64_t bytes_before(std::int64_t v) const;
  /// The word of a compressed graph where the lists of v begin.
  [[nodiscard]] std::int64_t first_word(std::int64_t v) const;
  [[nodiscard]] std::vector<bytes> stretches(std::int64_t region) const;

  static constexpr std::int64_t together = list_block::vertices;  // a region has whole blocks of a compressed graph

  graph input_;
  edge_arrays edges_;
  std::vector<std::int64_t> first_vertex_{0};  // [regions + 1]
};

}  // namespace tendril
