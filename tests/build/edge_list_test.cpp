// A build that takes its edges apart makes the graph that the same edges make where they stay: all options, with few
// edges (one pass) and with many (several passes, each of which takes its edges out of the list).

#include <algorithm>

#include <gtest/gtest.h>

#include <tendril/edge_list.hpp>
#include <tendril/error.hpp>

#include "build/build_verifier.hpp"
#include "support/build_options_of.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

using test::make_edges;
using test::shape;

template <class T>
buffer<T> copy_of(std::vector<T> const& from)
{
  buffer<T> out(static_cast<std::int64_t>(from.size()));
  std::copy(from.begin(), from.end(), out.begin());
  return out;
}

edge_list owned(test::edge_list const& edges)
{
  return {copy_of(edges.sources), copy_of(edges.targets), copy_of(edges.weights), copy_of(edges.narrow_labels),
          copy_of(edges.wide_labels)};
}

template <class Array>
bool same(Array const& a, Array const& b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

void expect_same(graph const& a, graph const& b)
{
  auto const &x = a.arrays(), &y = b.arrays();
  EXPECT_TRUE(same(x.indptr, y.indptr));
  EXPECT_TRUE(same(x.indices, y.indices));
  EXPECT_TRUE(same(x.weights, y.weights));
  EXPECT_TRUE(same(x.edge_ids, y.edge_ids));
  EXPECT_TRUE(same(x.original_ids, y.original_ids));
  ASSERT_EQ(x.edge_labels.size(), y.edge_labels.size());
  for (std::int64_t e = 0; e < x.edge_labels.size(); ++e) {
    ASSERT_EQ(x.edge_labels.view()[e], y.edge_labels.view()[e]) << e;
  }
  EXPECT_EQ(x.symmetric, y.symmetric);
}

TEST(edge_list_build, is_the_serial_build_of_few_edges)
{
  for (auto const kind : {shape::uniform, shape::hub, shape::one_pair, shape::skewed, shape::loops}) {
    for (unsigned bits = 0; bits < test::num_build_options; ++bits) {
      auto const edges = make_edges(kind, 500, bits % 3 != 0, static_cast<int>(bits / 3 % 3), bits);
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(kind) << ", options " << bits);
      cpu_exec exec;
      exec.num_threads = 1 + static_cast<int>(bits % 4);
      test::expect_built(build_graph(owned(edges), test::options_of(bits), exec), edges, test::options_of(bits));
    }
  }
}

TEST(edge_list_build, takes_several_passes_to_the_same_graph)
{
  // More than a pass holds, with blanks between the pages that stay.
  constexpr std::int64_t size = test::unless_sanitized(700'000, 350'000);
  for (auto const kind : {shape::uniform, shape::skewed, shape::hub, shape::sorted, shape::loops}) {
    for (unsigned const bits : {0U, 2U, 4U, 8U, 10U, 25U, 32U, 56U}) {
      if (test::is_sanitized && (bits + static_cast<unsigned>(kind)) % 3 != 0) { continue; }
      auto const edges = make_edges(kind, size, bits % 4 == 0, bits == 8U ? 2 : bits == 4U ? 1 : 0, bits);
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(kind) << ", options " << bits);
      cpu_exec exec;
      exec.num_threads = 1 + static_cast<int>(bits % 3);
      expect_same(build_graph(owned(edges), test::options_of(bits), exec),
                  build_graph(edges.view(), test::options_of(bits), exec));
    }
  }
}

TEST(edge_list_build, refuses_what_a_build_of_a_view_refuses)
{
  test::edge_list edges = make_edges(shape::uniform, 100, true, 0, 1);
  edges.weights[7] = -1;
  EXPECT_EQ(test::message_of<format_error>([&] { (void)build_graph(owned(edges), {}); }),
            test::message_of<format_error>([&] { (void)build_graph(edges.view(), {}); }));
  edges.targets.pop_back();
  EXPECT_THROW((void)build_graph(owned(edges), {}), argument_error);
}

TEST(edge_list_build, of_no_edges)
{
  build_options options;
  options.num_vertices = 3;
  auto const g = build_graph(edge_list{}, options);
  EXPECT_EQ(g.num_vertices(), 3);
  EXPECT_EQ(g.num_edges(), 0);
}

}  // namespace
}  // namespace tendril
