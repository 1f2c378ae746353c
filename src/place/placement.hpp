// Which lists of a compressed graph lie on the GPU, and where all of them lie then: the lists that are kept there become
// the first, in the order that they had, and the others follow likewise. Blocks of 11 vertices move whole, so the
// directory changes in 40 bits a block (and in its wide entries), and lists are copied as they are. All of this is done in
// host memory; src/gpu/placed/ copies the result.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/graph.hpp>

namespace tendril::place {

/// Lists that move together.
struct list_move {
  std::uint64_t from;   ///< The first byte in the graph's words; of whole words.
  std::uint64_t to;     ///< The same in the placed words.
  std::uint64_t bytes;  ///< Of whole words, > 0.
};

/// Where the lists of each block begin, [blocks + 1], in bytes of whole words, ascending, the end last; empty if blocks
/// don't follow each other, which only files of other writers do: `rewritten` lays them out anew.
[[nodiscard]] buffer<std::uint64_t> block_starts(compressed_lists const& lists, cpu_exec const& exec);

/// An array with an element an edge, or a vertex, that is cut into regions; each may lie on the GPU.
struct edge_array {
  std::int64_t num_bytes = 0;
  std::int64_t bits_each = 0;
  double reads = 0;  ///< Reads of an edge's element per read of the edge; 0: takes what no list needs.
  static constexpr std::int64_t region_bytes = std::int64_t{1} << 21U;

  [[nodiscard]] std::int64_t bytes() const { return num_bytes; }
  /// Elements of a region.
  [[nodiscard]] std::int64_t a_region() const { return 8 * region_bytes / std::max<std::int64_t>(bits_each, 1); }
  [[nodiscard]] std::int64_t num_regions() const { return (bytes() + region_bytes - 1) / region_bytes; }
  [[nodiscard]] std::int64_t bytes_of_region(std::int64_t region) const
  {
    return std::min(region_bytes, bytes() - region * region_bytes);
  }
};

struct placement {
  std::vector<list_move> moves;                   ///< Ascending in `to`, without gaps.
  std::vector<char> is_hot;                       ///< [blocks]: kept on the GPU.
  std::int64_t gpu_bytes = 0;                     ///< Of lists.
  std::int64_t all_bytes = 0;                     ///< Of lists, without the words beyond.
  std::vector<std::vector<char>> regions_on_gpu;  ///< Of each array.
  std::int64_t gpu_edge_bytes = 0;                ///< Of all arrays.
};

/// A graph that shares a budget with others, as the edge types of one graph do.
struct placed_part {
  compressed_lists const& lists;
  std::span<std::uint64_t const> starts;  ///< Of block_starts.
  std::span<float const> reads;           ///< [V] expected reads of each list.
  std::vector<edge_array> arrays;
};

/// Keeps the blocks and regions of all parts with the most reads per byte, in that order, as far as they fit into
/// `budget`. Ties take the first block of the first part.
/// @return of each part.
[[nodiscard]] std::vector<placement> plan_placements(std::span<placed_part const> parts, std::int64_t budget,
                                                     cpu_exec const& exec);

/// The same of one graph.
[[nodiscard]] placement plan_placement(compressed_lists const& lists, std::span<std::uint64_t const> starts,
                                       std::span<float const> reads, std::span<edge_array const> arrays,
                                       std::int64_t budget, cpu_exec const& exec);

/// The share of the reads of lists that stay on the GPU.
[[nodiscard]] double share_on_gpu(compressed_lists const& lists, placement const& plan, std::span<float const> reads,
                                  cpu_exec const& exec);

/// The directory of the lists after they moved.
struct moved_directory {
  buffer<list_block> blocks;
  buffer<wide_list> wide;
};
[[nodiscard]] moved_directory move_directory(compressed_lists const& lists, std::span<std::uint64_t const> starts,
                                             placement const& plan);

/// Bytes [begin, end) of the placed words, both of whole words; what lies behind the lists is 0. On one thread.
void copy_moved(compressed_lists const& lists, placement const& plan, std::uint64_t begin, std::uint64_t end, void* to);

/// Bytes at which the lists behind gpu_bytes can be cut, as placed_lists::cuts.
[[nodiscard]] std::vector<std::uint64_t> cuts_of(std::span<std::uint64_t const> starts, placement const& plan);

/// The lists, written anew in the same form, so that they follow each other.
[[nodiscard]] compressed_lists rewritten(graph const& input, cpu_exec const& exec);

}  // namespace tendril::place
