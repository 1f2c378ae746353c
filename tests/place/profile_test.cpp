// What a graph would take in each form, and what of it a GPU would hold: as the graph that is made in that form.

#include <tendril/profile.hpp>

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "place/simple_rmat.hpp"
#include "support/list_graph.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

using test::from_lists;

std::size_t index_of(graph_form form)
{
  std::size_t i = 0;
  while (enum_names<graph_form>[i].value != form) { ++i; }
  return i;
}

/// Every size is that of the graph which `compress` makes, down to the byte, and codes take what `count_lists` counts.
TEST(Profile, SizesAreThoseOfTheCompressedGraph)
{
  for (graph const& g : {test::simple_rmat(), generate_web({test::unless_sanitized(20'000, 2'000), 12}, {}),
                         generate_regular(regular_graph::star, test::unless_sanitized(400'000, 20'000)), graph(),
                         from_lists({{}, {}}), from_lists({{0}})}) {
    graph_profile const profile = profile_graph(g);
    for (auto const& [form, name] : enum_names<graph_form>) {
      SCOPED_TRACE(name);
      form_size const& size = profile.size_of(form);
      EXPECT_EQ(size.form, form);
      graph const made = compress(g, form);
      list_statistics const lists = count_lists(made);
      EXPECT_EQ(8 * size.directory_bytes, form == graph_form::csr ? 64 * (g.num_vertices() + 1) : lists.directory_bits);
      std::int64_t bits = 0, counted = 0;
      for (auto const& c : profile.degrees) { bits += c.list_bits[index_of(form)]; }
      for (auto const& [code, share] : lists.codes()) { counted += share.num_bits; }
      EXPECT_EQ(bits, counted);
      if (form == graph_form::csr) { continue; }
      EXPECT_EQ(size.bytes(), made.arrays().compressed.num_bytes());
      EXPECT_LE(profile.smallest().bytes(), size.bytes());

      graph_profile const again = profile_graph(made);
      for (std::size_t f = 0; f < num_graph_forms; ++f) { EXPECT_EQ(again.sizes[f].bytes(), profile.sizes[f].bytes()); }
      EXPECT_EQ(again.gaps, profile.gaps);
      EXPECT_EQ(again.placed_form, form);
      EXPECT_LE(again.walks.points().back().bytes, size.list_bytes);
    }
  }
}

TEST(Profile, GapsAndDegrees)
{
  std::vector<std::vector<vertex_id>> lists(2000);
  lists[0] = {3, 4, 5, 5, 8, 1800};  // 1, 1, 0, 3, 1792
  lists[1] = {7};
  for (vertex_id x = 0; x < 19; ++x) { lists[1999].push_back(2 * x); }
  graph_profile const profile = profile_graph(from_lists(lists));
  std::array<std::int64_t, 33> gaps{};
  gaps[0] = 1;
  gaps[1] = 2;
  gaps[2] = 1 + 18;
  gaps[11] = 1;
  EXPECT_EQ(profile.gaps, gaps);

  ASSERT_EQ(profile.degrees.size(), 4U);
  std::array<std::array<std::int64_t, 4>, 4> const expected{
      {{0, 0, 1997, 0}, {1, 1, 1, 1}, {6, 6, 1, 6}, {18, 19, 1, 19}}};
  for (std::size_t c = 0; c < expected.size(); ++c) {
    degree_class const& found = profile.degrees[c];
    std::array const got{found.first, found.last, found.num_vertices, found.num_edges};
    EXPECT_EQ(got, expected[c]);
    EXPECT_EQ(found.list_bits[index_of(graph_form::csr)], 32 * found.num_edges);
  }
}

/// Classes of large degrees lie next to each other, and each holds its vertices.
TEST(Profile, DegreeClassesCoverAllDegrees)
{
  std::vector<std::vector<vertex_id>> lists(700);
  for (vertex_id v = 0; v < 700; ++v) {
    for (vertex_id x = 0; x < v; ++x) { lists[v].push_back(x); }
  }
  graph_profile const profile = profile_graph(from_lists(lists));
  std::int64_t next = 0;
  for (degree_class const& c : profile.degrees) {
    EXPECT_EQ(c.first, next);
    next = c.last + 1;
    EXPECT_EQ(c.num_vertices, std::min<std::int64_t>(c.last, 699) - c.first + 1);
    EXPECT_EQ(2 * c.num_edges, (c.first + std::min<std::int64_t>(c.last, 699)) * c.num_vertices);
  }
  EXPECT_GE(next, 700);
}

