// Compresses the lists of a graph on the CPU, from any source of rows, in two passes: one for the sizes, one for the
// bits. Both make the rows of a few hundred vertices at a time, so that in addition to the result a thread takes the
// memory of that many rows. Ranges are independent, so nothing depends on the number of threads. The twin on a GPU:
// src/gpu/place/encoder.cu.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "place/block_writer.hpp"
#include "place/list_limits.hpp"

namespace tendril::place {

/// Calls f(begin, end) for ranges of at most `grain`, the same whatever the number of threads. `so_far` is the progress
/// before, which is told between pieces of many ranges.
template <class F>
void for_each_range(std::int64_t size, std::int64_t grain, progress const& so_far, cpu_exec const& exec, F&& f)
{
  std::int64_t const piece = grain << 10U;
  for (std::int64_t first = 0; first < size; first += piece) {
    if (exec.on_progress) { exec.on_progress({so_far.what, so_far.done + first, so_far.total}); }
    base::parallel_ranges(exec, std::min(piece, size - first), grain,
                          [&](std::int64_t begin, std::int64_t end) { f(first + begin, first + end); });
  }
}

/// Memory for the rows of a range, kept from one range to the next.
struct row_scratch {
  std::vector<edge_id> offsets;
  std::vector<vertex_id> ids;

  void clear()
  {
    offsets.assign(1, 0);
    ids.clear();
  }
  /// Ends the row of a vertex.
  void end_row() { offsets.push_back(std::ssize(ids)); }
  [[nodiscard]] listed_rows rows(std::int64_t first_vertex) const
  {
    return {ids.data(), offsets.data(), first_vertex, 0};
  }
};

/// A source: the rows of a graph from vertex `first` on, decoded.
template <class View>
struct decoded_rows {
  View graph;
  std::int64_t first = 0;

  [[nodiscard]] listed_rows load(std::int64_t begin, std::int64_t end, row_scratch& scratch) const
  {
    scratch.clear();
    for (std::int64_t v = first + begin; v < first + end; ++v) {
      for (vertex_id const x : graph.row(v)) { scratch.ids.push_back(x); }
      scratch.end_row();
    }
    return scratch.rows(begin);
  }
};

/// @tparam Source  load(begin, end, scratch) gives the rows of the vertices [begin, end), whose edges are numbered from 0
///                 on, in the scratch or elsewhere; any thread.
template <class Source>
class list_encoder {
 public:
  /// @param what      For the progress.
  /// @param first_id  As compressed_lists::first_id.
  list_encoder(Source const& source, std::int64_t num_vertices, graph_form form, char const* what, cpu_exec const& exec,
               vertex_id first_id)
      : source_(source),
        form_(form),
        what_(what),
        exec_(exec),
        first_id_(first_id),
        num_vertices_(num_vertices),
        num_blocks_(num_vertices / list_block::vertices + 1),
        totals_(static_cast<std::size_t>((num_blocks_ + blocks_a_range - 1) / blocks_a_range) + 1)
  {
  }

  /// @throws argument_error for more than the directory can say.
  compressed_lists run()
  {
    for_each_range(0, [&](std::size_t range, std::int64_t begin, std::int64_t end) {
      totals_[range + 1] = measure_range(begin, end);
    });
    for (std::size_t r = 1; r < totals_.size(); ++r) { totals_[r] = totals_[r - 1] + totals_[r]; }
    list_totals const all = totals_.back();
    expect_room_in_directory(all.bytes, all.edges);
    auto const num_words = static_cast<std::int64_t>(all.bytes / 4);
    buffer<list_block> blocks(num_blocks_, *exec_.memory);
    buffer<std::uint32_t> words(num_words + list_codes::words_beyond, *exec_.memory);
    buffer<wide_list> wide(all.wide, *exec_.memory);
    for_each_range(1, [&](std::size_t range, std::int64_t begin, std::int64_t end) {
      write_range({blocks.data(), wide.data()}, words.data(), totals_[range], begin, end);
    });
    std::fill(words.data() + num_words, words.end(), 0U);
    compressed_lists out;
    out.num_vertices = num_vertices_;
    out.num_edges = all.edges;
    out.form = form_;
    out.first_id = first_id_;
    out.blocks = std::move(blocks);
    out.wide = std::move(wide);
    out.words = std::move(words);
    return out;
  }

 private:
  static constexpr std::int64_t blocks_a_range = std::int64_t{1}
                                                 << 6U;  // fewer: a hub is as much as thousands of others

  template <class F>
  void for_each_range(int pass, F&& f)
  {
    progress const so_far{what_, pass * num_blocks_, 2 * num_blocks_};
    place::for_each_range(num_blocks_, blocks_a_range, so_far, exec_, [&](std::int64_t begin, std::int64_t end) {
      f(static_cast<std::size_t>(begin / blocks_a_range), begin, end);
    });
  }

  /// f(first vertex, lists) of each block in [begin, end).
  template <class F>
  void for_each_block(listed_rows const& rows, std::int64_t begin, std::int64_t end, F&& f) const
  {
    measured_block block;
    for (std::int64_t b = begin; b < end; ++b) {
      std::int64_t const first = b * list_block::vertices;
      measure_block(serial_team(), rows, form_, num_vertices_, first, block);
      f(first, block);
    }
  }

  [[nodiscard]] listed_rows load(std::int64_t begin, std::int64_t end, row_scratch& scratch) const
  {
    listed_rows rows = source_.load(begin * list_block::vertices, end_of(end), scratch);
    rows.first_id = first_id_;
    return rows;
  }
  /// The vertex behind the blocks before `end`.
  [[nodiscard]] std::int64_t end_of(std::int64_t end) const
  {
    return std::min(end * list_block::vertices, num_vertices_);
  }

  list_totals measure_range(std::int64_t begin, std::int64_t end) const
  {
    row_scratch scratch;
    listed_rows const rows = load(begin, end, scratch);
    list_totals sum;
    for_each_block(rows, begin, end,
                   [&](std::int64_t, measured_block const& block) { sum = sum + totals_of(block_layout(block)); });
    sum.edges = rows.first_edge_of(end_of(end));
    return sum;
  }

  void write_range(list_arrays const& to, std::uint32_t* words, list_totals at, std::int64_t begin,
                   std::int64_t end) const
  {
    row_scratch scratch;
    listed_rows rows = load(begin, end, scratch);
    rows.first_edge += at.edges;
    for_each_block(rows, begin, end, [&](std::int64_t first, measured_block const& block) {
      block_layout const layout(block);
      std::fill_n(words + at.bytes / 4, layout.bytes() / 4, 0U);
      write_block(serial_team(), plain_words(words), to, rows, block, layout, first, at);
      at = at + totals_of(layout);
    });
  }

  Source source_;
  graph_form form_;
  char const* what_;
  cpu_exec exec_;
  vertex_id first_id_;
  std::int64_t num_vertices_, num_blocks_;
  std::vector<list_totals> totals_;  ///< Before each range.
};

/// The lists of a source in form `form`, which isn't CSR.
template <class Source>
compressed_lists encode_lists(Source const& source, std::int64_t num_vertices, graph_form form, char const* what,
                              cpu_exec const& exec, vertex_id first_id = 0)
{
  return list_encoder<Source>(source, num_vertices, form, what, exec, first_id).run();
}

}  // namespace tendril::place
