// From CSR to packed neighbours and back. A list of neighbours x_0 <= x_1 <= ... is x_0 in the vertex's record, and the
// differences x_i - x_0 in as many bits each as the last one needs, one list after the other. Every 2^14th vertex begins a
// word; there is no other gap.

#include <algorithm>
#include <bit>
#include <vector>

#include <tendril/compress.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "graph/places.hpp"

namespace tendril {
namespace {

constexpr std::int64_t vertices_a_range = std::int64_t{1} << 14U;
constexpr std::int64_t vertices_a_piece = vertices_a_range << 8U;  // between two calls of on_progress

/// Calls f(begin, end) for ranges of vertices, the same whatever the number of threads. `so_far` is the progress before.
template <class F>
void for_each_range(std::int64_t num_vertices, progress const& so_far, cpu_exec const& exec, F&& f)
{
  for (std::int64_t first = 0; first < num_vertices; first += vertices_a_piece) {
    if (exec.on_progress) { exec.on_progress({so_far.what, so_far.done + first, so_far.total}); }
    std::int64_t const size = std::min(vertices_a_piece, num_vertices - first);
    base::parallel_ranges(exec, size, vertices_a_range,
                          [&](std::int64_t begin, std::int64_t end) { f(first + begin, first + end); });
  }
}

/// The bits of one neighbour of a list that is sorted.
std::uint32_t width_of(csr_row const& row)
{
  return row.empty() ? 0 : static_cast<std::uint32_t>(std::bit_width(row.neighbor(row.degree() - 1) - row.neighbor(0)));
}

/// Writes numbers one after the other, from the lowest bit of a word on.
class bit_writer {
 public:
  explicit bit_writer(std::uint32_t* words) : word_(words) {}

  void put(std::uint32_t value, std::uint32_t width)
  {
    waiting_ |= std::uint64_t{value} << used_;
    used_ += width;
    if (used_ < 32) { return; }
    *word_++ = static_cast<std::uint32_t>(waiting_);
    waiting_ >>= 32U;
    used_ -= 32;
  }

  /// Writes what is left.
  void finish()
  {
    if (used_ > 0) { *word_ = static_cast<std::uint32_t>(waiting_); }
  }

 private:
  std::uint32_t* word_;
  std::uint64_t waiting_ = 0;
  std::uint64_t used_ = 0;  // bits of `waiting_`, below 32 between calls
};

graph pack(graph const& input, cpu_exec const& exec)
{
  input.check(exec);
  csr_view const g{input.csr()};
  buffer<packed_record> records(g.num_vertices, *exec.memory);
  auto const num_ranges = static_cast<std::size_t>((g.num_vertices + vertices_a_range - 1) / vertices_a_range);
  std::vector<std::uint64_t> range_bits(num_ranges);
  for_each_range(g.num_vertices, {"packing", 0, 2 * g.num_vertices}, exec, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t bits = 0;
    for (std::int64_t v = begin; v < end; ++v) {
      csr_row const row = g.row(v);
      std::uint32_t const width = width_of(row);
      records[v] = packed_record::of(bits, width, row.degree(), row.empty() ? 0 : row.neighbor(0));
      bits += std::uint64_t{row.degree()} * width;
    }
    range_bits[static_cast<std::size_t>(begin / vertices_a_range)] = bits;
  });
  // Each range begins a word, so that threads never share one.
  std::vector<std::uint64_t> first_word(num_ranges + 1, 0);
  std::uint64_t end_bit = 0;
  for (std::size_t r = 0; r < num_ranges; ++r) {
    end_bit = 32 * first_word[r] + range_bits[r];
    first_word[r + 1] = (end_bit + 31) / 32;
  }
  // Any neighbour is read by two words, also one without bits at the end.
  buffer<std::uint32_t> words(static_cast<std::int64_t>(end_bit / 32 + 2), *exec.memory);
  for_each_range(g.num_vertices, {"packing", g.num_vertices, 2 * g.num_vertices}, exec,
                 [&](std::int64_t begin, std::int64_t end) {
                   std::uint64_t const first = first_word[static_cast<std::size_t>(begin / vertices_a_range)];
                   bit_writer to(words.data() + first);
                   for (std::int64_t v = begin; v < end; ++v) {
                     packed_record& record = records[v];
                     std::uint32_t const width = record.width();
                     record = packed_record::of(32 * first + record.place(), width, record.degree, record.first);
                     if (width == 0) { continue; }
                     for (vertex_id const x : g.row(v)) { to.put(x - record.first, width); }
                   }
                   to.finish();
                 });
  std::fill(words.data() + first_word.back(), words.end(), 0U);
  graph_arrays arrays = input.arrays();
  if (arrays.indptr.empty()) {  // of graph()
    buffer<edge_id> only_offset(1, *exec.memory);
    only_offset[0] = 0;
    arrays.indptr = std::move(only_offset);
  }
  arrays.indices = {};
  arrays.packed = {std::move(records), std::move(words), g.num_edges};
  return graph(std::move(arrays), input.content());
}

graph unpack(graph const& input, cpu_exec const& exec)
{
  input.check(exec);
  buffer<vertex_id> indices(input.num_edges(), *exec.memory);
  input.view().visit([&](auto const& g) {
    for_each_range(g.num_vertices, {"unpacking", 0, g.num_vertices}, exec, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        std::int64_t e = g.first_edge(v);
        for (vertex_id const x : g.row(v)) { indices[e++] = x; }
      }
    });
  });
  graph_arrays arrays = input.arrays();
  arrays.packed = {};
  arrays.indices = std::move(indices);
  return graph(std::move(arrays), input.content());
}

}  // namespace

graph compress(graph const& input, graph_form form, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  if (input.form() == form) { return input; }
  return form == graph_form::packed ? pack(input, exec) : unpack(input, exec);
}

graph to_csr(graph const& input, cpu_exec const& exec) { return compress(input, graph_form::csr, exec); }

}  // namespace tendril
