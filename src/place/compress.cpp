// From one form of a graph to another. The lists: <tendril/list_code.hpp>; their directory: <tendril/list_directory.hpp>.

#include <algorithm>
#include <array>
#include <vector>

#include <tendril/compress.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "graph/places.hpp"
#include "place/block_layout.hpp"
#include "place/list_of.hpp"
#include "place/list_writer.hpp"
#include "place/placement.hpp"

namespace tendril {
namespace {

using place::block_layout;
using place::choose;
using place::header_of;
using place::list_choice;
using place::list_of;
using place::near_width;
using place::width_of;
using place::write_list;

constexpr std::int64_t vertices_a_range = std::int64_t{1} << 14U;
constexpr std::int64_t blocks_a_range = std::int64_t{1} << 6U;  // fewer: a hub is as much as thousands of others

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

/// A block's lists, and how they are to be written.
struct measured_block {
  std::array<std::uint32_t, list_block::vertices> degrees;
  std::array<list_choice, list_block::vertices> lists;
  std::size_t size;  ///< Vertices.

  [[nodiscard]] std::span<std::uint32_t const> degree_span() const { return {degrees.data(), size}; }
  [[nodiscard]] block_layout layout() const { return block_layout::of(degree_span(), {lists.data(), size}); }

  /// All lists at one width, so that they share a header: reading one takes a load less.
  void share_width(vertex_id first, std::span<std::pair<vertex_id, vertex_id> const> ends)
  {
    std::uint32_t near = 1, far = 1;
    for (std::size_t i = 0; i < size; ++i) {
      if (degrees[i] == 0) { continue; }
      std::int64_t const v = first + static_cast<std::int64_t>(i);
      near = std::max(near, near_width(ends[i].first - v, ends[i].second - v));
      far = std::max(far, width_of(ends[i].second));
    }
    list_header const header =
        near < far ? header_of(list_code::fixed_near, near) : header_of(list_code::fixed_far, far);
    for (std::size_t i = 0; i < size; ++i) { lists[i] = {header, std::uint64_t{degrees[i]} * header.width(), false}; }
  }
};

template <class View>
measured_block measure(View const& g, graph_form form, std::int64_t block, std::vector<vertex_id>& scratch)
{
  measured_block out{};
  std::int64_t const first = block * list_block::vertices;
  out.size = static_cast<std::size_t>(std::clamp<std::int64_t>(g.num_vertices - first, 0, list_block::vertices));
  std::array<std::pair<vertex_id, vertex_id>, list_block::vertices> ends{};
  for (std::size_t i = 0; i < out.size; ++i) {
    auto const v = static_cast<vertex_id>(first + static_cast<std::int64_t>(i));
    if (form == graph_form::packed) {
      auto const row = g.row(v);
      out.degrees[i] = row.degree();
      if (!row.empty()) { ends[i] = {row.neighbor(0), row.neighbor(row.degree() - 1)}; }
    } else {
      auto const list = list_of(g, v, scratch);
      out.degrees[i] = static_cast<std::uint32_t>(list.size());
      if (!list.empty()) { out.lists[i] = choose(form, v, list); }
    }
  }
  if (form == graph_form::packed) { out.share_width(static_cast<vertex_id>(first), ends); }
  return out;
}

/// Writes a graph's lists in two passes over its neighbours: one for the sizes, one for the bits. Ranges of blocks are
/// independent, so nothing depends on the number of threads.
template <class View>
class list_compressor {
 public:
  list_compressor(View const& g, graph_form form, cpu_exec const& exec)
      : g_(g),
        form_(form),
        exec_(exec),
        num_blocks_(g.num_vertices / list_block::vertices + 1),
        sizes_(static_cast<std::size_t>((num_blocks_ + blocks_a_range - 1) / blocks_a_range) + 1)
  {
  }

  compressed_lists run()
  {
    compressed_lists out;
    out.num_vertices = g_.num_vertices;
    out.num_edges = g_.num_edges;
    out.form = form_;
    buffer<list_block> blocks(num_blocks_, *exec_.memory);
    for_each_range(0, [&](std::size_t range, std::int64_t begin, std::int64_t end) {
      sizes_[range + 1] = measure_range(begin, end);
    });
    for (std::size_t r = 1; r < sizes_.size(); ++r) {
      sizes_[r].bytes += sizes_[r - 1].bytes;
      sizes_[r].wide += sizes_[r - 1].wide;
    }
    std::int64_t const words = static_cast<std::int64_t>(sizes_.back().bytes / 4);
    buffer<std::uint32_t> to(words + list_codes::words_beyond, *exec_.memory);
    buffer<wide_list> wide(sizes_.back().wide, *exec_.memory);
    for_each_range(1, [&](std::size_t range, std::int64_t begin, std::int64_t end) {
      write_range(blocks.data(), wide.data(), to.data(), sizes_[range], begin, end);
    });
    std::fill(to.data() + words, to.end(), 0U);
    out.blocks = std::move(blocks);
    out.wide = std::move(wide);
    out.words = std::move(to);
    return out;
  }

