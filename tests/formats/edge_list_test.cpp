// An edge list gives the edges that its lines say, whatever its columns, separators, line ends and comments.

#include "formats/text_support.hpp"

namespace tendril {
namespace {

using namespace test;

graph read(std::string_view text, read_options const& options = {}, int threads = 1)
{
  return read_text(formats::read_edge_list, "list", text, options, threads);
}

TEST(EdgeList, PairsSeparatedByBlanks)
{
  graph const g = read("0 1\n2\t0\n0  \t 2\n");
  EXPECT_EQ(g.num_vertices(), 3);
  EXPECT_EQ(edges_of(g), (edges{{0, 1}, {0, 2}, {2, 0}}));
  EXPECT_FALSE(g.has_weights());
  EXPECT_FALSE(g.has_edge_labels());
  EXPECT_FALSE(g.arrays().symmetric);
}

TEST(EdgeList, ThirdColumnIsTheWeightAndFourthTheLabel)
{
  EXPECT_EQ(edges_of(read("0 1 2.5\n1 0 1e-3\n1 1 +4\n0 0 7\n1 1 16777217\n")),
            (edges{{0, 0, 7}, {0, 1, 2.5F}, {1, 0, 1e-3F}, {1, 1, 4}, {1, 1, 16777216}}));
  graph const g = read("0 1 2.5 3\n1 0 0 255\n");
  EXPECT_EQ(edges_of(g), (edges{{0, 1, 2.5F, 3}, {1, 0, 0, 255}}));
  EXPECT_EQ(g.arrays().edge_labels.bytes_per_label(), 1);
  graph const wide = read("0 1 2.5 3\n1 0 0 65535\n");
  EXPECT_EQ(edges_of(wide), (edges{{0, 1, 2.5F, 3}, {1, 0, 0, 65535}}));
  EXPECT_EQ(wide.arrays().edge_labels.bytes_per_label(), 2);
}

TEST(EdgeList, CommentsBlankLinesAndLineEnds)
{
  edges const expected{{0, 1}, {1, 2}};
  EXPECT_EQ(edges_of(read("# a\n% b\n\n  \t\n0 1  \n   # c\n\t1 2\t\n\n")), expected);
  EXPECT_EQ(edges_of(read("# a\r\n0 1\r\n\r\n1\t2 \r\n")), expected);
  EXPECT_EQ(edges_of(read("0 1\n1 2")), expected);
  EXPECT_EQ(edges_of(read("0 1\r\n1 2\r")), expected);
  EXPECT_EQ(edges_of(read("\xef\xbb\xbf"
                          "0 1\n1 2\n")),
            expected);
}

TEST(EdgeList, CommasAndOneHeaderLine)
{
  edges const expected{{0, 1, 3}, {1, 2, 4}};
  EXPECT_EQ(edges_of(read("0,1,3\n1,2,4\n")), expected);
  EXPECT_EQ(edges_of(read("from,to,strength\n0 , 1,\t3\r\n1,2,4\n")), expected);
  EXPECT_EQ(edges_of(read("\xef\xbb\xbf\"from\",\"to\",\"w\"\n0,1,3\n1,2,4\n")), expected);
  EXPECT_EQ(edges_of(read("FromNodeId\tToNodeId\n0\t1\n1\t2\n")), (edges{{0, 1}, {1, 2}}));
  EXPECT_EQ(
      refusal(formats::read_edge_list, "list", "from,to\nfrom,to\n0,1\n"),
      "list:2: source 'from', expected an integer in [0, 16777215] (a file this small has larger ids only with compact "
      "or num_vertices set)");
}

TEST(EdgeList, HeaderOfOurNamesOrdersTheColumns)
{
  EXPECT_EQ(edges_of(read("label,target,source\n7,1,0\n8,0,1\n")), (edges{{0, 1, 1, 7}, {1, 0, 1, 8}}));
  EXPECT_EQ(edges_of(read("label,target,source\n7,1,0\n", {.columns = {"source", "target", "-"}})), (edges{{7, 1}}));
}

TEST(EdgeList, NamedColumns)
{
  // The layout of SNAP's signed bitcoin lists: source, target, rating, time.
  std::string_view const text = "6,2,-4,1289241911.72836\n2,5,2,1289241941.53378\n";
  EXPECT_EQ(edges_of(read(text, {.columns = {"source", "target", "-", "-"}})), (edges{{2, 5}, {6, 2}}));
  EXPECT_EQ(edges_of(read("1 0 x 2\n", {.columns = {"target", "source", "-", "weight"}})), (edges{{0, 1, 2}}));
  EXPECT_EQ(edges_of(read("0,1,,a b,5\n", {.columns = {"source", "target", "-", "-", "label"}})),
            (edges{{0, 1, 1, 5}}));
  auto const message = [&](std::vector<std::string> columns) {
    return refusal(formats::read_edge_list, "list", text, {.columns = std::move(columns)});
  };
  EXPECT_EQ(message({"source", "to"}), "columns: 'to', expected source, target, weight, label or - (ignore)");
  EXPECT_EQ(message({"source", "-"}), "columns: 1 source and 0 target, expected one of each");
  EXPECT_EQ(message({"source", "target", "weight", "weight"}),
            "columns: 2 weight and 0 label, expected at most one of each");
}

TEST(EdgeList, OnlyCommentsGiveAGraphWithoutVertices)
{
  graph const g = read("# nothing here\n\n");
  EXPECT_EQ(g.num_vertices(), 0);
  EXPECT_EQ(g.num_edges(), 0);
}

TEST(EdgeList, NumbersOfEveryLengthAtEveryDistanceFromTheEnd)
{
  // Eight characters are read at a time where there are eight: lengths 1 to 20, leading zeros, both ends of the text.
  for (std::string const id :
       {"0", "7", "42", "123", "9999", "10000", "654321", "1234567", "01234567", "001234567", "00000000000001234567"}) {
    auto const value = std::stoll(id);
    for (std::string const tail : {"", "\n", "\n\n", " \n", "\n# end of it\n", "\n0 0\n"}) {
      graph const g = read("0 " + id + tail);
      edges expected{{0, value}};
      if (tail == "\n0 0\n") { expected = {{0, 0}, {0, value}}; }
      if (value == 0 && expected.size() == 2) { expected = {{0, 0}, {0, 0}}; }
      EXPECT_EQ(edges_of(g), expected) << id << tail;
    }
  }
}

TEST(EdgeList, BuildOptionsApply)
{
  read_options options;
  options.build.symmetrize = true;
  options.build.num_vertices = 5;
  graph const g = read("0 1\n1 2\n", options);
  EXPECT_EQ(g.num_vertices(), 5);
  EXPECT_EQ(edges_of(g), (edges{{0, 1}, {1, 0}, {1, 2}, {2, 1}}));
  EXPECT_TRUE(g.arrays().symmetric);

  read_options compact;
  compact.build.compact = true;
  graph const c = read("4294967294 7\n7 1000000000\n", compact);
  EXPECT_EQ(edges_of(c), (edges{{0, 1}, {2, 0}}));
  EXPECT_EQ(c.arrays().original_ids[2], 4294967294U);
}

TEST(EdgeList, EdgeIdsAreLinesThatHoldAnEdge)
{
  read_options options;
  options.build.keep_edge_ids = true;
  graph const g = read("# c\n1 0\n\n0 2\n0 1\n", options);
  auto const& ids = g.arrays().edge_ids;
  EXPECT_EQ(std::vector<edge_id>(ids.begin(), ids.end()), (std::vector<edge_id>{2, 1, 0}));
}

TEST(EdgeList, WikiVote)
{
  graph const g = read_graph(fixture("wiki-Vote.txt.gz"));
  EXPECT_EQ(g.num_edges(), 103689);
  EXPECT_EQ(g.num_vertices(), 8298);  // ids have gaps
  read_options options;
  options.build.compact = true;
  EXPECT_EQ(read_graph(fixture("wiki-Vote.txt.gz"), options).num_vertices(), 7115);
}

}  // namespace
}  // namespace tendril
