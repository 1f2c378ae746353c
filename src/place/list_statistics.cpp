// What the codes of a graph's lists take. Lists are decoded and measured again, as src/place/list_measure.hpp measures
// them before they are written.

#include <mutex>
#include <vector>

#include <tendril/compress.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "graph/places.hpp"
#include "place/list_measure.hpp"
#include "place/list_of.hpp"

namespace tendril {
namespace {

using place::list_of;

constexpr std::int64_t blocks_a_range = std::int64_t{1} << 10U;

/// The bits of v's list, which is written as its header says.
std::int64_t bits_of(list_header header, vertex_id v, std::span<vertex_id const> list)
{
  bool const in_bytes = header.code() == static_cast<std::uint32_t>(list_code::vbyte);
  auto const shape = place::shape_of(place::serial_team(), in_bytes ? graph_form::vbyte : graph_form::best, v, list);
  return static_cast<std::int64_t>(shape.with(header).value_or(place::list_choice{}).bits);
}

code_share& share_of(list_statistics& sum, list_header header)
{
  switch (static_cast<list_code>(header.code())) {
    case list_code::runs_near:
    case list_code::runs_far: return sum.runs;
    case list_code::runs_elias_fano: return sum.runs_elias_fano;
    case list_code::elias_fano: return sum.elias_fano;
    case list_code::vbyte: return sum.vbyte;
    default: return sum.fixed;
  }
}

void add(code_share& to, code_share const& share)
{
  to.num_lists += share.num_lists;
  to.num_edges += share.num_edges;
  to.num_bits += share.num_bits;
}

/// Blocks [begin, end) of the directory.
list_statistics count_blocks(compressed_view const& g, compressed_lists const& lists, std::int64_t begin,
                             std::int64_t end)
{
  list_statistics sum;
  std::vector<vertex_id> scratch;
  for (std::int64_t b = begin; b < end; ++b) {
    std::int64_t const first = b * list_block::vertices;
    for (std::int64_t v = first; v < std::min(first + list_block::vertices, g.num_vertices); ++v) {
      auto const list = list_of(g, v, scratch);
      if (list.empty()) { continue; }
      list_header const header = g.locate(v).header();
      add(share_of(sum, header), {1, std::ssize(list), bits_of(header, static_cast<vertex_id>(v), list)});
      half_place const at(static_cast<vertex_id>(v));
      sum.header_bits += lists.blocks[b].halves[at.half].head.is(block_kind::own) ? 8 : 0;
    }
  }
  return sum;
}

void count_compressed(compressed_view const& g, compressed_lists const& lists, list_statistics& sum,
                      cpu_exec const& exec)
{
  std::mutex guard;  // sums of integers: the order doesn't matter
  auto const count_range = [&](std::int64_t begin, std::int64_t end) {
    list_statistics const part = count_blocks(g, lists, begin, end);
    std::lock_guard const lock(guard);
    for (code_share list_statistics::*code :
         {&list_statistics::fixed, &list_statistics::runs, &list_statistics::runs_elias_fano,
          &list_statistics::elias_fano, &list_statistics::vbyte}) {
      add(sum.*code, part.*code);
    }
    sum.header_bits += part.header_bits;
  };
  base::parallel_ranges(exec, lists.blocks.size(), blocks_a_range, count_range, "measuring");
  sum.directory_bits = 8 * (static_cast<std::int64_t>(sizeof(list_block)) * lists.blocks.size() +
                            static_cast<std::int64_t>(sizeof(wide_list)) * lists.wide.size());
  sum.padding_bits = 8 * lists.num_bytes() - sum.directory_bits - sum.header_bits - sum.fixed.num_bits -
                     sum.runs.num_bits - sum.runs_elias_fano.num_bits - sum.elias_fano.num_bits - sum.vbyte.num_bits;
}

void count_csr(csr_view const& g, list_statistics& sum, cpu_exec const& exec)
{
  constexpr std::int64_t vertices_a_range = blocks_a_range * list_block::vertices;
  std::mutex guard;
  base::parallel_ranges(exec, g.num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t lists = 0;
    for (std::int64_t v = begin; v < end; ++v) { lists += g.degree(v) > 0 ? 1 : 0; }
    std::lock_guard const lock(guard);
    sum.csr.num_lists += lists;
  });
  sum.csr.num_edges = g.num_edges;
  sum.csr.num_bits = 32 * g.num_edges;
  sum.directory_bits = sum.csr_bits - sum.csr.num_bits;
}

}  // namespace

list_statistics count_lists(graph const& input, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  input.check(exec);
  list_statistics sum;
  sum.csr_bits = 64 * (input.num_vertices() + 1) + 32 * input.num_edges();
  input.view().visit([&](auto const& g) {
    if constexpr (std::is_same_v<std::decay_t<decltype(g)>, csr_view>) {
      count_csr(g, sum, exec);
    } else {
      count_compressed(g, input.arrays().compressed, sum, exec);
    }
  });
  return sum;
}

}  // namespace tendril
