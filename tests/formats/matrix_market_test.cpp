// A Matrix Market file gives an edge an entry, or two where it is symmetric, vertices counted from 0.

#include "formats/text_support.hpp"

namespace tendril {
namespace {

using namespace test;

graph read(std::string_view text, read_options const& options = {})
{
  return read_text(formats::read_matrix_market, "m.mtx", text, options);
}

TEST(MatrixMarket, PatternGeneral)
{
  graph const g = read("%%MatrixMarket matrix coordinate pattern general\n% c\n\n4 4 3\n1 2\n3 1\n1 1\n");
  EXPECT_EQ(g.num_vertices(), 4);
  EXPECT_EQ(edges_of(g), (edges{{0, 0}, {0, 1}, {2, 0}}));
  EXPECT_FALSE(g.has_weights());
  EXPECT_FALSE(g.arrays().symmetric);
}

TEST(MatrixMarket, RealAndIntegerValuesAreWeights)
{
  EXPECT_EQ(edges_of(read("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 0.5\n2 1 1.25E+2\n")),
            (edges{{0, 1, 0.5F}, {1, 0, 125}}));
  EXPECT_EQ(edges_of(read("%%matrixmarket MATRIX Coordinate Integer General\r\n2 2 1\r\n1 2 9\r\n")),
            (edges{{0, 1, 9}}));
}

TEST(MatrixMarket, SymmetricEntriesStandForBothDirections)
{
  graph const g = read("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 5\n2 1 6\n3 2 7\n");
  EXPECT_EQ(edges_of(g), (edges{{0, 0, 5}, {0, 1, 6}, {1, 0, 6}, {1, 2, 7}, {2, 1, 7}}));
  EXPECT_TRUE(g.arrays().symmetric);
}

TEST(MatrixMarket, ValuesCanBeLeftOut)
{
  std::string_view const text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -0.5\n";
  EXPECT_EQ(edges_of(read(text, {.columns = {"source", "target", "-"}})), (edges{{0, 1}}));
  EXPECT_EQ(
      refusal(formats::read_matrix_market, "m.mtx", text),
      "m.mtx:3: weight '-0.5', expected a finite number of at least 0 (the columns source target - ignore the values)");
  EXPECT_EQ(refusal(formats::read_matrix_market, "m.mtx", text, {.columns = {"target", "source", "-"}}),
            "columns: a Matrix Market file has source target weight, where - in place of weight ignores the values");
}

TEST(MatrixMarket, Chesapeake)
{
  graph const g = read_graph(fixture("chesapeake.mtx"));
  EXPECT_EQ(g.num_vertices(), 39);
  EXPECT_EQ(g.num_edges(), 340);  // 170 entries, none on the diagonal
  EXPECT_TRUE(g.arrays().symmetric);
}

TEST(MatrixMarket, Refusals)
{
  auto const message = [](std::string_view text) { return refusal(formats::read_matrix_market, "m.mtx", text); };
  std::string const banner = "%%MatrixMarket matrix coordinate ";
  EXPECT_EQ(message("1 2\n"), "m.mtx:1: '1 2', expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
  EXPECT_EQ(message("%%MatrixMarket matrix array real general\n"),
            "m.mtx:1: 'array', expected coordinate (a sparse matrix)");
  EXPECT_EQ(message("%%MatrixMarket vector coordinate real general\n"), "m.mtx:1: 'vector', expected matrix");
  EXPECT_EQ(message(banner + "complex general\n"), "m.mtx:1: 'complex', expected pattern, real or integer");
  EXPECT_EQ(message(banner + "real hermitian\n"), "m.mtx:1: 'hermitian', expected general or symmetric");
  EXPECT_EQ(message(banner + "real skew-symmetric\n"), "m.mtx:1: 'skew-symmetric', expected general or symmetric");
  EXPECT_EQ(message(banner + "real general\n% only this\n"),
            "m.mtx:3: the file ends, expected a line of three counts: rows columns entries");
  EXPECT_EQ(message(banner + "real general\n2 2\n"), "m.mtx:2: '2 2', expected three counts: rows columns entries");
  EXPECT_EQ(message(banner + "real general\n2 2 -1\n"),
            "m.mtx:2: '2 2 -1', expected three counts: rows columns entries");
  EXPECT_EQ(message(banner + "real general\n2 2 99999999999999999999\n"),
            "m.mtx:2: '2 2 99999999999999999999', expected three counts: rows columns entries");
  EXPECT_EQ(message(banner + "real general\n2 3 1\n1 1 1\n"),
            "m.mtx:2: 2 rows and 3 columns, expected a square matrix");
  EXPECT_EQ(message(banner + "pattern general\n4294967296 4294967296 1\n1 1\n"),
            "m.mtx:2: 4294967296 rows, expected at most 4294967295");
  EXPECT_EQ(
      message(banner + "pattern general\n4000000000 4000000000 1\n1 1\n"),
      "m.mtx:2: 4000000000 rows, expected at most 16777216 in a file this small (compact or num_vertices lift that)");
  EXPECT_EQ(message(banner + "pattern general\n2 2 2\n1 1\n"), "m.mtx: 1 entry, expected 2, as the header says");
  EXPECT_EQ(message(banner + "pattern general\n2 2 1\n1 1\n2 2\n"), "m.mtx: 2 entries, expected 1, as the header says");
  EXPECT_EQ(message(banner + "pattern general\n2 2 9000000000000000000\n1 1\n"),
            "m.mtx: 1 entry, expected 9000000000000000000, as the header says");
  EXPECT_EQ(message(banner + "pattern general\n2 2 1\n0 1\n"),
            "m.mtx:3: source '0', expected an integer in [1, 2] (the header says how many rows there are)");
  EXPECT_EQ(message(banner + "pattern general\n2 2 1\n1 3\n"),
            "m.mtx:3: target '3', expected an integer in [1, 2] (the header says how many rows there are)");
  EXPECT_EQ(message(banner + "pattern general\n2 2 1\n1 2 3\n"),
            "m.mtx:3: 3 columns in '1 2 3', expected 2 separated by blanks: source target");
  EXPECT_EQ(message(banner + "integer general\n2 2 1\n1 2 1.5\n"),
            "m.mtx:3: weight '1.5', expected an integer of at least 0 (the columns source target - ignore the values)");
}

}  // namespace
}  // namespace tendril
