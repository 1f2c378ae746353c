// Compressed lists: the same neighbours, weights and labels through the view of each form, and back again.

#include <tendril/compress.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "place/list_writer.hpp"
#include "support/any_lists.hpp"
#include "support/binary_files.hpp"
#include "support/list_graph.hpp"
#include "support/list_oracle.hpp"
#include "support/messages.hpp"
#include "support/same_lists.hpp"
#include "support/sanitized.hpp"
#include "support/to_array.hpp"

namespace tendril {
namespace {

using namespace place;
using test::any_list;
using test::any_lists;
using test::compressed_forms;
using test::corner_graphs;
using test::expect_same_lists;
using test::from_lists;

/// Everything that a view tells of a graph is what the arrays of the CSR graph say.
void expect_same_view(graph_view const& view, csr_arrays const& expected)
{
  ASSERT_EQ(view.num_vertices, expected.num_vertices);
  ASSERT_EQ(view.num_edges, expected.num_edges);
  view.visit([&](auto const& g) {
    vertex_id const num_asked = test::unless_sanitized(70, 7);
    for (std::int64_t v = 0; v < g.num_vertices; ++v) {
      auto const row = g.row(v);
      auto const u = static_cast<vertex_id>(v);
      ASSERT_EQ(row.degree(), expected.degree(u));
      ASSERT_EQ(row.first_edge(), expected.first_edge(u));
      std::uint32_t const searched_every = test::is_sanitized && row.degree() > 1000 ? 31 : 1;
      std::uint32_t i = 0;
      for (vertex_id const x : g.out_neigh(v)) {
        ASSERT_EQ(x, expected.neighbor(u, i)) << v << " " << i;
        if (i % searched_every == 0) {
          ASSERT_TRUE(row.contains(x));
          ASSERT_EQ(row.neighbor(row.find(x)), x);
          ASSERT_TRUE(row.find(x) == 0 || row.neighbor(row.find(x) - 1) < x);
        }
        if (expected.weights != nullptr) { ASSERT_EQ(row.weight(i), expected.weight(u, i)); }
        if (!expected.edge_labels.empty()) { ASSERT_EQ(row.label(i), expected.label(u, i)); }
        ++i;
      }
      ASSERT_EQ(i, row.degree());
      std::vector<vertex_id> all(row.degree());
      row.copy_to(all.data());
      ASSERT_TRUE(std::equal(all.begin(), all.end(), expected.indices + expected.indptr[v]));
      for (vertex_id x = 0; x < num_asked && x < g.num_vertices; ++x) {
        ASSERT_EQ(row.contains(x), expected.has_edge(u, x));
      }
    }
  });
}

class Compressed : public testing::TestWithParam<graph_form> {};
INSTANTIATE_TEST_SUITE_P(, Compressed, testing::ValuesIn(compressed_forms),
                         [](auto const& form) { return std::string(to_string(form.param)); });

graph rmat_with(int scale, bool symmetric)
{
  build_options build;
  build.symmetrize = symmetric;
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 3;
  return generate_rmat({scale, 8}, build, extra);
}

TEST_P(Compressed, SameNeighborsWeightsAndLabels)
{
  graph const g = rmat_with(11, true);
  graph const small = compress(g, GetParam());
  EXPECT_EQ(small.form(), GetParam());
  EXPECT_EQ(small.num_edges(), g.num_edges());
  expect_same_view(small.view(), g.csr());
}

TEST_P(Compressed, CornersComeBack)
{
  for (graph const& g : corner_graphs()) {
    SCOPED_TRACE(std::to_string(g.num_vertices()) + " vertices, " + std::to_string(g.num_edges()) + " edges");
    graph const small = compress(g, GetParam());
    EXPECT_EQ(small.form(), GetParam());
    expect_same_view(small.view(), g.csr());
    EXPECT_NO_THROW(graph(small.arrays()).validate());
    graph const back = to_csr(small);
    EXPECT_EQ(back.form(), graph_form::csr);
    ASSERT_EQ(back.num_edges(), g.num_edges());
    ASSERT_EQ(test::to_vector(back.arrays().indptr), test::to_vector(g.arrays().indptr));
    ASSERT_EQ(test::to_vector(back.arrays().indices), test::to_vector(g.arrays().indices));
  }
}

TEST_P(Compressed, OneFormFromAnotherIsTheSame)
{
  graph const g = any_lists(5000);
  graph const small = compress(g, GetParam());
  for (graph_form const other : compressed_forms) {
    graph const back = compress(compress(g, other), GetParam());
    EXPECT_EQ(test::to_vector(back.arrays().compressed.words), test::to_vector(small.arrays().compressed.words));
  }
}

TEST_P(Compressed, ThreadsDoNotChangeABit)
{
  for (graph const& g : corner_graphs()) {
    cpu_exec exec;
    exec.num_threads = 1;
    compressed_lists const expected = compress(g, GetParam(), exec).arrays().compressed;
    for (int const threads : {2, 5, 16}) {
      exec.num_threads = threads;
      expect_same_lists(compress(g, GetParam(), exec).arrays().compressed, expected);
    }
  }
}

/// The directory and each list, read bit by bit.
TEST_P(Compressed, IsAsDescribed)
{
  for (graph const& g : corner_graphs()) {
    compressed_lists const lists = compress(g, GetParam()).arrays().compressed;
    for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
      auto const place = test::place_oracle(lists, v);
      ASSERT_TRUE(place.has_value());
      auto const list = test::list_oracle(lists.words, *place);
      ASSERT_TRUE(list.has_value()) << v;
      csr_arrays const plain = g.csr();
      ASSERT_EQ(*list, std::vector<vertex_id>(plain.indices + plain.indptr[v], plain.indices + plain.indptr[v + 1]))
          << v;
    }
  }
}

/// Cursors give the same neighbours, and prefetching ends.
void expect_read_in_order(std::uint32_t const* words, list_place const& place, std::vector<vertex_id> const& list)
{
  list_cursor any(words, place);
  list_codes::with_cursor(words, place, [&](auto cursor) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      ASSERT_EQ(any.next(), list[i]) << i;
      ASSERT_EQ(cursor.next(), list[i]) << i;
    }
  });
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    int round = 1;
    while (list_codes::prefetch_neighbor(words, place, i, round)) { ASSERT_LT(++round, 3); }
  }
}

