// WebGraph graphs decode to what was encoded, under every code, window and number of threads.

#include <algorithm>
#include <random>
#include <set>

#include <tendril/io.hpp>

#include "formats/webgraph.hpp"
#include "formats/webgraph_encoder.hpp"
#include "support/binary_files.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

using formats::webgraph_files;
using test::adjacency;
using test::webgraph_bytes;
using test::webgraph_settings;

/// Lists in which neighbours come in runs and much is shared with the lists before: all parts of the format occur.
adjacency make_web(std::size_t num_vertices, unsigned seed)
{
  std::mt19937 random(seed);
  auto const below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  adjacency lists(num_vertices);
  for (std::size_t x = 0; x < num_vertices; ++x) {
    std::set<std::uint32_t> list;
    if (x > 0 && below(4) != 0) {
      for (std::uint32_t const v : lists[x - 1 - below(std::min<std::size_t>(x, 5))]) {
        if (below(5) != 0) { list.insert(v); }
      }
    }
    for (std::uint32_t runs = below(3); runs > 0; --runs) {
      std::uint32_t const first = below(num_vertices);
      std::size_t const last = std::min<std::size_t>(num_vertices, first + 1 + below(12));
      for (std::uint32_t v = first; v < last; ++v) { list.insert(v); }
    }
    for (std::uint32_t singles = below(5); singles > 0; --singles) { list.insert(below(num_vertices)); }
    if (below(6) != 0) { lists[x].assign(list.begin(), list.end()); }
  }
  return lists;
}

graph decode(webgraph_bytes const& encoded, bool with_offsets, int num_threads)
{
  webgraph_files files{"web.graph", encoded.graph, encoded.properties, {}};
  if (with_offsets) { files.offsets = encoded.offsets; }
  cpu_exec exec;
  exec.num_threads = num_threads;
  return formats::decode_webgraph(files, exec);
}

adjacency to_lists(graph const& g)
{
  adjacency lists(static_cast<std::size_t>(g.num_vertices()));
  auto const view = g.csr();
  for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
    lists[static_cast<std::size_t>(v)].assign(view.indices + view.indptr[v], view.indices + view.indptr[v + 1]);
  }
  return lists;
}

void expect_round_trip(adjacency const& lists, webgraph_settings const& settings)
{
  webgraph_bytes const encoded = test::webgraph_encoder(lists, settings).encode();
  for (bool const with_offsets : {false, true}) {
    for (int const threads : {1, 3}) {
      graph const g = decode(encoded, with_offsets, threads);
      g.validate();
      ASSERT_EQ(to_lists(g), lists) << encoded.properties << "offsets " << with_offsets << ", threads " << threads;
    }
  }
}

TEST(WebGraph, RoundTripsUnderTheDefaultSettings) { expect_round_trip(make_web(3000, 1), {}); }

TEST(WebGraph, RoundTripsUnderEveryCodeOfEveryPart)
{
  adjacency const lists = make_web(300, 2);
  std::string webgraph_settings::*const parts[] = {&webgraph_settings::outdegrees,   &webgraph_settings::references,
                                                   &webgraph_settings::block_counts, &webgraph_settings::blocks,
                                                   &webgraph_settings::residuals,    &webgraph_settings::offsets};
  for (auto const part : parts) {
    for (char const* const code : {"GAMMA", "DELTA", "ZETA", "UNARY", "NIBBLE", "GOLOMB", "SKEWED_GOLOMB"}) {
      webgraph_settings settings;
      settings.*part = code;
      expect_round_trip(lists, settings);
    }
  }
}

TEST(WebGraph, RoundTripsUnderEveryParameterOfZetaAndGolomb)
{
  adjacency const lists = make_web(300, 3);
  for (char const* const code : {"ZETA", "GOLOMB", "SKEWED_GOLOMB"}) {
    for (unsigned k = 1; k <= 9; ++k) {
      webgraph_settings settings;
      settings.residuals = code;
      settings.k = k;
      expect_round_trip(lists, settings);
    }
  }
}

TEST(WebGraph, RoundTripsUnderEveryWindowChainAndIntervalLength)
{
  adjacency const lists = make_web(300, 4);
  for (std::size_t const window : {0, 1, 2, 7, 70, 1000}) {
    if (test::is_sanitized && window != 0 && window != 2 && window != 1000) { continue; }
    for (int const chain : {-1, 1, 3}) {
      for (std::size_t const interval : {0, 1, 2, 4, 9}) {
        webgraph_settings settings;
        settings.window = window;
        settings.max_chain = chain;
        settings.min_interval = interval;
        expect_round_trip(lists, settings);
      }
    }
  }
}

TEST(WebGraph, ChainsOfReferencesThatCrossAllRangesOfThreadsAreFollowed)
{
  adjacency lists(20'000);  // list x: x mod 7, and what all lists share, each copied from the list before
  for (std::size_t x = 0; x < lists.size(); ++x) {
    lists[x] = {static_cast<std::uint32_t>(x % 7), 10, 20, 21, 22, 23, 19'999};
  }
  webgraph_settings settings;
  settings.window = 1;
  settings.max_chain = -1;
  expect_round_trip(lists, settings);
}

TEST(WebGraph, GraphsWithoutEdgesOrVerticesAreRead)
{
  expect_round_trip(adjacency(17), {});
  expect_round_trip({}, {});
  expect_round_trip({{0}}, {});
}

TEST(WebGraph, OpensFromFilesWithAndWithoutOffsets)
{
  adjacency const lists = make_web(500, 5);
  webgraph_bytes const encoded = test::webgraph_encoder(lists, {}).encode();
  test::scratch_folder const folder;
  std::string const path = folder.write("web.graph", encoded.graph);
  EXPECT_EQ(test::message_of<io_error>([&] {
              (void)read_graph(path, {graph_format::webgraph, {}, {}});
            }),
            folder / "web.properties" + ": cannot open: No such file or directory");
  folder.write("web.properties", encoded.properties);
  EXPECT_EQ(to_lists(read_graph(path)), lists);
  folder.write("web.offsets", encoded.offsets);
  EXPECT_EQ(to_lists(read_graph(path)), lists);
}

TEST(WebGraph, RealGraphsDecodeToTheirPublishedArcs)
{
  std::string const npz = test::shared_data("cnr-2000/graph.npz");
  if (npz.empty()) { GTEST_SKIP() << "cnr-2000 is not here; TENDRIL_SHARED_DATA names the folder of the large data"; }
  graph const expected = read_graph(npz);
  EXPECT_EQ(expected.num_edges(), 3'216'152);
  for (char const* const name : {"raw/cnr-2000.graph", "raw/cnr-2000-hc.graph"}) {
    test::expect_same_arrays(read_graph(test::shared_data(name)), expected);
  }
  graph const uk = read_graph(test::shared_data("raw/uk-2007-05@100000.graph"));  // has no .offsets
  EXPECT_EQ(uk.num_vertices(), 100'000);
  EXPECT_EQ(uk.num_edges(), 3'050'615);
  std::int64_t largest = 0, loops = 0;
  for (vertex_id v = 0; v < 100'000; ++v) {
    largest = std::max<std::int64_t>(largest, uk.csr().degree(v));
    for (std::uint32_t i = 0; i < uk.csr().degree(v); ++i) { loops += uk.csr().neighbor(v, i) == v ? 1 : 0; }
  }
  EXPECT_EQ(largest, 3'753);
  EXPECT_EQ(loops, 15'670);
}

}  // namespace
}  // namespace tendril
