// A file's format is told by its first bytes, then by its name; it can be forced; formats have names.

#include "formats/text_support.hpp"

namespace tendril {
namespace {

using namespace test;
using namespace std::string_literals;

TEST(FormatDetection, ByContentWhateverTheName)
{
  temporary_folder const folder;
  auto const detect = [&](std::string const& name, std::string_view content) {
    return detect_graph_format(folder.write(name, content));
  };
  EXPECT_EQ(detect("a.txt", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n"), graph_format::matrix_market);
  EXPECT_EQ(detect("a", "%%matrixmarket matrix"), graph_format::matrix_market);
  EXPECT_EQ(detect("a.gz", gzipped("%%MatrixMarket matrix coordinate")), graph_format::matrix_market);
  EXPECT_EQ(detect("b.txt", "PK\x03\x04rest"), graph_format::npz);
  EXPECT_EQ(detect("c.bin", "\x02\0\0\0\0\0\0\0{}"s), graph_format::safetensors);
  EXPECT_EQ(detect("d.unknown", "0 1\n"), graph_format::text_edges);
  EXPECT_EQ(detect("d", "# a comment\n"), graph_format::text_edges);
  EXPECT_EQ(detect("d.gz", gzipped("0 1\n")), graph_format::text_edges);
}

TEST(FormatDetection, ByNameWhereContentDoesNotTell)
{
  temporary_folder const folder;
  auto const detect = [&](std::string const& name) { return detect_graph_format(folder.write(name, "1 2\n")); };
  for (auto const* const name : {"a.txt", "a.tsv", "a.csv", "a.el", "a.wel"}) {
    EXPECT_EQ(detect(name), graph_format::text_edges) << name;
  }
  EXPECT_EQ(detect("a.mtx"), graph_format::matrix_market);
  EXPECT_EQ(detect("a.npz"), graph_format::npz);
  EXPECT_EQ(detect("a.sg"), graph_format::gap);
  EXPECT_EQ(detect("a.wsg"), graph_format::gap);
  EXPECT_EQ(detect("a.metis"), graph_format::metis);
  EXPECT_EQ(detect("a.safetensors"), graph_format::safetensors);
}

TEST(FormatDetection, GraphIsMetisOrWebgraph)
{
  temporary_folder const folder;
  EXPECT_EQ(detect_graph_format(folder.write("a.graph", "2 1\n2\n1\n")), graph_format::metis);
  EXPECT_EQ(detect_graph_format(folder.write("b.graph", "\x01\x9e\0"s)), graph_format::webgraph);
  (void)folder.write("a.properties", "nodes=2\n");
  EXPECT_EQ(detect_graph_format(folder.file("a.graph")), graph_format::webgraph);
}

TEST(FormatDetection, UnknownIsRefused)
{
  temporary_folder const folder;
  std::string const path = folder.write("a.dat", "\x01\x02\x03");
  try {
    (void)detect_graph_format(path);
    FAIL();
  } catch (format_error const& problem) {
    EXPECT_EQ(problem.what(), path +
                                  ": neither content nor extension tells the format, expected a graph as safetensors, "
                                  "edge-list, matrix-market, npz, gap, metis, webgraph, coo32, coo64 or npy");
  }
  EXPECT_THROW((void)detect_graph_format(folder.write("empty", "")), format_error);
  EXPECT_THROW((void)detect_graph_format(folder.file("none")), io_error);
}

TEST(FormatDetection, CanBeForced)
{
  temporary_folder const folder;
  std::string const path = folder.write("a.txt", "3 2\n2\n1 3\n2\n");
  EXPECT_THROW((void)read_graph(path), format_error);
  EXPECT_EQ(read_graph(path, {.format = graph_format::metis}).num_edges(), 4);
  EXPECT_THROW((void)read_graph(path, {.format = graph_format::npz}), format_error);
  EXPECT_THROW((void)read_graph(path, {.format = graph_format::metis, .columns = {"source", "target"}}),
               argument_error);
}

TEST(FormatDetection, NamesOfFormats)
{
  for (auto const format : {graph_format::automatic, graph_format::safetensors, graph_format::text_edges,
                            graph_format::matrix_market, graph_format::npz, graph_format::gap, graph_format::metis,
                            graph_format::webgraph, graph_format::coo32, graph_format::coo64, graph_format::npy}) {
    EXPECT_EQ(parse_name<graph_format>("format", to_string(format)), format);
  }
  EXPECT_EQ(to_string(graph_format::text_edges), "edge-list");
  try {
    (void)parse_name<graph_format>("format", "edges");
    FAIL();
  } catch (argument_error const& problem) {
    EXPECT_STREQ(
        problem.what(),
        "format: 'edges', expected auto, safetensors, edge-list, matrix-market, npz, gap, metis, webgraph, coo32, "
        "coo64 or npy");
  }
}

}  // namespace
}  // namespace tendril