/// Two blocks: one long list that little leads to, and 11 short ones that everything leads to.
TEST(Profile, CurvesPutWhatIsReadMostPerByteFirst)
{
  constexpr vertex_id far = 1U << 20U;
  std::vector<std::vector<vertex_id>> lists(far + 1);
  for (vertex_id i = 0; i < 4096; ++i) { lists[0].push_back(11 + i % 11); }  // parallel edges, at 5 bits
  std::sort(lists[0].begin(), lists[0].end());
  for (vertex_id v = 11; v < 22; ++v) { lists[v] = {0}; }
  graph_profile const profile = profile_graph(from_lists(lists), {10});
  EXPECT_EQ(profile.placed_form, graph_form::packed);
  std::int64_t const hub = 4096 * 5 / 8,
                     others = 11;  // 11 lists of a bit, each from a whole byte on
  auto const& walks = profile.walks.points();
  ASSERT_EQ(walks.size(), 3U);
  EXPECT_EQ(walks[1].reads, 4096U);
  EXPECT_EQ(walks[2].reads, 4096U + 11U);
  EXPECT_LE(walks[1].bytes, 3 * others);
  EXPECT_EQ(walks[2].bytes - walks[1].bytes, hub);
  EXPECT_DOUBLE_EQ(profile.walks.share_at(0), 0);
  EXPECT_DOUBLE_EQ(profile.walks.share_at(walks[1].bytes), 4096.0 / 4107);
  EXPECT_DOUBLE_EQ(profile.walks.share_at(walks[1].bytes + hub / 2), 4101.5 / 4107);
  EXPECT_DOUBLE_EQ(profile.walks.share_at(1 << 20), 1);
  auto const& batches = profile.batches.points();
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[1].reads, 11U);
  EXPECT_EQ(batches[2].reads, 11U + 10U);
}

/// On a symmetric graph as many edges lead to a vertex as leave it: both ways of counting give one curve.
TEST(Profile, ArrivalsOfASymmetricGraphAreItsDegrees)
{
  graph const symmetric = test::simple_rmat();
  graph_arrays arrays = symmetric.arrays();
  arrays.symmetric = false;
  graph_profile const a = profile_graph(symmetric), b = profile_graph(graph(std::move(arrays)));
  ASSERT_EQ(a.walks.points().size(), b.walks.points().size());
  for (std::size_t i = 0; i < a.walks.points().size(); ++i) {
    EXPECT_EQ(a.walks.points()[i].bytes, b.walks.points()[i].bytes);
    EXPECT_EQ(a.walks.points()[i].reads, b.walks.points()[i].reads);
  }
  EXPECT_EQ(a.walks.points().back().reads, static_cast<std::uint64_t>(symmetric.num_edges()));
}

TEST(Profile, ThreadsDoNotChangeIt)
{
  graph const g = generate_web({60'000, 10}, {});
  cpu_exec exec;
  exec.num_threads = 1;
  graph_profile const one = profile_graph(g, {}, exec);
  exec.num_threads = 7;
  graph_profile const seven = profile_graph(g, {}, exec);
  EXPECT_EQ(one.gaps, seven.gaps);
  for (std::size_t f = 0; f < num_graph_forms; ++f) { EXPECT_EQ(one.sizes[f].bytes(), seven.sizes[f].bytes()); }
  ASSERT_EQ(one.batches.points().size(), seven.batches.points().size());
  for (double const share : {0.1, 0.5, 0.9}) {
    auto const bytes = static_cast<std::int64_t>(share * static_cast<double>(one.batches.points().back().bytes));
    EXPECT_EQ(one.batches.share_at(bytes), seven.batches.share_at(bytes));
    EXPECT_GT(one.batches.share_at(bytes), share) << "what is read most per byte comes first";
  }
}

TEST(Profile, RefusesAFanoutBelowOne)
{
  EXPECT_EQ(test::message_of<argument_error>([] { (void)profile_graph(graph(), {0}); }),
            "fanout: 0, expected at least 1");
}

}  // namespace
}  // namespace tendril