 private:
  struct range_size {
    std::uint64_t bytes = 0;
    std::int64_t wide = 0;
  };

  template <class F>
  void for_each_range(int pass, F&& f)
  {
    progress const so_far{"compressing", pass * num_blocks_, 2 * num_blocks_};
    tendril::for_each_range(num_blocks_, blocks_a_range, so_far, exec_, [&](std::int64_t begin, std::int64_t end) {
      f(static_cast<std::size_t>(begin / blocks_a_range), begin, end);
    });
  }

  /// What a range takes.
  range_size measure_range(std::int64_t begin, std::int64_t end) const
  {
    range_size sum;
    std::vector<vertex_id> scratch;
    for (std::int64_t b = begin; b < end; ++b) {
      measured_block const block = measure(g_, form_, b, scratch);
      block_layout const layout = block.layout();
      sum.bytes += layout.bytes;
      sum.wide += layout.kind == block_kind::wide ? list_block::vertices : 0;
    }
    return sum;
  }

  void write_range(list_block* blocks, wide_list* wide, std::uint32_t* words, range_size at, std::int64_t begin,
                   std::int64_t end) const
  {
    std::vector<vertex_id> scratch;
    for (std::int64_t b = begin; b < end; ++b) {
      measured_block const block = measure(g_, form_, b, scratch);
      block_layout const layout = block.layout();
      bool const is_wide = layout.kind == block_kind::wide;
      std::int64_t const first = b * list_block::vertices;
      blocks[b] = layout.entry(block.degree_span(), is_wide ? static_cast<std::uint64_t>(at.wide) : at.bytes,
                               first < g_.num_vertices ? g_.first_edge(first) : g_.num_edges);
      std::fill_n(words + at.bytes / 4, layout.bytes / 4, 0U);
      for (std::size_t i = 0; i < block.size; ++i) {
        auto const v = static_cast<vertex_id>(first + static_cast<std::int64_t>(i));
        std::uint64_t start = at.bytes + layout.starts[i];
        list_header const header = block.lists[i].header;
        if (is_wide) {
          wide[at.wide + static_cast<std::int64_t>(i)] = {list_place::of(start, header, 0, 0).at, block.degrees[i], 0};
        }
        if (block.degrees[i] == 0) { continue; }
        if (layout.kind == block_kind::own) {
          words[start / 4] |= header.byte() << (8 * (start % 4));
          ++start;
        }
        write_list(words, start, v, list_of(g_, v, scratch), header);
      }
      if (is_wide) {
        std::fill(wide + at.wide + static_cast<std::int64_t>(block.size), wide + at.wide + list_block::vertices,
                  wide_list{});
        at.wide += list_block::vertices;
      }
      at.bytes += layout.bytes;
    }
  }

  View g_;
  graph_form form_;
  cpu_exec exec_;
  std::int64_t num_blocks_;
  std::vector<range_size> sizes_;  ///< Before each range.
};

graph pack(graph const& input, graph_form form, cpu_exec const& exec)
{
  input.check(exec);
  graph_arrays arrays = input.arrays();
  arrays.compressed = input.view().visit(
      [&](auto const& g) { return list_compressor<std::decay_t<decltype(g)>>(g, form, exec).run(); });
  arrays.indptr = {};
  arrays.indices = {};
  return graph(std::move(arrays), input.content());
}

graph unpack(graph const& input, cpu_exec const& exec)
{
  input.check(exec);
  buffer<edge_id> indptr(input.num_vertices() + 1, *exec.memory);
  buffer<vertex_id> indices(input.num_edges(), *exec.memory);
  input.view().visit([&](auto const& g) {
    for_each_range(g.num_vertices, vertices_a_range, {"unpacking", 0, g.num_vertices}, exec,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t v = begin; v < end; ++v) {
                       std::int64_t e = g.first_edge(v);
                       indptr[v] = e;
                       auto const row = g.row(v);
                       for (std::uint32_t i = 0; i < row.degree(); ++i) { indices[e++] = row.neighbor(i); }
                     }
                   });
    indptr[g.num_vertices] = g.num_edges;
  });
  graph_arrays arrays = input.arrays();
  arrays.compressed = {};
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  return graph(std::move(arrays), input.content());
}

}  // namespace

compressed_lists place::rewritten(graph const& input, cpu_exec const& exec)
{
  return pack(input, input.form(), exec).arrays().compressed;
}

graph compress(graph const& input, graph_form form, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  if (input.form() == form) { return input; }
  return form == graph_form::csr ? unpack(input, exec) : pack(input, form, exec);
}

graph to_csr(graph const& input, cpu_exec const& exec) { return compress(input, graph_form::csr, exec); }

}  // namespace tendril
