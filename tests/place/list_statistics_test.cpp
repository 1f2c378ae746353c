// What the codes of a graph's lists take: counts that agree with the graph, its words and its directory.

#include <tendril/compress.hpp>

#include <array>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "place/block_layout.hpp"
#include "place/simple_rmat.hpp"
#include "support/any_lists.hpp"
#include "support/binary_files.hpp"
#include "support/list_graph.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"
#include "support/to_array.hpp"

namespace tendril {
namespace {

using test::compressed_forms;
using test::from_lists;

using share_of_code = code_share list_statistics::*;
constexpr std::array<share_of_code, 5> codes{&list_statistics::fixed, &list_statistics::runs,
                                             &list_statistics::runs_elias_fano, &list_statistics::elias_fano,
                                             &list_statistics::vbyte};

std::int64_t num_lists(graph const& g)
{
  std::int64_t count = 0;
  for (std::int64_t v = 0; v < g.num_vertices(); ++v) { count += g.view().degree(v) > 0 ? 1 : 0; }
  return count;
}

/// Lists, edges and words come out as the sums over all codes.
TEST(ListStatistics, SumsAgreeWithTheGraph)
{
  for (graph const& g : {test::simple_rmat(), generate_web({test::unless_sanitized(20'000, 2'000), 12}, {}),
                         generate_regular(regular_graph::star, test::unless_sanitized(400'000, 70'000))}) {
    for (graph_form const form : compressed_forms) {
      SCOPED_TRACE(to_string(form));
      graph const small = compress(g, form);
      compressed_lists const& made = small.arrays().compressed;
      list_statistics const s = count_lists(small);
      code_share sum;
      for (auto const code : codes) {
        sum.num_lists += (s.*code).num_lists;
        sum.num_edges += (s.*code).num_edges;
        sum.num_bits += (s.*code).num_bits;
      }
      EXPECT_EQ(sum.num_lists, num_lists(g));
      EXPECT_EQ(sum.num_edges, g.num_edges());
      EXPECT_EQ(s.csr.num_lists, 0);
      EXPECT_EQ(s.csr_bits, static_cast<std::int64_t>(8 * g.num_bytes()));
      EXPECT_EQ(s.directory_bits, 512 * made.blocks.size() + 128 * made.wide.size());
      EXPECT_EQ(sum.num_bits + s.header_bits + s.padding_bits, 32 * made.words.size());
      // A list ends within a byte and may begin at the next word; a block ends within a word; 64 bytes lie beyond.
      EXPECT_GE(s.padding_bits, 32 * list_codes::words_beyond);
      EXPECT_LE(s.padding_bits, 32 * list_codes::words_beyond + 32 * sum.num_lists + 32 * made.blocks.size());
      EXPECT_LE(s.header_bits, 8 * sum.num_lists);
    }
  }
}

/// The same numbers as from the lists before they were written.
TEST(ListStatistics, BitsAreThoseThatWereChosen)
{
  graph const g = generate_web({30'000, 20}, {});
  csr_arrays const plain = g.csr();
  for (graph_form const form : {graph_form::runs, graph_form::ef, graph_form::vbyte, graph_form::best}) {
    std::int64_t expected = 0;
    place::listed_rows const rows{plain.indices, plain.indptr, 0, 0};
    place::measured_block block{};
    for (std::int64_t first = 0; first < g.num_vertices(); first += list_block::vertices) {
      measure_block(place::serial_team(), rows, form, g.num_vertices(), first, block);
      for (place::measured_half const& half : block.halves) {
        for (std::uint32_t i = 0; i < half.size; ++i) {
          if (half.degrees[i] > 0) { expected += static_cast<std::int64_t>(half.lists[i].bits); }
        }
      }
    }
    list_statistics const s = count_lists(compress(g, form));
    std::int64_t bits = 0;
    for (auto const code : codes) { bits += (s.*code).num_bits; }
    EXPECT_EQ(bits, expected) << to_string(form);
  }
}

TEST(ListStatistics, KnownAnswers)
{
  // Of the first vertices three have lists: 100 consecutive ids, 4 small ids, and 200 ids at a distance of 1,000.
  std::vector<std::vector<vertex_id>> lists(200'001);
  for (vertex_id x = 500; x < 600; ++x) { lists[0].push_back(x); }
  lists[1] = {2, 5, 8, 11};
  for (vertex_id i = 0; i < 200; ++i) { lists[2].push_back(1000 * i); }
  graph const g = from_lists(lists);

  list_statistics const best = count_lists(compress(g, graph_form::best));
  EXPECT_EQ(best.runs.num_lists, 1);
  EXPECT_EQ(best.runs.num_bits, 100 + 9) << "a bit an edge, and 500 in 9 bits";
  EXPECT_EQ(best.fixed.num_lists, 1);
  EXPECT_EQ(best.fixed.num_bits, 4 * 4) << "11 in 4 bits";
  EXPECT_EQ(best.elias_fano.num_lists, 1);
  EXPECT_EQ(best.elias_fano.num_edges, 200);
  // Blocks of 128 and 72 with 9 lower bits: 128 + 127000 >> 9 = 376 upper ones in 12 words, 72 + 71000 >> 9 = 210 in 7.
  EXPECT_EQ(best.elias_fano.num_bits, 32 * (2 * 2 + (36 + 12) + (21 + 7)));
  EXPECT_EQ(best.vbyte.num_lists, 0);
  EXPECT_EQ(best.header_bits, 3 * 8);

  list_statistics const vbyte = count_lists(compress(g, graph_form::vbyte));
  EXPECT_EQ(vbyte.vbyte.num_edges, 304);
  // Groups of 32 gaps behind 4 bytes of places: 100 gaps (500 takes 2 bytes, and so do 532, 564 and 596).
  std::int64_t const run = 4 * 4 + 25 + 100 + 4;
  std::int64_t const near = 1 + 4;
  // 1,000 takes 2 bytes; 0 takes one, 32,000 and 64,000 two, 96,000 and more three.
  std::int64_t const far = 7 * 4 + 50 + 2 * 200 - 1 + 4;
  EXPECT_EQ(vbyte.vbyte.num_bits, 8 * (run + near + far));
  EXPECT_EQ(vbyte.header_bits, 0) << "lists with one header share it";

  list_statistics const csr = count_lists(g);
  EXPECT_EQ(csr.csr.num_lists, 3);
  EXPECT_EQ(csr.csr.num_edges, 304);
  EXPECT_EQ(csr.csr.num_bits, 32 * 304);
  EXPECT_DOUBLE_EQ(csr.csr.bits_per_edge(), 32);
  EXPECT_EQ(csr.directory_bits, 64 * 200'002);
  EXPECT_EQ(csr.csr_bits, csr.csr.num_bits + csr.directory_bits);
  EXPECT_EQ(csr.fixed.num_lists, 0);
}

/// The header of a packed block is its own, and so are its lists' widths.
TEST(ListStatistics, PackedListsShareAWidth)
{
  graph const g = from_lists({{0, 1}, {0, 1, 2, 3, 4, 5}, {}, {5}, {}, {}});
  list_statistics const s = count_lists(compress(g, graph_form::packed));
  EXPECT_EQ(s.fixed.num_lists, 3);
  EXPECT_EQ(s.fixed.num_bits, 9 * 3) << "5 in 3 bits";
  EXPECT_EQ(s.header_bits, 0);
}

TEST(ListStatistics, ThreadsDoNotChangeThem)
{
  graph const small = compress(generate_web({60'000, 10}, {}), graph_form::best);
  cpu_exec exec;
  exec.num_threads = 1;
  list_statistics const one = count_lists(small, exec);
  exec.num_threads = 7;
  list_statistics const seven = count_lists(small, exec);
  for (auto const code : codes) {
    EXPECT_EQ((one.*code).num_lists, (seven.*code).num_lists);
    EXPECT_EQ((one.*code).num_edges, (seven.*code).num_edges);
    EXPECT_EQ((one.*code).num_bits, (seven.*code).num_bits);
  }
  EXPECT_EQ(one.header_bits, seven.header_bits);
  EXPECT_EQ(one.padding_bits, seven.padding_bits);
}

TEST(ListStatistics, EmptyGraphs)
{
  for (graph const& g : {graph(), from_lists({{}, {}})}) {
    for (graph_form const form : compressed_forms) {
      list_statistics const s = count_lists(compress(g, form));
      for (auto const code : codes) {
        EXPECT_EQ((s.*code).num_lists, 0);
        EXPECT_EQ((s.*code).bits_per_edge(), 0);
      }
    }
    EXPECT_EQ(count_lists(g).csr.num_lists, 0);
  }
}

TEST(ListStatistics, UnsoundGraphsAreRefused)
{
  graph_arrays arrays = compress(test::simple_rmat(), graph_form::best).arrays();
  std::vector<list_block> blocks = test::to_vector(arrays.compressed.blocks);
  blocks[0].halves[0].head.bits |= std::uint64_t{3} << half_head::kind_shift;
  arrays.compressed.blocks = test::to_array(blocks);
  graph const bad(std::move(arrays));
  EXPECT_EQ(test::message_of<format_error>([&] { (void)count_lists(bad); }),
            "vertex 0: its block of the directory is of kind 3, expected at most 2");
}

}  // namespace
}  // namespace tendril
