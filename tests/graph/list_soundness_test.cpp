// Compressed lists that were only mapped are checked before a sampler sees them: the check and validate() take what an
// oracle takes that decodes one bit after the other, and say what is wrong in one line.

#include <array>
#include <random>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>

#include "graph/soundness.hpp"
#include "support/damaged_graphs.hpp"
#include "support/list_oracle.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"
#include "support/to_array.hpp"

namespace tendril {
namespace {

using test::complaint_of;
using test::copy_of;
using test::damage_directory;
using test::damage_words;

/// Whether compressed arrays are sound, by definition: each block says how many edges lie before it; each list can be
/// read, and its neighbours ascend and are vertices.
bool oracle(graph_arrays const& a)
{
  compressed_lists const& lists = a.compressed;
  edge_id edges = 0;
  for (std::int64_t b = 0; b < lists.blocks.size(); ++b) {
    for (std::int64_t v = 11 * b; v < 11 * b + 11; ++v) {
      if (v == 11 * b + 6 && test::middle_edge_oracle(lists, b) != edges) { return false; }
      auto const place = test::place_oracle(lists, v);
      if (!place) { return false; }
      edges += place->degree;
      if (v >= lists.num_vertices) { continue; }
      auto const list = test::list_oracle(lists.words, *place);
      if (!list || !std::is_sorted(list->begin(), list->end())) { return false; }
      if (!list->empty() && list->back() >= lists.num_vertices) { return false; }
    }
  }
  return edges == lists.num_edges;
}

/// What validate() says, which must agree with the oracle and with the check that view() makes.
std::string agreed_lists(graph_arrays const& arrays)
{
  std::string const said = complaint_of([&] { graph(arrays).validate(cpu_exec{1}); });
  EXPECT_EQ(said.empty(), oracle(arrays)) << said;
  for (int const threads : {1, 2, 5}) {
    EXPECT_EQ(validation::is_sound(arrays, cpu_exec{threads}), said.empty()) << threads << " threads: " << said;
  }
  graph const fresh(arrays);
  EXPECT_EQ(fresh.content(), graph_content::unchecked);
  EXPECT_EQ(complaint_of([&] { (void)fresh.view(); }), said);
  EXPECT_EQ(fresh.content(), said.empty() ? graph_content::sound : graph_content::unchecked);
  return said;
}

graph_arrays with_head(graph_arrays arrays, std::uint32_t half, half_head const& head)
{
  buffer<list_block> blocks = copy_of(arrays.compressed.blocks);
  blocks[0].halves[half].head = head;
  arrays.compressed.blocks = std::move(blocks);
  arrays.symmetric = false;
  return arrays;
}

graph_arrays with_words(graph_arrays arrays, std::vector<std::uint32_t> words)
{
  words.resize(words.size() + 16, 0);
  arrays.compressed.words = test::to_array(words);
  return arrays;
}

/// Two vertices: the first has `degree` edges, whose list begins at byte 0 and has the header `header`.
graph_arrays tiny(list_header header, std::uint32_t degree, std::vector<std::uint32_t> const& words)
{
  list_block block;
  block.halves[0].head = half_head::of(block_kind::shared, 0, header, 16, 0);
  block.halves[0].shares[0] = degree;
  block.set_middle_edge(degree);
  graph_arrays arrays;
  buffer<list_block> blocks(1);
  blocks[0] = block;
  arrays.compressed.blocks = std::move(blocks);
  arrays.compressed.num_vertices = 2;
  arrays.compressed.num_edges = degree;
  arrays.compressed.form = graph_form::best;
  return with_words(std::move(arrays), words);
}

list_header header(list_code code, std::uint32_t width) { return {static_cast<std::uint32_t>(code), width}; }

/// The neighbours 0 and 1, in one bit each.
graph_arrays tiny() { return tiny(header(list_code::fixed_far, 1), 2, {2}); }

TEST(list_soundness, good_graphs_pass)
{
  for (graph_form const form : {graph_form::packed, graph_form::runs, graph_form::ef, graph_form::vbyte}) {
    for (std::int64_t const n : {1, 2, 100, 20'000}) {
      EXPECT_EQ(agreed_lists(compress(generate_regular(regular_graph::ring, n), form).arrays()), "") << n;
    }
    EXPECT_EQ(agreed_lists(compress(generate_regular(regular_graph::star, 30'000), form).arrays()), "");
    EXPECT_EQ(agreed_lists(compress(generate_rmat({.scale = 12}, {}), form).arrays()), "");
  }
  EXPECT_EQ(agreed_lists(tiny()), "");
}

TEST(list_soundness, each_violation_of_the_directory_is_named)
{
  auto const with = [](block_kind kind, std::uint64_t base, std::uint32_t degree_bits) {
    return agreed_lists(with_head(tiny(), 0, half_head::of(kind, base, list_header(0), degree_bits, 0)));
  };
  EXPECT_EQ(with(static_cast<block_kind>(3), 0, 16),
            "vertex 0: its block of the directory is of kind 3, expected at most 2");
  EXPECT_EQ(with(block_kind::wide, 0, 16),
            "vertex 0: its block of the directory has wide entries from 0, expected 6 below 0");
  EXPECT_EQ(with(block_kind::own, 5, 16),
            "vertex 0: its block of the directory has a list at byte 5, expected at most 4");
  EXPECT_EQ(with(block_kind::shared, 0, 1), "vertex 0: its edges begin at 2, expected 0");
  half_head late{tiny().compressed.blocks[0].halves[1].head};
  EXPECT_EQ(agreed_lists(with_head(tiny(), 1, half_head::of(block_kind::wide, 0, list_header(0), 0, 0))),
            "vertex 6: its block of the directory has wide entries from 0, expected 5 below 0");
  late.bits |= std::uint64_t{1} << half_head::edge_shift;
  EXPECT_EQ(agreed_lists(with_head(tiny(), 1, late)), "vertex 0: its edges begin at 4294967296, expected 0");
}

TEST(list_soundness, each_violation_of_a_list_is_named)
{
  std::string const outside = "vertex 0: a list at byte 0 that ends outside of the lists' 4 bytes";
  EXPECT_EQ(agreed_lists(tiny(header(list_code::fixed_far, 17), 2, {0})), outside);
  EXPECT_EQ(agreed_lists(tiny(header(list_code::fixed_far, 1), 2, {1})),
            "vertex 0: neighbours not ascending at edge 1 (0 after 1)");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::fixed_far, 2), 2, {8})),
            "vertex 0: neighbour 2 at edge 1, expected an id below 2");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::fixed_near, 2), 1, {0})),
            "vertex 0: neighbour 4294967294 at edge 0, expected an id below 2");
  EXPECT_EQ(agreed_lists(tiny(list_header(7, 1), 2, {0})), "vertex 0: a list of code 7, expected at most 6");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::runs_far, 1), 2, {1})), "");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::runs_far, 1), 2, {2})),
            "vertex 0: a list whose first edge begins no run");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::runs_far, 32), 2, {1})), outside);
  std::vector<std::uint32_t> sectors(17, 0);
  sectors[1] = 1;
  EXPECT_EQ(agreed_lists(tiny(header(list_code::runs_far, 1), 225, sectors)),
            "vertex 0: 1 runs before edge 224 of its list, which says 0");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::elias_fano, 1), 2, {0, 3})), "");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::elias_fano, 1), 2, {0, 4})),
            "vertex 0: 1 marks of upper bits in its list, expected one an edge: 2");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::elias_fano, 20), 2, {0, 3})),
            "vertex 0: a list at byte 0 that ends outside of the lists' 8 bytes");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::vbyte, 1), 2, {0x00010000})), "");
  EXPECT_EQ(agreed_lists(tiny(header(list_code::vbyte, 1), 2, {0x0001000f})), outside);
}

