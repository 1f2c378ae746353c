// Binary pairs: files of nothing else and NumPy arrays are the same graph as a text of the same edges, and whatever holds
// no pairs of vertices is refused in one line.

#include <cstdint>
#include <string>
#include <vector>

#include "formats/text_support.hpp"
#include "support/binary_files.hpp"

namespace tendril {
namespace {

using test::npy;
using test::pack;

graph read(std::string const& bytes, graph_format format, read_options options = {}, int threads = 1)
{
  options.format = format;
  return test::read_text(formats::read_coo, "g.coo", bytes, options, threads);
}

std::string refusal(std::string const& bytes, graph_format format, read_options options = {}, int threads = 1)
{
  options.format = format;
  return test::refusal(formats::read_coo, "g.coo", bytes, options, threads);
}

using ids = std::vector<vertex_id>;

TEST(Coo, EveryLayoutHoldsTheSameEdges)
{
  auto const expect = [](graph const& g) {
    EXPECT_EQ(test::to_vector(g.arrays().indptr), (std::vector<edge_id>{0, 2, 2, 3}));
    EXPECT_EQ(test::to_vector(g.arrays().indices), (ids{1, 2, 0}));
  };
  auto const pairs = [](auto one) { return pack(one(0), one(2), one(2), one(0), one(0), one(1)); };
  auto const rows = [](auto one) { return pack(one(0), one(2), one(0), one(2), one(0), one(1)); };
  auto const u4 = [](int n) { return static_cast<std::uint32_t>(n); };
  auto const i4 = [](int n) { return static_cast<std::int32_t>(n); };
  auto const u8 = [](int n) { return static_cast<std::uint64_t>(n); };
  auto const i8 = [](int n) { return static_cast<std::int64_t>(n); };
  expect(read(pairs(u4), graph_format::coo32));
  expect(read(pairs(u8), graph_format::coo64));
  expect(read(npy("<i4", "(3, 2)", pairs(i4)), graph_format::npy));
  expect(read(npy("<u8", "(3, 2)", pairs(u8)), graph_format::npy));
  expect(read(npy("<u4", "(2, 3)", rows(u4)), graph_format::npy));
  expect(read(npy("<i8", "(2, 3)", rows(i8)), graph_format::npy));
  graph const square = read(npy("<u4", "(2, 2)", pack(0U, 1U, 2U, 3U)), graph_format::npy);
  EXPECT_EQ(test::to_vector(square.arrays().indices), (ids{2, 3})) << "two rows, as PyG has them";
  EXPECT_EQ(read(npy("<u4", "(0, 2)", ""), graph_format::npy).num_edges(), 0);
}

TEST(Coo, BuildsAsTextDoes)
{
  std::string const edges = pack(5U, 9U, 9U, 5U, 5U, 5U, 5U, 9U);
  read_options options;
  options.build.symmetrize = true;
  options.build.drop_duplicates = true;
  options.build.drop_self_loops = true;
  options.build.compact = true;
  graph const g = read(edges, graph_format::coo32, options);
  EXPECT_EQ(test::to_vector(g.arrays().indices), (ids{1, 0}));
  EXPECT_EQ(test::to_vector(g.arrays().original_ids), (ids{5, 9}));
  EXPECT_TRUE(g.arrays().symmetric);
}

TEST(Coo, RefusesWhatHoldsNoPairs)
{
  EXPECT_EQ(refusal("", graph_format::coo32), "g.coo: empty file, expected a graph");
  EXPECT_EQ(refusal(pack(1U, 2U, 3U), graph_format::coo32),
            "g.coo: 12 bytes, expected a multiple of 8: two numbers of 4 bytes an edge");
  EXPECT_EQ(refusal(pack(1U, 2U), graph_format::coo64),
            "g.coo: 8 bytes, expected a multiple of 16: two numbers of 8 bytes an edge");
  for (auto const& [type, shape, bytes] :
       std::vector<std::array<std::string, 3>>{{"<f4", "(2, 1)", pack(1.0F, 2.0F)},
                                               {"<u4", "(3,)", pack(1U, 2U, 3U)},
                                               {"<u4", "(1, 3)", pack(1U, 2U, 3U)}}) {
    EXPECT_NE(refusal(npy(type, shape, bytes), graph_format::npy)
                  .find("expected integers of 4 or 8 bytes in shape (2, E) or (E, 2)"),
              std::string::npos);
  }
  EXPECT_NE(refusal(npy("<u4", "(2, 3)", pack(1U, 2U)), graph_format::npy).find("8 bytes of data, expected 6 elements"),
            std::string::npos);
  EXPECT_NE(refusal(npy(">u4", "(2, 1)", pack(1U, 2U)), graph_format::npy).find("expected integers"),
            std::string::npos);
}

TEST(Coo, NamesTheFirstNumberThatIsNoVertex)
{
  std::string const hint = " (a file this small has larger ids only with compact or num_vertices set)";
  EXPECT_EQ(refusal(pack(0U, 1U, 0xffffffffU, 1U), graph_format::coo32),
            "g.coo: edge 1: source 4294967295, expected an id in [0, 16777215]" + hint);
  read_options compact;
  compact.build.compact = true;
  EXPECT_EQ(refusal(pack(0U, 1U, 0xffffffffU, 1U), graph_format::coo32, compact),
            "g.coo: edge 1: source 4294967295, expected an id in [0, 4294967294]");
  EXPECT_EQ(read(pack(0xfffffffeU, 1U), graph_format::coo32, compact).num_vertices(), 2);
  EXPECT_EQ(refusal(pack(std::uint64_t{1}, std::uint64_t{1} << 40U), graph_format::coo64, compact),
            "g.coo: edge 0: target 1099511627776, expected an id in [0, 4294967294]");
  EXPECT_EQ(refusal(npy("<i4", "(2, 1)", pack(std::int32_t{3}, std::int32_t{-3})), graph_format::npy, compact),
            "g.coo: edge 0: target -3, expected an id in [0, 4294967294]");
  read_options few;
  few.build.num_vertices = 7;
  EXPECT_EQ(refusal(pack(6U, 7U), graph_format::coo32, few),
            "g.coo: edge 0: target 7, expected an id in [0, 6] (num_vertices is set)");

  std::vector<std::uint32_t> many(3'000'000, 1);
  many[2 * 900'000 + 1] = many[2 * 1'400'000 + 1] = 0xfffffffe;
  for (int const threads : {1, 3}) {
    EXPECT_EQ(refusal(test::pack_all(many), graph_format::coo32, {}, threads),
              "g.coo: edge 900000: target 4294967294, expected an id in [0, 191999999]" + hint);
  }
}

TEST(Coo, IsFoundByNameOrByItsMagic)
{
  test::scratch_folder const folder;
  EXPECT_EQ(detect_graph_format(folder.write("a.coo32", pack(1U, 2U))), graph_format::coo32);
  EXPECT_EQ(detect_graph_format(folder.write("a.coo64", pack(1U, 2U))), graph_format::coo64);
  EXPECT_EQ(detect_graph_format(folder.write("a", npy("<u4", "(1, 2)", pack(1U, 2U)))), graph_format::npy);
}

}  // namespace
}  // namespace tendril