/// The n-th one of a word, counted from its lowest bit on.
TEST(ListCode, NthOneOfAnyWord)
{
  std::mt19937_64 random(7);
  for (int round = 0; round < 10'000; ++round) {
    std::uint64_t const bits = round % 2 == 0 ? random() & random() : random() | random();
    std::uint32_t n = 0, n_of_word = 0;
    for (std::uint32_t at = 0; at < 64; ++at) {
      if ((bits >> at & 1U) == 0) { continue; }
      ASSERT_EQ(list_codes::nth_one(bits, n++), at);
      if (at < 32) { ASSERT_EQ(list_codes::nth_one(static_cast<std::uint32_t>(bits), n_of_word++), at); }
    }
  }
}

/// Each code at each byte of a word and for the widest ids, which no graph of a test has.
TEST(ListCode, EveryCodeAtEveryPlaceAndWidth)
{
  std::mt19937_64 random(5);
  std::array<int, 7> written{};
  for (int round = 0; round < test::unless_sanitized(20'000, 2'000); ++round) {
    std::size_t const size = 1 + random() % (round % 50 == 0 ? 900 : 40);
    std::uint64_t const most = std::uint64_t{1} << (random() % 33);
    auto const list = any_list(random, size, most);
    auto const v = static_cast<vertex_id>(random() % 4 == 0 ? random() : random() % most);
    auto const in_bytes = shape_of(serial_team(), graph_form::vbyte, v, list);
    auto const shape = shape_of(serial_team(), graph_form::best, v, list);
    std::vector<list_choice> choices{in_bytes.with(in_bytes.header(list_code::vbyte)).value()};
    for (list_code const code : {list_code::fixed_near, list_code::fixed_far, list_code::runs_near, list_code::runs_far,
                                 list_code::elias_fano, list_code::runs_elias_fano}) {
      std::uint32_t const own = shape.header(code).width();  // and a wider one, which lists share
      for (std::uint32_t const width : {own, own + static_cast<std::uint32_t>(random() % (33 - own))}) {
        if (auto const choice = shape.with(header_of(code, width))) { choices.push_back(*choice); }
      }
    }
    for (list_choice const& choice : choices) {
      std::uint64_t const start = random() % 16;
      std::uint64_t const end = choice.end(start, false);
      std::vector<std::uint32_t> words((end + 3) / 4 + list_codes::words_beyond, 0);
      write_list(words.data(), start, v, list, choice.header);
      for (std::uint64_t bit = 8 * end; bit < 32 * words.size(); ++bit) {
        ASSERT_EQ(words[bit / 32] >> (bit % 32) & 1U, 0U) << "nothing is written behind what was measured";
      }
      list_place const place = list_place::of(start, choice.header, static_cast<std::uint32_t>(size), v);
      ASSERT_EQ(test::list_oracle(test::to_array(words), place), list);
      for (std::uint32_t i = 0; i < size; ++i) {
        ASSERT_EQ(list_codes::neighbor_at(words.data(), place, i, plain_load{}), list[i])
            << "code " << choice.header.code() << ", width " << choice.header.width() << ", " << i << " of " << size;
        ASSERT_EQ(list_codes::neighbor_at(words.data(), place, i, list_codes::quad_load{}, list_codes::quad_load{}),
                  list[i])
            << "as a GPU reads it: code " << choice.header.code() << ", " << i << " of " << size;
      }
      expect_read_in_order(words.data(), place, list);
      ++written[choice.header.code()];
    }
  }
  EXPECT_GT(*std::min_element(written.begin(), written.end()), test::unless_sanitized(1000, 100));
}

