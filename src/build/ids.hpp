// Numbers the vertices that have an edge 0, 1, … in id order.

#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "build/arcs.hpp"     // for_each_arc

namespace tendril::build {

/// The set of ids in use, and each one's rank in it. Memory follows the number of edges, not the largest id: ids
/// are collected with a bitmap that walks over the id space in windows, or sorted where few are spread over many.
class id_map {
 public:
  /// The ids at either end of an arc. `window_bytes` bounds the bitmap.
  template <class Edges>
  static id_map of(Edges const& edges, build_options const& options, std::int64_t num_ids, std::int64_t window_bytes,
                   cpu_exec const& exec);

  [[nodiscard]] std::int64_t size() const { return ids_.size(); }
  [[nodiscard]] buffer<vertex_id> const& ids() const { return ids_; }
  [[nodiscard]] buffer<vertex_id> take_ids() { return std::move(ids_); }
  [[nodiscard]] std::int64_t num_table_bytes() const { return 8 * bits_.size() + 4 * (ranks_.size() + starts_.size()); }

  /// How many ids in use are smaller than `id`, which is in use.
  [[nodiscard]] vertex_id rank(vertex_id id) const
  {
    if (!bits_.empty()) {
      std::uint64_t const below = (std::uint64_t{1} << (id & 63U)) - 1;
      return ranks_[id >> 6U] + static_cast<vertex_id>(std::popcount(bits_[id >> 6U] & below));
    }
    std::int64_t const cell = id >> shift_;
    return static_cast<vertex_id>(std::lower_bound(ids_.data() + starts_[cell], ids_.data() + starts_[cell + 1], id) -
                                  ids_.data());
  }

 private:
  void collect_sorted(buffer<vertex_id> ends, std::int64_t num_ends, cpu_exec const& exec);
  void append(buffer<std::uint64_t> const& bits, std::int64_t first_id, cpu_exec const& exec);
  void index_window(buffer<std::uint64_t> bits, cpu_exec const& exec);
  void index_cells(std::int64_t num_ids, cpu_exec const& exec);

  buffer<vertex_id> ids_;
  buffer<std::uint64_t> bits_;  // one window covers all ids: a bitmap, and the rank at the start of each word
  buffer<vertex_id> ranks_;
  buffer<std::uint32_t> starts_;  // else: where the ids of each cell of 2^shift_ begin
  unsigned shift_ = 0;
};

template <class Edges>
id_map id_map::of(Edges const& edges, build_options const& options, std::int64_t num_ids, std::int64_t window_bytes,
                  cpu_exec const& exec)
{
  id_map map;
  if (edges.size() < num_ids / 4096) {  // all windows together would take longer than a sort
    buffer<vertex_id> ends(2 * edges.size(), *exec.memory);
    std::int64_t num_ends = 0;
    edges.for_each(0, edges.size(), [&](std::int64_t, vertex_id u, vertex_id v) {
      if (u == v && options.drop_self_loops) { return; }
      ends[num_ends++] = u;
      ends[num_ends++] = v;
    });
    map.collect_sorted(std::move(ends), num_ends, exec);
    map.index_cells(num_ids, exec);
    return map;
  }
  std::int64_t const num_words = std::min((num_ids + 63) / 64, std::max<std::int64_t>(window_bytes / 8, 1));
  std::int64_t const window = 64 * num_words;
  buffer<std::uint64_t> bits(num_words, *exec.memory);
  for (std::int64_t first = 0; first < num_ids; first += window) {
    std::fill(bits.begin(), bits.end(), 0);
    auto const mark = [&](vertex_id id) {
      std::uint64_t const offset = std::uint64_t{id} - static_cast<std::uint64_t>(first);
      if (offset >= static_cast<std::uint64_t>(window)) { return; }
      std::atomic_ref word(bits[static_cast<std::int64_t>(offset >> 6U)]);
      std::uint64_t const bit = std::uint64_t{1} << (offset & 63U);
      if ((word.load(std::memory_order_relaxed) & bit) == 0) { word.fetch_or(bit, std::memory_order_relaxed); }
    };
    base::parallel_ranges(exec, edges.size(), std::int64_t{1} << 18U, [&](std::int64_t begin, std::int64_t end) {
      edges.for_each(begin, end, [&](std::int64_t, vertex_id u, vertex_id v) {
        if (u == v && options.drop_self_loops) { return; }
        mark(u);
        mark(v);
      });
    });
    map.append(bits, first, exec);
  }
  if (window >= num_ids) {
    map.index_window(std::move(bits), exec);
  } else {
    bits = {};
    map.index_cells(num_ids, exec);
  }
  return map;
}

}  // namespace tendril::build
