// validate() names the first violation of each promise that a graph makes, whatever the threads.

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "build/build_verifier.hpp"
#include "support/damaged_graphs.hpp"
#include "support/to_array.hpp"

namespace tendril {
namespace {

using test::copy_of;
using test::to_array;

/// The message for `arrays`, the same for every number of threads; empty if they are valid.
std::string violation_of(graph_arrays const& arrays)
{
  std::string first;
  for (int const threads : {1, 2, 5}) {
    cpu_exec exec;
    exec.num_threads = threads;
    std::string message;
    try {
      graph(arrays).validate(exec);
    } catch (format_error const& e) {
      message = e.what();
    }
    if (threads == 1) { first = message; }
    EXPECT_EQ(message, first) << threads << " threads";
  }
  return first;
}

/// A ring of n vertices: edge 2 v and 2 v + 1 leave vertex v.
graph_arrays ring(std::int64_t n)
{
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 3;
  return generate_regular(regular_graph::ring, n, 1, extra).arrays();
}

constexpr std::int64_t ring_size = 100'000;  // several ranges of vertices

TEST(validate, accepts_what_the_library_makes)
{
  EXPECT_EQ(violation_of(ring(ring_size)), "");
  EXPECT_EQ(violation_of(ring(1)), "");
  EXPECT_EQ(violation_of(ring(2)), "");
  EXPECT_NO_THROW(graph().validate());
}

TEST(validate, offsets_that_decrease)
{
  auto arrays = ring(ring_size);
  auto indptr = copy_of(arrays.indptr);
  indptr[70'001] = 7;
  indptr[90'001] = -3;
  arrays.indptr = std::move(indptr);
  EXPECT_EQ(violation_of(arrays),
            "vertex 70000: its edges end at 7 but begin at 140000, expected an indptr that never decreases");
}

TEST(validate, offsets_far_out_of_range)
{
  for (std::int64_t const wild : {std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 33U}) {
    auto arrays = ring(ring_size);
    auto indptr = copy_of(arrays.indptr);
    indptr[5] = wild;
    indptr[6] = std::numeric_limits<std::int64_t>::min();
    arrays.indptr = std::move(indptr);
    EXPECT_EQ(violation_of(arrays), "vertex 4: " + std::to_string(wild - 8) + " edges, expected at most 4294967295");
  }
}

TEST(validate, neighbours_out_of_range)
{
  auto arrays = ring(ring_size);
  auto indices = copy_of(arrays.indices);
  indices[2 * 50'000 + 1] = ring_size;
  indices[2 * 60'000] = no_vertex;
  arrays.indices = std::move(indices);
  EXPECT_EQ(violation_of(arrays), "vertex 50000: neighbour 100000 at edge 100001, expected an id below 100000");
}

TEST(validate, neighbours_out_of_order)
{
  auto arrays = ring(ring_size);
  auto indices = copy_of(arrays.indices);
  std::swap(indices[40], indices[41]);
  std::swap(indices[180'000], indices[180'001]);
  arrays.indices = std::move(indices);
  EXPECT_EQ(violation_of(arrays), "vertex 20: neighbours not ascending at edge 41 (19 after 21)");
}

TEST(validate, weights)
{
  for (float const bad : {-1.0F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    auto arrays = ring(ring_size);
    auto weights = copy_of(arrays.weights);
    weights[150'001] = bad;
    weights[190'000] = -5;
    arrays.weights = std::move(weights);
    std::string const shown = std::isnan(bad) ? "nan" : bad < 0 ? "-1" : "inf";
    EXPECT_EQ(violation_of(arrays), "vertex 75000: weight " + shown + " at edge 150001, expected a finite number >= 0");
  }
}

TEST(validate, edge_ids)
{
  auto arrays = ring(ring_size);
  buffer<edge_id> ids(2 * ring_size);
  std::fill(ids.begin(), ids.end(), 1);
  ids[3] = -4;
  arrays.edge_ids = std::move(ids);
  EXPECT_EQ(violation_of(arrays), "vertex 1: edge id -4 at edge 3, expected a number >= 0");
}

TEST(validate, original_ids)
{
  auto arrays = ring(ring_size);
  buffer<vertex_id> ids(ring_size);
  for (std::int64_t v = 0; v < ring_size; ++v) { ids[v] = static_cast<vertex_id>(2 * v); }
  std::swap(ids[5], ids[70'000]);  // any order will do
  graph_arrays any = arrays;
  buffer<vertex_id> copy(ring_size);
  std::copy(ids.begin(), ids.end(), copy.begin());
  any.original_ids = std::move(copy);
  EXPECT_EQ(violation_of(any), "");
  ids[80'000] = ids[79'999];
  ids[90'000] = 0;
  arrays.original_ids = std::move(ids);
  EXPECT_EQ(violation_of(arrays), "vertex 80000: original id 159998, expected another than that of vertex 79999");
}

TEST(validate, original_ids_that_are_spread_wide)
{
  auto arrays = ring(4);
  arrays.original_ids = to_array<vertex_id>({4'000'000'000U, 7, 3'000'000'000U, 0});
  EXPECT_EQ(violation_of(arrays), "");
  arrays.original_ids = to_array<vertex_id>({4'000'000'000U, 7, 4'000'000'000U, 7});
  EXPECT_EQ(violation_of(arrays), "vertex 2: original id 4000000000, expected another than that of vertex 0");
  arrays.original_ids = to_array<vertex_id>({1, 0, no_vertex, 7});
  EXPECT_EQ(violation_of(arrays), "vertex 2: original id 4294967295, expected an id below 4294967295");
}

TEST(validate, a_reverse_that_is_missing)
{
  auto arrays = ring(ring_size);
  auto indices = copy_of(arrays.indices);
  indices[2 * 30'000 + 1] = 30'002;  // was 30001
  arrays.indices = std::move(indices);
  EXPECT_EQ(violation_of(arrays),
            "vertex 30000: 1 edges to 30002 at edge 60001 but 0 back, expected as many in a symmetric graph");
  arrays.symmetric = false;
  EXPECT_EQ(violation_of(arrays), "");
}

TEST(validate, a_reverse_with_another_weight)
{
  auto arrays = ring(ring_size);
  auto weights = copy_of(arrays.weights);
  weights[2 * 30'000 + 1] += 1;
  arrays.weights = std::move(weights);
  EXPECT_EQ(violation_of(arrays),
            "vertex 30000: the edge to 30001 at edge 60001 and its reverse at edge 60002 differ in weight or label, "
            "expected equal ones in a symmetric graph");
}

TEST(validate, parallel_edges_match_in_any_order)
{
  test::edge_list const good{{0, 0, 1, 1}, {1, 1, 0, 0}, {1, 2, 2, 1}, {}, {}};
  auto arrays = build_graph(good.view(), {}).arrays();
  arrays.symmetric = true;
  EXPECT_EQ(violation_of(arrays), "");
  test::edge_list const bad{{0, 0, 1, 1}, {1, 1, 0, 0}, {1, 2, 2, 2}, {}, {}};
  arrays = build_graph(bad.view(), {}).arrays();
  arrays.symmetric = true;
  EXPECT_NE(violation_of(arrays), "");
  test::edge_list const fewer{{0, 0, 1}, {1, 1, 0}, {}, {}, {}};
  arrays = build_graph(fewer.view(), {}).arrays();
  arrays.symmetric = true;
  EXPECT_EQ(violation_of(arrays), "vertex 0: 2 edges to 1 at edge 0 but 1 back, expected as many in a symmetric graph");
}

TEST(validate, reports_each_pass_and_can_be_cancelled)
{
  struct cancelled {};
  for (graph const& g : {graph(ring(ring_size)), compress(graph(ring(ring_size)), graph_form::best)}) {
    std::set<std::string> stages;
    cpu_exec exec;
    exec.on_progress = [&](progress const& report) { stages.insert(report.what); };
    ASSERT_TRUE(g.arrays().symmetric);
    g.validate(exec);
    EXPECT_EQ(stages, (std::set<std::string>{"checking", "symmetry"}));
    for (std::string const& stage : stages) {
      exec.on_progress = [&](progress const& report) {
        if (stage == report.what) { throw cancelled(); }
      };
      EXPECT_THROW(g.validate(exec), cancelled) << stage;
    }
  }
}

}  // namespace
}  // namespace tendril