/// Bits of the lists, and of the directory: 64 bytes for 11 vertices, and 6 or 5 wide entries where a list is too large.
TEST(CompressedSize, IsWhatTheDocumentsSay)
{
  // Sixty runs of 100: a bit an edge, a value of at most 14 bits a run and a header; two gaps in three bytes.
  std::vector<std::vector<vertex_id>> lists(6000);
  for (std::size_t v = 0; v < lists.size(); ++v) {
    auto const first = static_cast<vertex_id>(v / 100 * 100);
    for (vertex_id x = first; x < first + 100; ++x) { lists[v].push_back(x); }
  }
  graph const g = from_lists(lists);
  auto const words_of = [&](graph_form form) {
    return 4.0 * static_cast<double>(compress(g, form).arrays().compressed.words.size() - 16) / 6000;
  };
  EXPECT_NEAR(words_of(graph_form::runs), (100 + 8 + 8) / 8.0, 2);
  // From the vertices 36 to 64 of a run differences fit 7 bits with their sign, and so do the ids of the first run as they
  // are; others take 8. Half a block has one code and width.
  double packed = 0;
  for (std::size_t begin = 0, half = 0; begin < lists.size(); half = 1 - half) {
    std::size_t const end = std::min(begin + list_block::size_of(static_cast<std::uint32_t>(half)), lists.size());
    bool near = true;
    for (std::size_t v = begin; v < end; ++v) { near = near && v % 100 >= 36 && v % 100 <= 64; }
    packed += static_cast<double>(end - begin) * (near || end <= 100 ? 88 : 100);  // whole bytes a list
    begin = end;
  }
  EXPECT_NEAR(words_of(graph_form::packed), packed / 6000, 0.01);
  EXPECT_NEAR(words_of(graph_form::ef), (32 + 100 * 2 + 8) / 8.0, 1);
  EXPECT_NEAR(words_of(graph_form::vbyte), 100 + 4 + 25 + 16 + 1, 3);
  EXPECT_EQ(words_of(graph_form::best), words_of(graph_form::runs));
  for (graph_form const form : compressed_forms) {
    graph const small = compress(g, form);
    compressed_lists const& made = small.arrays().compressed;
    EXPECT_EQ(made.blocks.size(), 546);
    EXPECT_EQ(made.wide.size(), 0);
    EXPECT_DOUBLE_EQ(small.bits_per_edge(),
                     static_cast<double>(8 * made.num_bytes()) / static_cast<double>(g.num_edges()));
  }
  EXPECT_EQ(compress(from_lists({{}, {}}), graph_form::best).bits_per_edge(), 0);
}

