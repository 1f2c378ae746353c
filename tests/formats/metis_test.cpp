// A METIS file gives each vertex the neighbours of its line; sizes and weights of vertices are passed over.

#include "formats/text_support.hpp"

namespace tendril {
namespace {

using namespace test;

graph read(std::string_view text, read_options const& options = {}, int threads = 1)
{
  return read_text(formats::read_metis, "g.metis", text, options, threads);
}

edges const triangle{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}};

TEST(Metis, Neighbours)
{
  graph const g = read("% a comment\n4 3\n2 3\n1 3\n% another\n\t2 1 \n\n");
  EXPECT_EQ(g.num_vertices(), 4);
  EXPECT_EQ(edges_of(g), triangle);
  EXPECT_TRUE(g.arrays().symmetric);
  EXPECT_EQ(edges_of(read("3 3\r\n2 3\r\n1 3\r\n2 1\r\n")), triangle);
}

TEST(Metis, BlankLinesAreVerticesWithoutNeighbours)
{
  edges const expected{{1, 3}, {3, 1}};
  EXPECT_EQ(edges_of(read("5 1\n\n4\n\n2\n\n")), expected);
  EXPECT_EQ(read("5 1\n\n4\n\n2\n").num_vertices(), 5);          // the last, empty line lacks its line feed
  EXPECT_EQ(edges_of(read("5 1\n\n4\n\n2\n\n\n\n")), expected);  // blank lines at the end are no vertices
}

TEST(Metis, EdgeWeights)
{
  EXPECT_EQ(edges_of(read("3 2 1\n2 5 3 7\n1 5\n1 7\n")), (edges{{0, 1, 5}, {0, 2, 7}, {1, 0, 5}, {2, 0, 7}}));
  EXPECT_EQ(edges_of(read("3 2 001\n2 5 3 7\n1 5\n1 7\n")), (edges{{0, 1, 5}, {0, 2, 7}, {1, 0, 5}, {2, 0, 7}}));
}

TEST(Metis, SizesAndWeightsOfVerticesArePassedOver)
{
  EXPECT_EQ(edges_of(read("3 3 10\n9 2 3\n9 1 3\n9 2 1\n")), triangle);
  EXPECT_EQ(edges_of(read("3 3 10 2\n9 8 2 3\n9 8 1 3\n9 8 2 1\n")), triangle);
  EXPECT_EQ(edges_of(read("3 3 100\n9 2 3\n9 1 3\n9 2 1\n")), triangle);
  EXPECT_EQ(edges_of(read("2 1 111 2\n7 9 8 2 4\n7 9 8 1 4\n")), (edges{{0, 1, 4}, {1, 0, 4}}));
}

TEST(Metis, SelfLoops) { EXPECT_EQ(edges_of(read("2 2\n1 2\n1\n")), (edges{{0, 0}, {0, 1}, {1, 0}})); }

TEST(Metis, SymmetrizeAddsNothing)
{
  read_options options;
  options.build.symmetrize = true;
  EXPECT_EQ(edges_of(read("3 3\n2 3\n1 3\n2 1\n", options)), triangle);
}

TEST(Metis, SameGraphForAnyNumberOfThreads)
{
  // A ring of 60,000 with chords: more than one block, so vertices have to be counted across them.
  constexpr int n = 60000;
  std::string text = std::to_string(n) + " " + std::to_string(2 * n) + "\n";
  for (int v = 0; v < n; ++v) {
    for (int const step : {1, 17, n - 17, n - 1}) { text += std::to_string((v + step) % n + 1) + " "; }
    text += "\n";
  }
  ASSERT_GT(text.size(), 1000000U);
  auto const expected = edges_of(read(text));
  ASSERT_EQ(expected.size(), 4U * n);
  for (int v = 0; v < n; ++v) { EXPECT_EQ(expected[static_cast<std::size_t>(4 * v)].source, v); }
  EXPECT_EQ(edges_of(read(text, {}, 4)), expected);
  EXPECT_EQ(edges_of(read(gzipped(text), {}, 2)), expected);
  text.replace(text.rfind(" \n", text.size() - 3), 1, "x");
  EXPECT_EQ(refusal(formats::read_metis, "g.metis", text, {}, 4).substr(0, 14), "g.metis:60000:");
}

TEST(Metis, Polblogs)
{
  graph const g = read_graph(fixture("polblogs.graph.metis"));
  EXPECT_EQ(g.num_vertices(), 1490);
  EXPECT_EQ(g.num_edges(), 2 * 16715);
  std::int64_t isolated = 0;
  for (vertex_id v = 0; v < g.num_vertices(); ++v) { isolated += g.csr().degree(v) == 0 ? 1 : 0; }
  EXPECT_EQ(isolated, 266);
}

TEST(Metis, Refusals)
{
  auto const message = [](std::string_view text) { return refusal(formats::read_metis, "g.metis", text); };
  std::string_view const shape = ", expected a header: vertices edges [format [constraints]]";
  EXPECT_EQ(message("% nothing\n"), "g.metis:2: ''" + std::string(shape));
  EXPECT_EQ(message("3\n"), "g.metis:1: '3'" + std::string(shape));
  EXPECT_EQ(message("3 x\n"), "g.metis:1: '3 x'" + std::string(shape));
  EXPECT_EQ(message("-3 2\n"), "g.metis:1: '-3 2'" + std::string(shape));
  EXPECT_EQ(message("3 2 1 1 1\n"), "g.metis:1: '3 2 1 1 1'" + std::string(shape));
  EXPECT_EQ(message("3 2 2\n"), "g.metis:1: format '2', expected up to three digits, each 0 or 1");
  EXPECT_EQ(message("3 2 10 0\n"), "g.metis:1: 0 weights a vertex, expected 1 to 1024");
  EXPECT_EQ(message("4294967296 2\n"), "g.metis:1: 4294967296 vertices, expected at most 4294967295");
  EXPECT_EQ(message("4000000000 1\n2\n1\n"), "g.metis: 2 vertex lines, expected 4000000000, as the header says");
  EXPECT_EQ(message("2 1\n2\n1\n\n1\n"), "g.metis:5: the line of vertex 4, expected 2, as the header says");
  EXPECT_EQ(message("2 2\n2\n1\n"), "g.metis: 2 neighbours in all, expected twice the 2 edges of the header");
  EXPECT_EQ(message("2 9223372036854775809\n2\n1\n"),
            "g.metis: 2 neighbours in all, expected twice the 9223372036854775809 edges of the header");
  EXPECT_EQ(message("2 1\n3\n1\n"), "g.metis:2: neighbour '3', expected an integer in [1, 2]");
  EXPECT_EQ(message("2 1\n0\n1\n"), "g.metis:2: neighbour '0', expected an integer in [1, 2]");
  EXPECT_EQ(message("2 1\n2\n1a\n"), "g.metis:3: neighbour '1a', expected an integer in [1, 2]");
  EXPECT_EQ(message("2 1 1\n2\n1 1\n"), "g.metis:2: the line ends, expected a weight after each neighbour");
  EXPECT_EQ(message("2 1 1\n2 nan\n1 1\n"), "g.metis:2: edge weight 'nan', expected a finite number of at least 0");
  EXPECT_EQ(message("2 1 10 2\n5\n5 5 1\n"), "g.metis:2: the line ends, expected 2 numbers before the neighbours");
  EXPECT_EQ(message("2 1 10\nx 2\n5 1\n"), "g.metis:2: vertex weight 'x', expected an integer of at least 0");
  EXPECT_EQ(message("3 1\n2\n3\n\n").substr(0, 73),
            "g.metis: not symmetric, expected each edge in the lines of both ends: ver");
}

}  // namespace
}  // namespace tendril
