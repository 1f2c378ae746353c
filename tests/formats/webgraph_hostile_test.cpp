// WebGraph files that lie end in one line that says where.

#include <fmt/format.h>
#include <tendril/io.hpp>

#include "formats/webgraph.hpp"
#include "formats/webgraph_encoder.hpp"
#include "support/binary_files.hpp"

namespace tendril {
namespace {

using test::bit_writer;

std::string const properties_of(std::int64_t nodes, std::int64_t arcs, std::string const& more = "windowsize=7\n")
{
  return fmt::format("version=0\nnodes={}\narcs={}\nminintervallength=4\n{}", nodes, arcs, more);
}

graph decode(std::string const& properties, std::vector<std::byte> const& bits,
             std::optional<std::vector<std::byte>> const& offsets = {})
{
  formats::webgraph_files files{"web.graph", bits, properties, {}};
  if (offsets) { files.offsets = *offsets; }
  return formats::decode_webgraph(files, {});
}

std::string refusal(std::string const& properties, std::vector<std::byte> const& bits,
                    std::optional<std::vector<std::byte>> const& offsets = {})
{
  return test::message_of<format_error>([&] { (void)decode(properties, bits, offsets); });
}

/// Bits that stand for gamma codes; padding follows so that counts of vertices are not what fails.
std::vector<std::byte> gammas(std::initializer_list<std::uint64_t> codes)
{
  bit_writer out;
  for (auto const code : codes) { out.gamma(code); }
  for (int i = 0; i < 16; ++i) { out.bits(0xff, 8); }
  return out.bytes();
}

std::vector<std::byte> const some_bits(4, std::byte{0xff});

TEST(WebGraphHostile, PropertiesThatAreMissingOrOutOfRangeAreNamed)
{
  EXPECT_EQ(refusal("arcs=1\n", some_bits), "web.properties: no property 'nodes', expected an integer");
  EXPECT_EQ(refusal("nodes=1\n", some_bits), "web.properties: no property 'arcs', expected an integer");
  EXPECT_EQ(refusal("#\nnodes=-1\n", some_bits),
            "web.properties:2: nodes: '-1', expected an integer in [0, 4294967295]");
  EXPECT_EQ(refusal("nodes=4294967296\n", some_bits),
            "web.properties:1: nodes: '4294967296', expected an integer in [0, 4294967295]");
  EXPECT_EQ(refusal("nodes=1e3\n", some_bits),
            "web.properties:1: nodes: '1e3', expected an integer in [0, 4294967295]");
  EXPECT_EQ(refusal(properties_of(1, 0, "zetak=0\n"), some_bits),
            "web.properties:5: zetak: '0', expected an integer in [1, 1073741824]");
  EXPECT_EQ(refusal(properties_of(1, 0, "version=2\n"), some_bits),
            "web.properties:5: version: '2', expected an integer in [0, 1]");
  EXPECT_EQ(refusal(properties_of(1, 0, "endianness=little\n"), some_bits),
            "web.properties:5: endianness: 'little', expected big");
  EXPECT_EQ(refusal(properties_of(1, 0, "graphclass=it.unimi.dsi.webgraph.EFGraph\n"), some_bits),
            "web.properties:5: graphclass: 'it.unimi.dsi.webgraph.EFGraph', expected it.unimi.dsi.webgraph.BVGraph");
  EXPECT_EQ(refusal(properties_of(1, 0, "compressionflags=RESIDUALS_GAMMA|OUTDEGREES_PI2\n"), some_bits),
            "web.properties:5: compression flag 'OUTDEGREES_PI2' is not known, expected one such as OUTDEGREES_DELTA");
}

TEST(WebGraphHostile, JavaPropertiesAreReadWithTheirSeparatorsAndEscapes)
{
  graph const g = decode("! a comment\r\n  nodes : 3\narcs 0\ncompressionflags\\ =x\ncompressionflags=\n", some_bits);
  EXPECT_EQ(g.num_vertices(), 3);
}

TEST(WebGraphHostile, CountsLargerThanTheFileCanHoldAllocateNothing)
{
  EXPECT_EQ(refusal(properties_of(4'000'000'000, 1), some_bits),
            "web.properties: nodes=4000000000, expected at most 32, the bits of the .graph file");
  EXPECT_EQ(refusal(properties_of(1, 1'000'000'000'000), some_bits),
            "web.properties: arcs=1000000000000, expected at most 67108864 from a .graph file of 4 bytes");
}

TEST(WebGraphHostile, ArcsOtherThanAnnouncedAreRefused)
{
  auto const bits = gammas({0, 0});  // two empty lists
  EXPECT_EQ(refusal(properties_of(2, 5), bits), "web.graph: 0 arcs, expected 5 as web.properties says");
  EXPECT_EQ(refusal(properties_of(1, 0, "compressionflags=RESIDUALS_GAMMA\n"), gammas({1, 0, 0, 0})),
            "web.graph: 1 or more arcs, expected 0 as web.properties says");
}

TEST(WebGraphHostile, EachPartOfAListIsChecked)
{
  std::string const gamma_references = "windowsize=7\ncompressionflags=REFERENCES_GAMMA|RESIDUALS_GAMMA\n";
  auto const refused = [&](std::int64_t nodes, std::initializer_list<std::uint64_t> codes) {
    return refusal(properties_of(nodes, 1000, gamma_references), gammas(codes));
  };
  EXPECT_EQ(refused(5, {6}), "web.graph: node 0: outdegree 6, expected at most the number of vertices, 5");
  EXPECT_EQ(refused(5, {1, 1}), "web.graph: node 0: a reference 1 lists back, expected at most 0");
  EXPECT_EQ(refused(50, {1, 0, 0, 2, 1, 9}), "web.graph: node 1: a reference 9 lists back, expected at most 1");
  EXPECT_EQ(refused(50, {1, 0, 0, 2, 1, 1, 3}), "web.graph: node 1: 3 copy blocks of a list of 1");
  EXPECT_EQ(refused(50, {1, 0, 0, 2, 1, 1, 1, 2}),
            "web.graph: node 1: a copy block of 2, expected at most the 1 entries left");
  EXPECT_EQ(refused(50, {3, 0, 0, 2, 0, 0, 1, 1, 0}),
            "web.graph: node 1: 3 entries copied, expected at most the outdegree, 1");
  EXPECT_EQ(refused(50, {7, 0, 2}), "web.graph: node 0: 2 intervals in 7 entries, each at least 4 long");
  EXPECT_EQ(refused(50, {7, 0, 1, 0, 4}), "web.graph: node 0: an interval of 8, expected at most 7");
  EXPECT_EQ(refused(50, {4, 0, 1, 94, 0}),
            "web.graph: node 0: an interval of 4 from vertex 47, expected vertices in [0, 50)");
  EXPECT_EQ(refused(50, {4, 0, 1, 1, 0}),
            "web.graph: node 0: an interval of 4 from vertex -1, expected vertices in [0, 50)");
  EXPECT_EQ(refused(50, {1, 0, 0, 100}), "web.graph: node 0: neighbour 50, expected one in [0, 50)");
  EXPECT_EQ(refused(50, {2, 0, 0, 98, 0}), "web.graph: node 0: neighbour 50, expected one in [0, 50)");
  EXPECT_EQ(refused(50, {1, 0, 0, 1}), "web.graph: node 0: neighbour -1, expected one in [0, 50)");
}

TEST(WebGraphHostile, ListsThatNameANeighbourTwiceAreRefused)
{
  // List 1 copies vertex 2 from list 0 and has it as a residual too.
  bit_writer out;
  for (std::uint64_t const code : {1, 0, 0, 4, 2, 1, 0, 0, 2}) { out.gamma(code); }
  EXPECT_EQ(
      refusal(properties_of(2, 3, "windowsize=7\ncompressionflags=REFERENCES_GAMMA|RESIDUALS_GAMMA\n"), out.bytes()),
      "web.graph: node 0: neighbour 2, expected one in [0, 2)");
  for (int i = 0; i < 4; ++i) { out.gamma(0); }
  EXPECT_EQ(
      refusal(properties_of(3, 3, "windowsize=7\ncompressionflags=REFERENCES_GAMMA|RESIDUALS_GAMMA\n"), out.bytes()),
      "web.graph: node 1: neighbours don't ascend: 2 follows 2");
}

TEST(WebGraphHostile, CodesThatNeverEndAreRefused)
{
  std::vector<std::byte> const zeros(64);
  EXPECT_EQ(refusal(properties_of(1, 1), zeros), "web.graph: node 0: the bit stream ends in the middle");
  bit_writer out;
  out.unary(100);
  for (int i = 0; i < 16; ++i) { out.bits(0xff, 8); }
  EXPECT_EQ(refusal(properties_of(1, 1), out.bytes()), "web.graph: node 0: a code above 2^62");
}

TEST(WebGraphHostile, OffsetsThatLieAreRefused)
{
  std::string const properties = properties_of(2, 0);
  auto const bits = gammas({0, 0});
  EXPECT_EQ(decode(properties, bits, gammas({0, 1, 1})).num_vertices(), 2);
  EXPECT_EQ(refusal(properties, bits, gammas({0, 1'000})),
            "web.offsets: node 1: offset 1000, expected at most 136, the bits of the .graph file");
  EXPECT_EQ(refusal(properties, bits, gammas({0, 2, 1})),
            "web.graph: node 0: the list ends at bit 1, expected 2 as .offsets says");
  EXPECT_EQ(refusal(properties, bits, std::vector<std::byte>(1)),
            "web.offsets: node 0: the bit stream ends in the middle");
}

TEST(WebGraphHostile, AFileCutOffAnywhereIsRefused)
{
  test::adjacency lists(40);
  for (std::uint32_t x = 0; x < 40; ++x) { lists[x] = {x / 2, 20, 21, 22, 23, 24, 25, 39}; }
  auto const whole = test::webgraph_encoder(lists, {}).encode();
  for (std::size_t size = 0; size < whole.graph.size(); ++size) {
    std::vector<std::byte> const cut(whole.graph.begin(), whole.graph.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(refusal(whole.properties, cut), "");
    EXPECT_NE(refusal(whole.properties, cut, whole.offsets), "");
  }
}

}  // namespace
}  // namespace tendril
