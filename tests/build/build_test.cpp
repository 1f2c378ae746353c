// A built graph holds exactly the arcs its options ask for, in order, whatever the threads: compared with the serial
// build of build_verifier.hpp over random inputs of many shapes, and by hand where the options meet.

#include <limits>

#include <tendril/error.hpp>

#include "build/build_verifier.hpp"
#include "support/build_options_of.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

using test::edge_list;
using test::expect_built;
using test::make_edges;
using test::shape;

constexpr shape all_shapes[] = {shape::uniform, shape::hub,    shape::two_vertices, shape::one_pair, shape::crowd,
                                shape::skewed,  shape::sorted, shape::sparse_ids,   shape::loops};

TEST(build, agrees_with_the_serial_verifier)
{
  for (auto const kind : all_shapes) {
    for (unsigned bits = 0; bits < test::num_build_options; ++bits) {
      auto options = test::options_of(bits);
      if (kind == shape::sparse_ids) { options.compact = true; }  // else 4 billion offsets
      bool const weights = (bits * 7 + static_cast<unsigned>(kind)) % 3 != 0;
      int const label_bytes = static_cast<int>((bits / 3 + static_cast<unsigned>(kind)) % 3);
      std::int64_t const size = bits % 9 == 0 ? test::unless_sanitized(20'000, 4'000) : 300 + 17 * bits;
      auto const edges = make_edges(kind, size, weights, label_bytes, bits);
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(kind) << ", options " << bits);
      cpu_exec exec;
      exec.num_threads = 1 + static_cast<int>(bits % 4);
      expect_built(build_graph(edges.view(), options, exec), edges, options);
    }
  }
}

TEST(build, agrees_where_buckets_are_split_and_many)
{
  for (auto const kind : all_shapes) {
    for (unsigned const bits : {0U, 10U, 42U, 63U}) {
      if (test::is_sanitized && bits != 42) { continue; }
      auto options = test::options_of(bits);
      if (kind == shape::sparse_ids) { options.compact = true; }
      auto const edges = make_edges(kind, 50'000, bits % 4 == 2, bits % 16 == 10 ? 2 : 0, bits);
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(kind) << ", options " << bits);
      expect_built(build_graph(edges.view(), options), edges, options);
    }
  }
}

TEST(build, does_not_depend_on_threads)
{
  for (auto const kind : all_shapes) {
    auto const edges = make_edges(kind, 40'000, true, 1, 5);
    for (unsigned const bits : {2U, 58U}) {
      auto options = test::options_of(bits | (kind == shape::sparse_ids ? 16U : 0U));
      cpu_exec exec;
      exec.num_threads = 1;
      auto const one = build_graph(edges.view(), options, exec);
      for (int const threads : {2, 3, 7}) {
        exec.num_threads = threads;
        SCOPED_TRACE(threads);
        test::expect_same_graph(one, build_graph(edges.view(), options, exec));
      }
    }
  }
}

TEST(build, of_a_graph_equals_a_build_of_its_edges)
{
  for (auto const kind : {shape::uniform, shape::hub, shape::loops}) {
    auto const edges = make_edges(kind, test::unless_sanitized(5000, 1000), true, 2, 11);
    auto const g = build_graph(edges.view(), {});
    edge_list flat;
    for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
      for (auto e = g.arrays().indptr[v]; e < g.arrays().indptr[v + 1]; ++e) {
        flat.sources.push_back(static_cast<vertex_id>(v));
        flat.targets.push_back(g.arrays().indices[e]);
        flat.weights.push_back(g.arrays().weights[e]);
        flat.wide_labels.push_back(g.arrays().edge_labels.view()[e]);
      }
    }
    for (unsigned bits = 0; bits < test::num_build_options; ++bits) {
      SCOPED_TRACE(bits);
      cpu_exec exec;
      exec.num_threads = 1 + static_cast<int>(bits % 3);
      expect_built(build_graph(g, test::options_of(bits), exec), flat, test::options_of(bits));
    }
  }
}