TEST(list_soundness, agrees_with_the_oracle_on_random_damage)
{
  std::mt19937_64 random(11);
  int bad = 0;
  constexpr int rounds = test::unless_sanitized(4000, 1000);
  constexpr std::array forms{graph_form::packed, graph_form::runs, graph_form::ef, graph_form::vbyte, graph_form::best};
  for (int i = 0; i < rounds; ++i) {
    build_options build;
    build.num_vertices = 32;
    bool const long_lists = i % 4 == 0;  // with sectors, blocks and groups, and wide blocks now and then
    graph_arrays arrays =
        compress(generate_rmat({.scale = 5, .edge_factor = long_lists ? 60.0 : 2.0, .seed = random()}, build),
                 forms[random() % forms.size()])
            .arrays();
    switch (random() % 3) {
      case 0: break;
      case 1: damage_words(arrays, random); break;
      default: damage_directory(arrays, random); break;
    }
    bad += agreed_lists(arrays).empty() ? 0 : 1;
  }
  EXPECT_GT(bad, rounds / 10);
  EXPECT_LT(bad, rounds * 9 / 10);
}

TEST(list_soundness, weights_and_ids_are_checked_too)
{
  graph_arrays arrays = tiny();
  arrays.weights = test::to_array<float>({1, -1});
  EXPECT_EQ(test::message_of<format_error>([&] { (void)graph(arrays).view(); }),
            "vertex 0: weight -1 at edge 1, expected a finite number >= 0");
  arrays.weights = {};
  arrays.edge_ids = test::to_array<edge_id>({-1, 0});
  EXPECT_EQ(test::message_of<format_error>([&] { (void)graph(arrays).view(); }),
            "vertex 0: edge id -1 at edge 0, expected a number >= 0");
}