TEST(CompressedSize, OnlyBlocksOfHubsAreWide)
{
  graph const star = generate_regular(regular_graph::star, test::unless_sanitized(400'000, 200'000));
  for (graph_form const form : compressed_forms) {
    if (test::is_sanitized && form != graph_form::packed && form != graph_form::runs) { continue; }  // wide, and not
    graph const small = compress(star, form);
    bool const is_large = form == graph_form::packed || form == graph_form::vbyte;
    EXPECT_EQ(small.arrays().compressed.wide.size(), is_large ? 6 : 0) << to_string(form);
    EXPECT_NO_THROW(graph(small.arrays()).validate());
    graph const back = to_csr(small);
    EXPECT_EQ(test::to_vector(back.arrays().indices), test::to_vector(star.arrays().indices));
  }
}

TEST(CompressedGraph, KeepsEverythingElse)
{
  graph_arrays arrays = rmat_with(6, true).arrays();
  arrays.metadata["name"] = "kept";
  arrays.edge_label_names = {"a", "b", "c"};
  graph const g(std::move(arrays));
  EXPECT_EQ(g.content(), graph_content::unchecked);
  graph const packed = compress(g, graph_form::packed);
  EXPECT_EQ(packed.content(), graph_content::sound) << "compressing checks what it reads";
  EXPECT_EQ(packed.arrays().weights.data(), g.arrays().weights.data());
  EXPECT_TRUE(packed.arrays().indptr.empty());
  EXPECT_EQ(packed.arrays().metadata, g.arrays().metadata);
  EXPECT_EQ(packed.arrays().edge_label_names, g.arrays().edge_label_names);
  EXPECT_TRUE(packed.arrays().symmetric);
  EXPECT_EQ(compress(packed, graph_form::packed).arrays().compressed.words.data(),
            packed.arrays().compressed.words.data());
  EXPECT_EQ(to_csr(g).arrays().indices.data(), g.arrays().indices.data());
  EXPECT_LT(packed.num_bytes(), g.num_bytes());
}

TEST(CompressedGraph, UnsoundArraysAreRefused)
{
  graph_arrays arrays;
  arrays.indptr = test::to_array<edge_id>({0, 2});
  arrays.indices = test::to_array<vertex_id>({0, 5});
  graph const bad(std::move(arrays));
  EXPECT_EQ(test::message_of<format_error>([&] { (void)compress(bad, graph_form::packed); }),
            "vertex 0: neighbour 5 at edge 1, expected an id below 1");
}

TEST(CompressedGraph, ProgressIsToldAndCanEndTheCall)
{
  graph const g = any_lists(1000);
  std::vector<std::string> told;
  cpu_exec exec;
  exec.on_progress = [&](progress const& p) {
    EXPECT_GE(p.done, 0);
    EXPECT_LE(p.done, p.total);
    told.emplace_back(p.what);
  };
  graph const packed = compress(g, graph_form::packed, exec);
  (void)to_csr(packed, exec);
  EXPECT_EQ(told, (std::vector<std::string>{"checking", "compressing", "compressing", "unpacking"}));
  exec.on_progress = [](progress const&) { throw std::runtime_error("enough"); };
  EXPECT_THROW((void)to_csr(packed, exec), std::runtime_error);
}

TEST(CompressedGraph, DocumentedExample)
{
  graph const original = rmat_with(8, true);
  graph const small = compress(original, graph_form::best);
  graph const plain = to_csr(small);
  EXPECT_EQ(small.form(), graph_form::best);
  EXPECT_EQ(plain.form(), graph_form::csr);
}

TEST(CompressedGraph, FormsHaveNames)
{
  for (auto const& [form, name] : enum_names<graph_form>) {
    EXPECT_EQ(to_string(form), name);
    EXPECT_EQ(parse_name<graph_form>("form", name), form);
  }
  EXPECT_EQ(test::message_of<argument_error>([] { (void)parse_name<graph_form>("form", "lz4"); }),
            "form: 'lz4', expected csr, packed, runs, ef, vbyte or auto");
}

TEST(CompressedGraph, RawArraysAreRefused)
{
  graph const packed = compress(rmat_with(6, true), graph_form::packed);
  EXPECT_THROW((void)packed.csr(), argument_error);
}

TEST(CompressedGraph, EmptyGraph)
{
  graph const packed = compress(graph(), graph_form::packed);
  EXPECT_EQ(packed.num_vertices(), 0);
  EXPECT_EQ(packed.num_edges(), 0);
  EXPECT_EQ(packed.view().num_edges, 0);
}

}  // namespace
}  // namespace tendril