TEST(build, of_a_graph_keeps_names_types_and_first_ids)
{
  edge_list const edges{{10, 30, 30}, {30, 10, 70}, {}, {}, {}};
  build_options compact;
  compact.compact = true;
  auto arrays = build_graph(edges.view(), compact).arrays();
  buffer<std::uint8_t> types(3);
  types[0] = 4, types[1] = 5, types[2] = 6;
  arrays.node_types = shared_array(std::move(types));
  arrays.node_type_names = {"a", "b"};
  arrays.metadata["name"] = "three";
  graph const three(arrays);  // 0 -> 1, 1 -> 0, 1 -> 2

  edge_list const two{{1, 1}, {1, 2}, {}, {}, {}};
  build_options with_vertices;
  with_vertices.num_vertices = 3;
  auto again = build_graph(two.view(), with_vertices).arrays();  // vertex 0 has no edge, and the loop will go
  again.node_types = arrays.node_types;
  again.original_ids = arrays.original_ids;
  again.metadata = arrays.metadata;
  again.node_type_names = arrays.node_type_names;
  compact.drop_self_loops = true;
  auto const g = build_graph(graph(again), compact);
  ASSERT_EQ(g.num_vertices(), 2);
  EXPECT_EQ(g.arrays().original_ids[0], 30U);
  EXPECT_EQ(g.arrays().original_ids[1], 70U);
  EXPECT_EQ(g.arrays().node_types.view()[0], 5);
  EXPECT_EQ(g.arrays().node_types.view()[1], 6);
  EXPECT_EQ(g.arrays().node_type_names, arrays.node_type_names);
  EXPECT_EQ(g.arrays().metadata.at("name"), "three");
}