TEST(list_soundness, symmetry_is_checked_in_every_form)
{
  edge_attributes extra;
  extra.has_weights = true;
  build_options build;
  build.symmetrize = true;
  graph const g = generate_rmat({.scale = 9}, build, extra);
  EXPECT_NO_THROW(graph(compress(g, graph_form::packed).arrays()).validate());

  graph_arrays other_weight = g.arrays();
  buffer<float> weights = copy_of(other_weight.weights);
  edge_id const e = g.csr().indptr[5];
  weights[e] += 1;
  other_weight.weights = std::move(weights);
  graph_arrays one_way = generate_rmat({.scale = 9}, {}).arrays();
  one_way.symmetric = true;
  for (graph_arrays const& lies : {other_weight, one_way}) {
    std::string const expected = test::message_of<format_error>([&] { graph(lies).validate(); });
    EXPECT_NE(expected.find("in a symmetric graph"), std::string::npos) << expected;
    graph const packed(compress(graph(lies), graph_form::packed).arrays());
    EXPECT_EQ(test::message_of<format_error>([&] { packed.validate(); }), expected);
  }
}

TEST(list_soundness, shapes_are_checked_when_a_graph_is_made)
{
  graph_arrays few = tiny();
  few.compressed.num_vertices = 11;
  EXPECT_EQ(test::message_of<argument_error>([&] { (void)graph(few); }),
            "graph: 1 blocks of a directory, expected 2 for 11 vertices");
  graph_arrays both = tiny();
  both.indices = test::to_array<vertex_id>({0, 1});
  EXPECT_EQ(test::message_of<argument_error>([&] { (void)graph(both); }),
            "graph: it has both indptr or indices and compressed lists, expected one of them");
  graph_arrays count = tiny();
  count.compressed.num_edges = -1;
  EXPECT_EQ(test::message_of<argument_error>([&] { (void)graph(count); }), "graph: -1 edges, expected a number >= 0");
  graph_arrays cut = tiny();
  cut.compressed.words = test::to_array<std::uint32_t>({2});
  EXPECT_EQ(test::message_of<argument_error>([&] { (void)graph(cut); }),
            "graph: 1 words of compressed lists, expected at least the 16 beyond");
}

}  // namespace
}  // namespace tendril
