// Ranges of lists that were written apart become the arrays that `compress` makes of the whole graph.

#include "place/list_range.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>

#include "place/list_encoder.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

/// Rows of all lengths, none among them, and hubs whose blocks are wide: one in the middle, one in the last block.
graph make_graph(std::int64_t num_vertices)
{
  std::mt19937 random(7);
  std::vector<vertex_id> sources, targets;
  auto const add = [&](std::int64_t v, std::int64_t degree) {
    for (std::int64_t i = 0; i < degree; ++i) {
      sources.push_back(static_cast<vertex_id>(v));
      targets.push_back(static_cast<vertex_id>(random() % num_vertices));
    }
  };
  for (std::int64_t v = 0; v < num_vertices; ++v) { add(v, v % 5 == 0 ? 0 : static_cast<std::int64_t>(random() % 40)); }
  std::int64_t const hub = test::unless_sanitized(std::int64_t{1} << 20U, std::int64_t{1} << 19U);
  add(2 * list_block::vertices, hub);
  add(num_vertices / 2, hub);
  add(num_vertices - 2, hub);
  build_options options;
  options.num_vertices = num_vertices;
  return build_graph(coo_view{sources, targets}, options);
}

template <class T>
std::string bytes_of(T const* data, std::size_t size)
{
  return {reinterpret_cast<char const*>(data), size * sizeof(T)};
}

/// Of lists so large that no test could write them.
TEST(ListRange, RefusesMoreThanTheDirectoryCanSay)
{
  std::vector<edge_id> const offsets{0, 2, 3};
  std::vector<vertex_id> const targets{0, 1, 1};
  constexpr edge_id edges = edge_id{1} << 40U;
  constexpr std::uint64_t bytes = std::uint64_t{1} << 40U;
  auto const move = [&](std::uint64_t bytes_before, edge_id edges_before) {
    place::write_range(graph_form::packed, 0, offsets, targets, true).move_behind(bytes_before, 0, edges_before);
  };
  auto const moved = [&](std::uint64_t bytes_before, edge_id edges_before) {
    return test::message_of<argument_error>([&] { move(bytes_before, edges_before); });
  };
  std::uint64_t const own = 4 * place::write_range(graph_form::packed, 0, offsets, targets, true).words.size();
  EXPECT_NO_THROW(move(0, edges - 4));
  EXPECT_EQ(moved(0, edges - 3), "compress: 1099511627776 edges, expected at most 2^40 - 1 in a compressed graph");
  EXPECT_NO_THROW(move(bytes - 4 - own, 0));
  EXPECT_EQ(moved(bytes - own, 0),
            "compress: the lists take 1099511627776 bytes, expected at most 2^40 - 1 in a compressed graph");
}

/// Rows without neighbours that claim to be edges.
struct rows_that_claim {
  edge_id edges_a_range;

  [[nodiscard]] place::listed_rows load(std::int64_t begin, std::int64_t end, place::row_scratch& scratch) const
  {
    scratch.clear();
    for (std::int64_t v = begin; v < end; ++v) { scratch.end_row(); }
    place::listed_rows rows = scratch.rows(begin);
    rows.first_edge = edges_a_range;
    return rows;
  }
};

TEST(ListRange, CompressingRefusesTheSame)
{
  constexpr edge_id edges = edge_id{1} << 39U;
  auto const encode = [&](edge_id edges_a_range) {
    (void)place::encode_lists(rows_that_claim{edges_a_range}, 1000, graph_form::packed, "compressing", {});
  };
  EXPECT_NO_THROW(encode(edges / 2));  // two ranges of 64 blocks
  EXPECT_EQ(test::message_of<argument_error>([&] { encode(edges); }),
            "compress: 1099511627776 edges, expected at most 2^40 - 1 in a compressed graph");
}

TEST(ListRange, RangesBecomeTheWholeGraph)
{
  for (std::int64_t const num_vertices : {100, 121, 131}) {
    if (test::is_sanitized && num_vertices != 131) { continue; }
    graph const whole = make_graph(num_vertices);
    auto const& arrays = whole.arrays();
    for (graph_form const form :
         {graph_form::packed, graph_form::runs, graph_form::ef, graph_form::vbyte, graph_form::best}) {
      graph const compressed = compress(whole, form);
      auto const& expected = compressed.arrays().compressed;
      EXPECT_GE(expected.wide.size(), list_block::vertices);  // of two halves of blocks, at least
      for (std::int64_t const width : {11, 44, 1199}) {
        std::vector<list_block> blocks;
        std::vector<wide_list> wide;
        std::vector<std::uint32_t> words;
        edge_id num_edges = 0;
        for (std::int64_t first = 0; first <= num_vertices; first += width) {
          std::int64_t const last = std::min(first + width, num_vertices);
          bool const is_last = first + width > num_vertices;
          std::vector<edge_id> offsets;
          for (std::int64_t v = first; v <= last; ++v) { offsets.push_back(arrays.indptr[v] - arrays.indptr[first]); }
          auto const targets = arrays.indices.span().subspan(static_cast<std::size_t>(arrays.indptr[first]),
                                                             static_cast<std::size_t>(offsets.back()));
          auto range = place::write_range(form, static_cast<vertex_id>(first), offsets, targets, is_last);
          range.move_behind(4 * words.size(), wide.size(), num_edges);
          blocks.insert(blocks.end(), range.blocks.begin(), range.blocks.end());
          wide.insert(wide.end(), range.wide.begin(), range.wide.end());
          words.insert(words.end(), range.words.begin(), range.words.end());
          num_edges += range.num_edges;
        }
        words.resize(words.size() + list_codes::words_beyond);
        auto const what = std::string(to_string(form)) + ", ranges of " + std::to_string(width);
        EXPECT_TRUE(bytes_of(blocks.data(), blocks.size()) ==
                    bytes_of(expected.blocks.data(), static_cast<std::size_t>(expected.blocks.size())))
            << what;
        EXPECT_TRUE(bytes_of(wide.data(), wide.size()) ==
                    bytes_of(expected.wide.data(), static_cast<std::size_t>(expected.wide.size())))
            << what;
        EXPECT_TRUE(bytes_of(words.data(), words.size()) ==
                    bytes_of(expected.words.data(), static_cast<std::size_t>(expected.words.size())))
            << what;
        EXPECT_EQ(num_edges, whole.num_edges());
      }
    }
  }
}

}  // namespace
}  // namespace tendril