TEST(build, symmetrized_graphs_are_symmetric_and_stay_so)
{
  auto const edges = make_edges(shape::skewed, 4'000, true, 1, 3);
  for (unsigned bits = 0; bits < test::num_build_options; ++bits) {
    auto const g = build_graph(edges.view(), test::options_of(bits));
    EXPECT_EQ(g.arrays().symmetric, (bits & 2U) != 0);
    auto again = test::options_of(bits);
    again.symmetrize = false;
    auto const h = build_graph(g, again);
    EXPECT_EQ(h.arrays().symmetric, g.arrays().symmetric);
    EXPECT_NO_THROW(h.validate());
  }
}

TEST(build, drops_the_flag_where_dropping_duplicates_leaves_unequal_weights)
{
  // Two edges each way, ordered by weight in one direction and against it in the other.
  edge_list const edges{{0, 0, 1, 1}, {1, 1, 0, 0}, {1, 2, 2, 1}, {}, {}};
  auto arrays = build_graph(edges.view(), {}).arrays();
  arrays.symmetric = true;
  graph const g(arrays);
  EXPECT_NO_THROW(g.validate());
  build_options unique;
  unique.drop_duplicates = true;
  EXPECT_FALSE(build_graph(g, unique).arrays().symmetric);
}

TEST(build, of_nothing)
{
  for (unsigned bits = 0; bits < test::num_build_options; ++bits) {
    auto options = test::options_of(bits);
    auto const none = build_graph(coo_view{}, options);
    EXPECT_EQ(none.num_vertices(), 0);
    EXPECT_EQ(none.num_edges(), 0);
    EXPECT_EQ(build_graph(none, options).num_vertices(), 0);
    EXPECT_EQ(build_graph(graph(), options).num_vertices(), 0);
    options.num_vertices = 5;
    auto const five = build_graph(coo_view{}, options);
    EXPECT_EQ(five.num_vertices(), options.compact ? 0 : 5);
    EXPECT_NO_THROW(five.validate());
  }
}

TEST(build, of_the_largest_id)
{
  edge_list const edges{{0xfffffffeU, 7}, {7, 0xfffffffeU}, {}, {}, {}};
  build_options options;
  options.compact = true;
  auto const g = build_graph(edges.view(), options);
  ASSERT_EQ(g.num_vertices(), 2);
  EXPECT_EQ(g.arrays().original_ids[1], 0xfffffffeU);
}

TEST(build, names_the_first_bad_edge)
{
  auto edges = make_edges(shape::uniform, 600'000, true, 0, 1);
  build_options options;
  options.num_vertices = 75'000;
  EXPECT_NO_THROW((void)build_graph(edges.view(), options));
  auto const failure = [&] {
    cpu_exec exec;
    exec.num_threads = 3;
    return test::message_of<error>([&] { (void)build_graph(edges.view(), options, exec); });
  };
  edges.weights[555'555] = -1;
  EXPECT_EQ(failure(), "build_graph: edge 555555: weight -1, expected a finite number >= 0");
  edges.weights[555'554] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(failure(), "build_graph: edge 555554: weight nan, expected a finite number >= 0");
  edges.weights[555'553] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(failure(), "build_graph: edge 555553: weight inf, expected a finite number >= 0");
  edges.targets[300'000] = 75'000;
  EXPECT_EQ(failure(), "build_graph: edge 300000: target 75000, expected an id below num_vertices, 75000");
  edges.sources[299'999] = no_vertex;
  EXPECT_EQ(failure(), "build_graph: edge 299999: source 4294967295, expected an id below num_vertices, 75000");
  options.num_vertices = -1;
  EXPECT_EQ(failure(),
            "build_graph: edge 299999: source 4294967295, expected an id below the largest number of vertices, "
            "4294967295");
}

TEST(build, refuses_arguments_that_do_not_fit)
{
  edge_list edges{{0, 1}, {1}, {}, {}, {}};
  EXPECT_EQ(test::message_of<error>([&] { (void)build_graph(edges.view(), {}); }),
            "build_graph: 1 targets, expected as many as sources, 2");
  edges.targets = {1, 0};
  edges.weights = {1};
  EXPECT_EQ(test::message_of<error>([&] { (void)build_graph(edges.view(), {}); }),
            "build_graph: 1 weights, expected as many as sources, 2");
  edges.weights = {};
  build_options options;
  options.num_vertices = -2;
  EXPECT_THROW((void)build_graph(edges.view(), options), argument_error);
  options.num_vertices = max_num_vertices + 1;
  EXPECT_THROW((void)build_graph(edges.view(), options), argument_error);
  options.num_vertices = 1;
  EXPECT_EQ(test::message_of<error>([&] { (void)build_graph(build_graph(edges.view(), {}), options); }),
            "build_graph: num_vertices is 1, expected -1 or at least the graph's own number, 2");
}

TEST(build, refuses_a_graph_with_broken_offsets)
{
  buffer<edge_id> indptr(4);
  indptr[0] = 0, indptr[1] = 9'000'000'000, indptr[2] = 1, indptr[3] = 2;
  buffer<vertex_id> indices(2);
  indices[0] = indices[1] = 0;
  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  EXPECT_EQ(test::message_of<error>([&] { (void)build_graph(graph(arrays), {}); }),
            "vertex 0: 9000000000 edges, expected at most 4294967295");
}

TEST(build, reports_progress_and_stops_when_told)
{
  auto const edges = make_edges(shape::uniform, 1000, false, 0, 1);
  std::vector<std::int64_t> done;
  cpu_exec exec;
  exec.on_progress = [&](progress const& p) { done.push_back(p.done); };
  (void)build_graph(edges.view(), {}, exec);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 5);
  exec.on_progress = [](progress const& p) {
    if (p.done == 3) { throw std::runtime_error("stop"); }
  };
  EXPECT_EQ(
      [&] {
        try {
          (void)build_graph(edges.view(), {}, exec);
        } catch (std::runtime_error const& e) {
          return std::string(e.what());
        }
        return std::string();
      }(),
      "stop");
}

}  // namespace
}  // namespace tendril
