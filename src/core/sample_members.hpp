// Which neighbours of a vertex belong to a set: the question behind induced subgraphs. A set is its vertices in ascending
// order, and a filter of a few bits a vertex that answers most questions by one word. A list of neighbours is either
// read, with a question for each of them, or searched for each vertex of the set; both find the same edges in the same
// order. Executors: src/cpu/subgraphs/subgraph.cpp, src/gpu/subgraphs/induce_small.cu, src/gpu/subgraphs/induce_large.cu.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#include "core/adjacency.hpp"    // gallop
#include "core/fixed_point.hpp"  // ceil_log2

namespace tendril::core {

/// What find() returns for a vertex that is not in the set.
inline constexpr std::uint32_t no_member = 0xffffffffU;

/// The bit of a vertex in a filter of some words.
struct member_bit {
  std::uint32_t word, mask;

  /// The word follows from the upper bits of a hash (lowbias32 by C. Wellons), the bit from its last five.
  [[nodiscard]] static TENDRIL_HD member_bit of(vertex_id x, std::uint32_t num_words)
  {
    std::uint32_t h = x;
    h = (h ^ (h >> 16U)) * 0x7feb352dU;
    h = (h ^ (h >> 15U)) * 0x846ca68bU;
    h ^= h >> 16U;
    return {static_cast<std::uint32_t>((std::uint64_t{h} * num_words) >> 32U), std::uint32_t{1} << (h % 32U)};
  }
};

/// A set of vertices, somewhere in memory. Any thread may ask.
struct sample_members {
  vertex_id const* vertices;    ///< [size], ascending.
  std::uint32_t size;           ///< Also the number of the filter's words.
  std::uint32_t const* filter;  ///< [size] words with the member_bit of each vertex set.

  /// The place of x in `vertices`, or no_member.
  [[nodiscard]] TENDRIL_HD std::uint32_t find(vertex_id x) const
  {
    if (size == 0) { return no_member; }
    member_bit const bit = member_bit::of(x, size);
    if ((filter[bit.word] & bit.mask) == 0) { return no_member; }
    std::uint32_t first = 0;
    std::uint32_t rest = size;
    while (rest > 1) {  // the last vertex not above x stays in range
      std::uint32_t const half = rest / 2;
      first += vertices[first + half] <= x ? half : 0;
      rest -= half;
    }
    return vertices[first] == x ? first : no_member;
  }
};

/// The edges to one neighbour: positions in a list that is sorted, parallel edges following each other.
struct edge_run {
  std::uint32_t first, count;
};

/// Where x is among the neighbours of a row. O(log degree).
template <graph_row Row>
TENDRIL_HD edge_run find_run(Row const& row, vertex_id x)
{
  std::uint32_t const first = row.find(x);
  if (first == row.degree() || row.neighbor(first) != x) { return {first, 0}; }
  bool const is_one = first + 1 == row.degree() || row.neighbor(first + 1) != x;
  return {first, is_one ? 1 : gallop(row, first, x + 1) - first};
}

/// Whether reading a list of `degree` neighbours takes at most as many accesses as searching it for each of `members`.
TENDRIL_HD bool reads_list(std::uint32_t degree, std::uint32_t members)
{
  return degree < 2 || degree <= std::uint64_t{members} * static_cast<std::uint64_t>(ceil_log2(degree));
}

}  // namespace tendril::core
