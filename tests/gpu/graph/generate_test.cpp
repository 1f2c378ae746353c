// Graphs built and generated on the GPU: every array of the CPU's graph, bit for bit, whatever the options.

#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "build/build_verifier.hpp"
#include "support/build_options_of.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"

namespace tendril {
namespace {

using generate_on_gpu = test::gpu_test;
using build_on_gpu = test::gpu_test;

void expect_same(graph const& there, graph const& here, gpu_exec const& exec)
{
  ASSERT_EQ(there.device(), exec.device);
  graph const back = to_host(there, exec);
  test::expect_same_graph(back, here);
  EXPECT_EQ(back.num_vertices(), here.num_vertices());
  EXPECT_EQ(back.num_edges(), here.num_edges());
  EXPECT_EQ(back.arrays().metadata, here.arrays().metadata);
}

std::vector<edge_attributes> edge_attributes_to_draw()
{
  std::vector<edge_attributes> out(4);
  out[1].has_weights = true;
  out[1].num_labels = 5;
  out[2].weight_sigma = 3;
  out[2].num_labels = 300;
  out[2].num_node_types = 4;
  out[3].weight_sigma = 10;
  out[3].num_node_types = 65'536;
  return out;
}

TEST_F(generate_on_gpu, makes_the_graphs_of_the_cpu_with_all_options)
{
  auto const extras = edge_attributes_to_draw();
  for (unsigned bits = 0; bits < test::num_build_options; ++bits) {
    SCOPED_TRACE(bits);
    build_options const options = test::options_of(bits);
    edge_attributes const& extra = extras[bits % extras.size()];
    rmat_params rmat;
    rmat.scale = 10;
    rmat.edge_factor = 3;
    rmat.seed = bits;
    expect_same(generate_rmat(rmat, options, extra, exec), generate_rmat(rmat, options, extra), exec);
    er_params const er{3000, 2500, bits};
    expect_same(generate_er(er, options, extra, exec), generate_er(er, options, extra), exec);
    powerlaw_params const law{2000, 1.8, 1, 1500, bits};
    expect_same(generate_powerlaw(law, options, extra, exec), generate_powerlaw(law, options, extra), exec);
  }
}

TEST_F(generate_on_gpu, draws_all_edge_attributes_as_the_cpu_does)
{
  build_options options;
  for (bool const symmetrize : {false, true}) {
    options.symmetrize = symmetrize;
    for (auto const& extra : edge_attributes_to_draw()) {
      expect_same(generate_rmat({.scale = 15}, options, extra, exec), generate_rmat({.scale = 15}, options, extra),
                  exec);
    }
  }
}

TEST_F(generate_on_gpu, follows_the_parameters_of_rmat)
{
  build_options options;
  options.symmetrize = options.drop_duplicates = true;
  // Probabilities whose thresholds often tie with 16 random bits, and certain ones.
  std::vector<rmat_params> const all{{18, 4, 0.25, 0.25, 0.25, true, 7}, {9, 16, 1, 0, 0, false, 0},
                                     {9, 16, 0, 0, 0, true, 0},          {1, 5, .57, .19, .19, true, 3},
                                     {12, 0, .57, .19, .19, true, 3},    {11, 1.37, .1, .2, .3, false, 9}};
  for (auto const& p : all) {
    SCOPED_TRACE(p.scale);
    expect_same(generate_rmat(p, options, {}, exec), generate_rmat(p, options), exec);
  }
}

TEST_F(generate_on_gpu, follows_the_parameters_of_power_laws)
{
  // Exponents beside and on 1, where the law's integral is a logarithm; a hub of 2^20 and more.
  std::vector<powerlaw_params> const all{
      {20'000, 0.5, 1, 300, 1},  {20'000, 1, 2, 300, 2}, {20'000, 1.0000001, 1, 300, 3}, {20'000, 3.5, 3, 9000, 4},
      {5, 2.5, 1, 3'000'000, 5}, {1, 2, 7, 7, 6},        {30'000, 20, 1, 100, 7}};
  for (auto const& p : all) {
    SCOPED_TRACE(p.seed);
    expect_same(generate_powerlaw(p, {}, {}, exec), generate_powerlaw(p, {}), exec);
    build_options options;
    options.symmetrize = options.drop_duplicates = true;
    expect_same(generate_powerlaw(p, options, {}, exec), generate_powerlaw(p, options), exec);
  }
}

TEST_F(generate_on_gpu, refuses_what_does_not_fit_before_it_starts)
{
  build_options options;
  options.symmetrize = true;
  auto const expect_refusal = [](char const* start, auto&& make) {
    try {
      (void)make();
      ADD_FAILURE() << "made a graph that doesn't fit";
    } catch (memory_error const& e) {
      std::string const what = e.what();
      EXPECT_TRUE(what.starts_with(start)) << what;
      EXPECT_NE(what.find("GB to build, expected at most the "), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  };
  std::int64_t const free = free_gpu_bytes(exec.device);
  expect_refusal("generate_rmat: ",
                 [&] { return generate_rmat({.scale = 31, .edge_factor = 1e5}, options, {}, exec); });
  expect_refusal("generate_er: ", [&] { return generate_er({1000, std::int64_t{1} << 50, 0}, options, {}, exec); });
  expect_refusal("generate_powerlaw: ", [&] {
    return generate_powerlaw({1'000'000, 0.01, 1, 4'000'000'000, 0}, options, {}, exec);
  });
  EXPECT_GE(free_gpu_bytes(exec.device), free - (std::int64_t{64} << 20U)) << "memory was left allocated";
  EXPECT_EQ(generate_rmat({.scale = 4, .edge_factor = 1}, {}, {}, exec).num_edges(), 16);
}

TEST_F(generate_on_gpu, refuses_parameters_as_the_cpu_does)
{
  EXPECT_EQ(test::message_of<argument_error>([&] { (void)generate_rmat({.scale = 32}, {}, {}, exec); }),
            "generate_rmat: scale is 32, expected 1 to 31");
  edge_attributes extra;
  extra.weight_sigma = 11;
  EXPECT_EQ(test::message_of<argument_error>([&] { (void)generate_er({}, {}, extra, exec); }),
            "generate_er: weight_sigma is 11, expected 0 (uniform weights) to 10");
  build_options few;
  few.num_vertices = 15;
  EXPECT_EQ(test::message_of<argument_error>([&] { (void)generate_rmat({.scale = 4}, few, {}, exec); }),
            "generate_rmat: build.num_vertices is 15, expected -1 or 16 to 4294967295");
}

/// The user's edges in GPU memory. They travel as the neighbours of a graph with one
/// vertex, which to_gpu copies and, being told that they are sound, does not check.
class edges_there {
 public:
  edges_there(test::edge_list const& from, gpu_exec const& exec)
  {
    graph_arrays arrays = neighbours(from.sources);
    arrays.weights = borrowed(from.weights);
    if (!from.narrow_labels.empty()) { arrays.edge_labels = borrowed(from.narrow_labels); }
    if (!from.wide_labels.empty()) { arrays.edge_labels = borrowed(from.wide_labels); }
    sources_ = to_gpu(graph(std::move(arrays), graph_content::sound), exec);
    targets_ = to_gpu(graph(neighbours(from.targets), graph_content::sound), exec);
  }

  [[nodiscard]] coo_view view() const
  {
    auto const& arrays = sources_.arrays();
    return {arrays.indices.span(), targets_.arrays().indices.span(), arrays.weights.span(), arrays.edge_labels.view()};
  }

 private:
  template <class T>
  static shared_array<T> borrowed(std::vector<T> const& from)
  {
    return shared_array<T>(std::span<T const>(from), nullptr);
  }

  static graph_arrays neighbours(std::vector<vertex_id> const& ids)
  {
    buffer<edge_id> offsets(2);
    offsets[0] = 0;
    offsets[1] = static_cast<edge_id>(ids.size());
    graph_arrays arrays;
    arrays.indptr = std::move(offsets);
    arrays.indices = borrowed(ids);
    return arrays;
  }

  graph sources_, targets_;
};

TEST_F(build_on_gpu, makes_the_graphs_of_the_cpu_with_all_options)
{
  using test::shape;
  for (auto const kind : {shape::uniform, shape::hub, shape::two_vertices, shape::one_pair, shape::crowd, shape::skewed,
                          shape::sorted, shape::loops}) {
    for (int const label_bytes : {0, 1, 2}) {
      for (bool const weights : {false, true}) {
        auto const edges = test::make_edges(kind, 3000, weights, label_bytes, 5);
        edges_there const there(edges, exec);
        for (unsigned bits = 0; bits < test::num_build_options; ++bits) {
          SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(kind) << ", labels " << label_bytes
                                          << ", weights " << weights << ", options " << bits);
          build_options const options = test::options_of(bits);
          expect_same(build_graph(there.view(), options, exec), build_graph(edges.view(), options), exec);
        }
      }
    }
  }
}

TEST_F(build_on_gpu, takes_ids_of_32_bits)
{
  for (std::int64_t const size : {0, 1, 2, 500}) {
    auto const edges = test::make_edges(test::shape::sparse_ids, size, true, 1, 5);
    edges_there const there(edges, exec);
    for (unsigned bits = 8; bits < 16; ++bits) {
      SCOPED_TRACE(testing::Message() << size << " edges, options " << bits);
      build_options const options = test::options_of(bits);
      expect_same(build_graph(there.view(), options, exec), build_graph(edges.view(), options), exec);
    }
  }
}

TEST_F(build_on_gpu, keeps_vertices_without_edges)
{
  auto const edges = test::make_edges(test::shape::crowd, 1000, false, 0, 5);
  edges_there const there(edges, exec);
  build_options options;
  for (std::int64_t const n : {100, 128, 1'000'000}) {
    options.num_vertices = n;
    expect_same(build_graph(there.view(), options, exec), build_graph(edges.view(), options), exec);
  }
}

TEST_F(build_on_gpu, names_the_first_bad_edge_as_the_cpu_does)
{
  auto const expect_message = [&](test::edge_list const& edges, build_options const& options) {
    edges_there const there(edges, exec);
    std::string const here = test::message_of<error>([&] { (void)build_graph(edges.view(), options); });
    EXPECT_NE(here, "nothing was thrown");
    EXPECT_EQ(test::message_of<error>([&] { (void)build_graph(there.view(), options, exec); }), here);
  };
  build_options options;
  options.num_vertices = 300;
  auto edges = test::make_edges(test::shape::crowd, 1000, true, 0, 5);
  edges.targets[500] = 300;
  edges.sources[700] = 301;
  expect_message(edges, options);
  edges.targets[500] = edges.sources[700] = 0;
  edges.weights[999] = -1;
  expect_message(edges, options);
  edges.weights[998] = std::numeric_limits<float>::quiet_NaN();
  expect_message(edges, options);
  edges.weights[997] = std::numeric_limits<float>::infinity();
  edges.sources[1] = no_vertex;
  expect_message(edges, {});
  options.num_vertices = -2;
  expect_message(edges, options);
}

}  // namespace
}  // namespace tendril
