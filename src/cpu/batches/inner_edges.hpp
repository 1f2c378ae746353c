// The edges of the graph between the vertices of a batch, found row by row in parallel.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/types.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "cpu/batches/block_pool.hpp"

namespace tendril::cpu {

/// The place of this thread's scratch: in a region of another call's, that call's thread works alone.
inline std::size_t thread_of(int threads) { return threads == 1 ? 0 : static_cast<std::size_t>(base::team_member()); }

/// An edge between vertices of the batch.
struct inner_edge {
  std::int64_t col;
  edge_id edge;
};

/// Things found by a thread: those of a range of vertices, one after the other in its list.
struct found_range {
  std::size_t thread = 0;
  std::size_t begin = 0;
};

/// Appends the edges of a row whose neighbours have numbers. @param key_of  The key of a neighbour in `numbers`.
template <class Row, class Numbers, class KeyOf>
void append_inner_edges(Row const& row, Numbers const& numbers, KeyOf key_of, std::vector<inner_edge>& out)
{
  constexpr std::uint32_t ahead = 8;
  edge_id const first = row.first_edge();
  std::uint32_t const degree = row.degree();
  for (std::uint32_t i = 0; i < degree; ++i) {
    if (degree - i > ahead) { numbers.prefetch(key_of(row.neighbor(i + ahead))); }
    std::int64_t const to = numbers.find(key_of(row.neighbor(i)));
    if (to >= 0) { out.push_back({to, first + i}); }
  }
}

/// Where the edges of a batch go.
struct inner_edge_arrays {
  pooled_array<std::int64_t>& indptr;
  pooled_array<std::int64_t>& row;
  pooled_array<std::int64_t>& col;
  pooled_array<edge_id>& edge;
};

/// Fills the arrays with the edges of rows [0, `rows`), in order. The object keeps its memory for the next batch.
class inner_edge_finder {
 public:
  /// @param append  append(row, out): appends the edges of a row to a std::vector<inner_edge>. Any thread calls it.
  template <class Append>
  void find(std::int64_t rows, cpu_exec const& exec, Append append, inner_edge_arrays const& out)
  {
    constexpr std::int64_t rows_a_range = 256;
    int const threads = base::num_threads(exec);
    out.indptr.resize(rows + 1);
    out.indptr[0] = 0;
    found_.resize(std::max(found_.size(), static_cast<std::size_t>(threads)));
    for (auto& list : found_) { list.clear(); }
    ranges_.resize(static_cast<std::size_t>((rows + rows_a_range - 1) / rows_a_range));
    base::parallel_ranges(exec, rows, rows_a_range, [&](std::int64_t begin, std::int64_t end) {
      std::size_t const thread = thread_of(threads);
      auto& found = found_[thread];
      ranges_[static_cast<std::size_t>(begin / rows_a_range)] = {thread, found.size()};
      for (std::int64_t i = begin; i < end; ++i) {
        std::size_t const before = found.size();
        append(i, found);
        out.indptr[i + 1] = static_cast<std::int64_t>(found.size() - before);
      }
    });
    for (std::int64_t i = 0; i < rows; ++i) { out.indptr[i + 1] += out.indptr[i]; }
    for (auto* const array : {&out.row, &out.col, &out.edge}) { array->resize(out.indptr[rows]); }
    base::parallel_ranges(exec, rows, rows_a_range, [&](std::int64_t begin, std::int64_t end) {
      found_range const range = ranges_[static_cast<std::size_t>(begin / rows_a_range)];
      inner_edge const* found = found_[range.thread].data() + range.begin;
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t at = out.indptr[i]; at < out.indptr[i + 1]; ++at, ++found) {
          out.row[at] = i;
          out.col[at] = found->col;
          out.edge[at] = found->edge;
        }
      }
    });
  }

 private:
  std::vector<std::vector<inner_edge>> found_;  // by thread
  std::vector<found_range> ranges_;
};

}  // namespace tendril::cpu
