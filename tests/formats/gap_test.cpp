// GAP files: what the suite writes is read, what is written has its layout, and files that lie are refused in one line.

#include <fmt/format.h>
#include <tendril/io.hpp>

#include "formats/readers.hpp"
#include "support/binary_files.hpp"

namespace tendril {
namespace {

using test::pack;
using test::pack_all;

std::string lists(std::vector<std::int64_t> const& offsets, std::vector<std::int32_t> const& neighbors)
{
  return pack_all(offsets) + pack_all(neighbors);
}

std::string header(bool directed, std::int64_t num_edges, std::int64_t num_vertices)
{
  return pack(directed, num_edges, num_vertices);
}

// 0 -> 1, 0 -> 2, 1 -> 0 with the incoming edges after them, and the path 0 - 1 - 2 in both directions.
std::string const directed = header(true, 3, 3) + lists({0, 2, 3, 3}, {1, 2, 0}) + lists({0, 1, 2, 3}, {1, 0, 0});
std::string const path = header(false, 4, 3) + lists({0, 1, 3, 4}, {1, 0, 2, 1});
std::string const weighted_path = header(false, 4, 3) + lists({0, 1, 3, 4}, {1, 5, 0, 5, 2, 9, 1, 9});

graph read(std::string const& file, std::string const& name = "g.sg")
{
  return formats::read_gap(name, test::as_bytes(file), nullptr, {}, {});
}

std::string refusal(std::string const& file)
{
  return test::message_of<format_error>([&] { (void)read(file); });
}

TEST(Gap, DirectedGraphsAreRead)
{
  graph const g = read(directed);
  g.validate();
  EXPECT_EQ(test::to_vector(g.arrays().indptr), (std::vector<edge_id>{0, 2, 3, 3}));
  EXPECT_EQ(test::to_vector(g.arrays().indices), (std::vector<vertex_id>{1, 2, 0}));
  EXPECT_FALSE(g.arrays().symmetric);
  EXPECT_FALSE(g.has_weights());
}

TEST(Gap, UndirectedAndWeightedGraphsAreReadWhateverTheirName)
{
  EXPECT_TRUE(read(path).arrays().symmetric);
  for (char const* const name : {"g.sg", "g.wsg"}) {
    graph const g = read(weighted_path, name);
    g.validate();
    EXPECT_TRUE(g.arrays().symmetric);
    EXPECT_EQ(test::to_vector(g.arrays().indices), (std::vector<vertex_id>{1, 0, 2, 1}));
    EXPECT_EQ(test::to_vector(g.arrays().weights), (std::vector<float>{5, 5, 9, 9}));
  }
}

TEST(Gap, NeighboursThatDontAscendAreSortedWithTheirWeights)
{
  graph const g =
      read(header(true, 3, 3) + lists({0, 3, 3, 3}, {2, 7, 1, 8, 0, 9}) + lists({0, 1, 2, 3}, {0, 9, 0, 8, 0, 7}));
  g.validate();
  EXPECT_EQ(test::to_vector(g.arrays().indices), (std::vector<vertex_id>{0, 1, 2}));
  EXPECT_EQ(test::to_vector(g.arrays().weights), (std::vector<float>{9, 8, 7}));
}

TEST(Gap, WrittenFilesHaveTheSuitesLayout)
{
  test::scratch_folder const folder;
  write_graph(read(directed), folder / "d.sg");
  EXPECT_EQ(test::read_bytes(folder / "d.sg"), directed);
  write_graph(read(path), folder / "p.sg");
  EXPECT_EQ(test::read_bytes(folder / "p.sg"), path);
  write_graph(read(weighted_path), folder / "p.wsg");
  EXPECT_EQ(test::read_bytes(folder / "p.wsg"), weighted_path);
  write_graph(graph(), folder / "none.sg");
  EXPECT_EQ(read_graph(folder / "none.sg").num_vertices(), 0);
}

TEST(Gap, WhatTheFormatCannotHoldIsNotWritten)
{
  test::scratch_folder const folder;
  auto const refused = [&](graph const& g, char const* name) {
    std::string const file = folder / name;
    std::string const message = test::message_of<argument_error>([&] { write_graph(g, file); });
    EXPECT_FALSE(std::filesystem::exists(file));
    EXPECT_EQ(message.substr(0, file.size() + 2), file + ": ");
    return message.substr(std::min(message.size(), file.size() + 2));
  };
  EXPECT_EQ(refused(read(weighted_path), "g.sg"), "the graph has weights, which a .sg file cannot hold: name it .wsg");
  EXPECT_EQ(refused(read(path), "g.wsg"), "the graph has no weights, which a .wsg file must have: name it .sg");
  EXPECT_EQ(refused(test::make_full_graph(), "g.wsg"), "the graph has edge labels, which a GAP file cannot hold");
  graph_arrays arrays = test::make_full_graph().arrays();
  arrays.edge_labels = {};
  EXPECT_EQ(refused(graph(arrays), "g.wsg"), "the graph has node types, which a GAP file cannot hold");
  arrays.node_types = {};
  EXPECT_EQ(refused(graph(arrays), "g.wsg"), "edge 0: weight 0.5, expected an integer below 2^31 for a GAP file");
}

TEST(Gap, FilesThatLieAreRefused)
{
  EXPECT_EQ(refusal("short"), "g.sg: 5 bytes, expected a header of 17");
  EXPECT_EQ(refusal("\x02" + path.substr(1)), "g.sg: directed is 2, expected 0 or 1");
  for (std::int64_t const lie : {std::int64_t{-1}, std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(refusal(header(false, lie, 3) + path.substr(17)),
              fmt::format("g.sg: {} edges, expected at most 16 in 65 bytes", lie));
    EXPECT_EQ(refusal(header(false, 4, lie) + path.substr(17)),
              fmt::format("g.sg: {} vertices, expected at most 8 in 65 bytes", lie));
  }
  EXPECT_EQ(refusal(header(false, 3, 3) + path.substr(17)),
            "g.sg: 65 bytes, expected 61 or, with weights, 73 for 3 vertices and 3 undirected edges");
  for (std::size_t size = 17; size < directed.size(); ++size) { EXPECT_NE(refusal(directed.substr(0, size)), ""); }
  EXPECT_EQ(refusal(header(false, 4, 3) + lists({0, 1, 3, 4}, {1, 0, -2, 1})),
            "g.sg: edge 2: neighbour -2, expected an id in [0, 3)");
  EXPECT_EQ(refusal(header(false, 4, 3) + lists({0, 3, 1, 4}, {1, 0, 2, 1})),
            "g.sg: vertex 1: its edges end at 1 but begin at 3, expected an indptr that never decreases");
  EXPECT_EQ(refusal(header(false, 4, 3) + lists({0, 1, 3, 5}, {1, 0, 2, 1})),
            "g.sg: graph: indptr ends with 5, expected the number of indices, 4");
  EXPECT_EQ(refusal(header(false, 4, 3) + lists({0, 1, 3, 4}, {7, 2, 0, 1})),
            "g.sg: edge 0: neighbour 7, expected an id below 3");
}

TEST(Gap, UndirectedFilesThatMissAReverseAreRefused)
{
  test::scratch_folder const folder;
  std::string const file = folder.write("g.sg", header(false, 1, 2) + lists({0, 1, 1}, {1}));
  std::string const message = test::message_of<format_error>([&] { (void)read_graph(file); });
  EXPECT_EQ(message, file + ": vertex 0: 1 edges to 1 at edge 0 but 0 back, expected as many in a symmetric graph");
}

}  // namespace
}  // namespace tendril
