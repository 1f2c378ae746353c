// Packed neighbours: the same neighbours, weights and labels through the view of either form, and back again.

#include <tendril/compress.hpp>

#include <bit>
#include <random>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "support/messages.hpp"
#include "support/to_array.hpp"

namespace tendril {
namespace {

/// Everything that a view tells of a graph is what the arrays of the CSR graph say.
void expect_same_view(graph_view const& view, csr_arrays const& expected)
{
  ASSERT_EQ(view.num_vertices, expected.num_vertices);
  ASSERT_EQ(view.num_edges, expected.num_edges);
  view.visit([&](auto const& g) {
    for (std::int64_t v = 0; v < g.num_vertices; ++v) {
      auto const row = g.row(v);
      auto const u = static_cast<vertex_id>(v);
      ASSERT_EQ(row.degree(), expected.degree(u));
      ASSERT_EQ(row.first_edge(), expected.first_edge(u));
      std::uint32_t i = 0;
      for (vertex_id const x : g.out_neigh(v)) {
        ASSERT_EQ(x, expected.neighbor(u, i)) << v << " " << i;
        ASSERT_TRUE(row.contains(x));
        ASSERT_EQ(row.neighbor(row.find(x)), x);
        ASSERT_TRUE(row.find(x) == 0 || row.neighbor(row.find(x) - 1) < x);
        if (expected.weights != nullptr) { ASSERT_EQ(row.weight(i), expected.weight(u, i)); }
        if (!expected.edge_labels.empty()) { ASSERT_EQ(row.label(i), expected.label(u, i)); }
        ++i;
      }
      ASSERT_EQ(i, row.degree());
      for (vertex_id x = 0; x < 70 && x < g.num_vertices; ++x) { ASSERT_EQ(row.contains(x), expected.has_edge(u, x)); }
    }
  });
}

graph rmat_with(int scale, bool symmetric)
{
  build_options build;
  build.symmetrize = symmetric;
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 3;
  return generate_rmat({scale, 8}, build, extra);
}

TEST(Packed, SameNeighborsWeightsAndLabels)
{
  graph const g = rmat_with(11, true);
  graph const packed = compress(g, graph_form::packed);
  EXPECT_EQ(packed.form(), graph_form::packed);
  EXPECT_EQ(packed.num_edges(), g.num_edges());
  expect_same_view(packed.view(), g.csr());
}

TEST(Packed, BackToCsrIsTheSameGraph)
{
  graph const g = rmat_with(9, false);
  graph const back = to_csr(compress(g, graph_form::packed));
  EXPECT_EQ(back.form(), graph_form::csr);
  ASSERT_EQ(back.num_edges(), g.num_edges());
  for (edge_id e = 0; e < g.num_edges(); ++e) { ASSERT_EQ(back.csr().indices[e], g.csr().indices[e]); }
}

graph from_lists(std::vector<std::vector<vertex_id>> const& lists)
{
  std::vector<edge_id> indptr{0};
  std::vector<vertex_id> indices;
  for (auto const& list : lists) {
    indices.insert(indices.end(), list.begin(), list.end());
    indptr.push_back(std::ssize(indices));
  }
  graph_arrays arrays;
  arrays.indptr = test::to_array(indptr);
  arrays.indices = test::to_array(indices);
  return graph(std::move(arrays));
}

/// Lists of any length and width, more of them than two threads' ranges hold and not a multiple of one.
graph any_lists(std::int64_t num_vertices)
{
  std::mt19937_64 random(3);
  std::vector<std::vector<vertex_id>> lists(static_cast<std::size_t>(num_vertices));
  for (auto& list : lists) {
    list.resize(random() % 5);
    std::uint64_t const most = std::max<std::uint64_t>(static_cast<std::uint64_t>(num_vertices) >> (random() % 17), 1);
    for (auto& x : list) { x = static_cast<vertex_id>(random() % most); }
    std::sort(list.begin(), list.end());
  }
  return from_lists(lists);
}

std::vector<graph> corner_graphs()
{
  std::vector<vertex_id> hub(40'000);
  for (std::size_t i = 0; i < hub.size(); ++i) { hub[i] = static_cast<vertex_id>(i); }
  std::vector<std::vector<vertex_id>> star(hub.size(), {0});
  star[17] = hub;
  std::vector<vertex_id> one_bit_over(33, 1);  // than a word
  one_bit_over[0] = 0;
  return {from_lists({}),
          from_lists({{}}),
          from_lists({{}, {}, {}}),
          from_lists({{0}}),
          from_lists({{0, 0, 0, 0, 0}}),                // parallel edges take no bits
          from_lists({{1, 1, 1}, {0, 0, 1, 1, 1, 1}}),  // but here they do
          from_lists({{}, {0, 2}, {}, {3}, {}}),
          from_lists({one_bit_over, {}}),
          from_lists(star),
          any_lists(1),
          any_lists((1 << 14) - 1),
          any_lists(1 << 14),
          any_lists((1 << 15) + 77)};
}

TEST(Packed, CornersComeBack)
{
  for (graph const& g : corner_graphs()) {
    SCOPED_TRACE(std::to_string(g.num_vertices()) + " vertices, " + std::to_string(g.num_edges()) + " edges");
    graph const packed = compress(g, graph_form::packed);
    EXPECT_EQ(packed.form(), graph_form::packed);
    expect_same_view(packed.view(), g.csr());
    EXPECT_NO_THROW(packed.validate());
    graph const back = to_csr(packed);
    EXPECT_EQ(back.form(), graph_form::csr);
    ASSERT_EQ(back.num_edges(), g.num_edges());
    for (edge_id e = 0; e < g.num_edges(); ++e) { ASSERT_EQ(back.csr().indices[e], g.csr().indices[e]); }
  }
}

TEST(Packed, ThreadsDoNotChangeABit)
{
  std::vector<graph> graphs = corner_graphs();
  graphs.push_back(any_lists((20 << 14) + 5));  // more ranges than threads
  for (graph const& g : graphs) {
    cpu_exec exec;
    exec.num_threads = 1;
    packed_neighbors const expected = compress(g, graph_form::packed, exec).arrays().packed;
    for (int const threads : {2, 5, 16}) {
      exec.num_threads = threads;
      packed_neighbors const packed = compress(g, graph_form::packed, exec).arrays().packed;
      ASSERT_EQ(packed.words.size(), expected.words.size());
      EXPECT_TRUE(std::equal(packed.words.begin(), packed.words.end(), expected.words.begin()));
      for (std::int64_t v = 0; v < packed.records.size(); ++v) {
        ASSERT_EQ(packed.records[v].place_and_width, expected.records[v].place_and_width) << v;
        ASSERT_EQ(packed.records[v].degree, expected.records[v].degree) << v;
        ASSERT_EQ(packed.records[v].first, expected.records[v].first) << v;
      }
    }
  }
}

TEST(Packed, NoBitIsWasted)
{
  for (graph const& g : corner_graphs()) {
    csr_arrays const plain = g.csr();
    std::uint64_t bits = 0;
    for (vertex_id v = 0; v < plain.num_vertices; ++v) {
      if (v % (1 << 14) == 0) { bits = (bits + 31) / 32 * 32; }  // each thread begins with a word of its own
      std::uint32_t const degree = plain.degree(v);
      if (degree == 0) { continue; }
      bits += std::uint64_t{degree} *
              static_cast<std::uint64_t>(std::bit_width(plain.neighbor(v, degree - 1) - plain.neighbor(v, 0)));
    }
    graph const packed = compress(g, graph_form::packed);
    EXPECT_EQ(packed.arrays().packed.words.size(), static_cast<std::int64_t>(bits / 32 + 2));
    if (g.num_edges() == 0) {
      EXPECT_EQ(packed.bits_per_edge(), 0);
      continue;
    }
    auto const edges = static_cast<double>(g.num_edges());
    auto const vertices = static_cast<double>(g.num_vertices());
    EXPECT_DOUBLE_EQ(g.bits_per_edge(), 32 + 64 * (vertices + 1) / edges);
    EXPECT_DOUBLE_EQ(packed.bits_per_edge(),
                     (128 * vertices + 64 * (vertices + 1) + 32 * static_cast<double>(bits / 32 + 2)) / edges);
  }
}

/// Neighbours of each width, from 0 to 32 bits, at each place in a word: a graph that needs 32 bits has 2^31 vertices.
TEST(Packed, EveryWidthAtEveryPlace)
{
  std::mt19937_64 random(5);
  for (std::uint32_t width = 0; width <= 32; ++width) {
    for (std::uint64_t place = 0; place < 64; ++place) {
      constexpr std::uint32_t degree = 9;
      std::vector<std::uint32_t> words((place + degree * width) / 32 + 2, 0);
      std::vector<vertex_id> expected;
      for (std::uint32_t i = 0; i < degree; ++i) {
        std::uint64_t const value = random() & ((std::uint64_t{1} << width) - 1);
        for (std::uint32_t b = 0; b < width; ++b) {
          std::uint64_t const bit = place + std::uint64_t{i} * width + b;
          words[bit / 32] |= static_cast<std::uint32_t>((value >> b) & 1U) << (bit % 32);
        }
        expected.push_back(static_cast<vertex_id>(value + 7));
      }
      edge_id const first_edge = 0;
      packed_row const row(packed_record::of(place, width, degree, 7), words.data(), &first_edge, nullptr, {});
      for (std::uint32_t i = 0; i < degree; ++i) {
        ASSERT_EQ(row.neighbor(i), expected[i]) << width << " at " << place;
      }
    }
  }
}

TEST(Packed, KeepsEverythingElse)
{
  graph_arrays arrays = rmat_with(6, true).arrays();
  arrays.metadata["name"] = "kept";
  arrays.edge_label_names = {"a", "b", "c"};
  graph const g(std::move(arrays));
  EXPECT_EQ(g.content(), graph_content::unchecked);
  graph const packed = compress(g, graph_form::packed);
  EXPECT_EQ(packed.content(), graph_content::sound) << "packing checks what it reads";
  EXPECT_EQ(packed.arrays().weights.data(), g.arrays().weights.data());
  EXPECT_EQ(packed.arrays().indptr.data(), g.arrays().indptr.data());
  EXPECT_EQ(packed.arrays().metadata, g.arrays().metadata);
  EXPECT_EQ(packed.arrays().edge_label_names, g.arrays().edge_label_names);
  EXPECT_TRUE(packed.arrays().symmetric);
  EXPECT_EQ(compress(packed, graph_form::packed).arrays().packed.words.data(), packed.arrays().packed.words.data());
  EXPECT_EQ(to_csr(g).arrays().indices.data(), g.arrays().indices.data());
  EXPECT_LT(packed.num_bytes(), g.num_bytes() + 16 * g.num_vertices());
}

TEST(Packed, UnsoundArraysAreRefused)
{
  graph_arrays arrays;
  arrays.indptr = test::to_array<edge_id>({0, 2});
  arrays.indices = test::to_array<vertex_id>({0, 5});
  graph const bad(std::move(arrays));
  EXPECT_EQ(test::message_of<format_error>([&] { (void)compress(bad, graph_form::packed); }),
            "vertex 0: neighbour 5 at edge 1, expected an id below 1");
}

TEST(Packed, ProgressIsToldAndCanEndTheCall)
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
  EXPECT_EQ(told, (std::vector<std::string>{"checking", "packing", "packing", "unpacking"}));
  exec.on_progress = [](progress const&) { throw std::runtime_error("enough"); };
  EXPECT_THROW((void)to_csr(packed, exec), std::runtime_error);
}

TEST(Packed, DocumentedExample)
{
  graph const original = rmat_with(8, true);
  graph const packed = compress(original, graph_form::packed);
  graph const plain = to_csr(packed);
  EXPECT_EQ(packed.form(), graph_form::packed);
  EXPECT_EQ(plain.form(), graph_form::csr);
}

TEST(Packed, FormsHaveNames)
{
  for (auto const form : {graph_form::csr, graph_form::packed}) {
    EXPECT_EQ(parse_name<graph_form>("form", to_string(form)), form);
  }
  EXPECT_EQ(test::message_of<argument_error>([] { (void)parse_name<graph_form>("form", "lz4"); }),
            "form: 'lz4', expected csr or packed");
}

TEST(Packed, RawArraysOfPackedGraphAreRefused)
{
  graph const packed = compress(rmat_with(6, true), graph_form::packed);
  EXPECT_THROW((void)packed.csr(), argument_error);
}

TEST(Packed, EmptyGraph)
{
  graph const packed = compress(graph(), graph_form::packed);
  EXPECT_EQ(packed.num_vertices(), 0);
  EXPECT_EQ(packed.num_edges(), 0);
  EXPECT_EQ(packed.view().num_edges, 0);
}

}  // namespace
}  // namespace tendril
