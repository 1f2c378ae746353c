// A graph's way to the GPU and back.

#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "support/gpu_test.hpp"

namespace tendril {
namespace {

using graph_on_gpu = test::gpu_test;

template <class T>
void expect_equal(shared_array<T> const& a, shared_array<T> const& b)
{
  ASSERT_EQ(a.size(), b.size());
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
}

TEST_F(graph_on_gpu, comes_back_as_it_went)
{
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 5;
  extra.num_node_types = 300;
  build_options options;
  options.symmetrize = true;
  graph const g = generate_rmat({.scale = 10}, options, extra);
  graph const there = to_gpu(g, exec);
  EXPECT_EQ(there.device(), exec.device);
  EXPECT_EQ(there.num_edges(), g.num_edges());
  EXPECT_EQ(to_gpu(there, exec).arrays().indices.data(), there.arrays().indices.data()) << "a copy was made";
  graph const back = to_host(there, exec);
  EXPECT_EQ(back.device(), -1);
  expect_equal(back.arrays().indptr, g.arrays().indptr);
  expect_equal(back.arrays().indices, g.arrays().indices);
  expect_equal(back.arrays().weights, g.arrays().weights);
  for (edge_id e = 0; e < g.num_edges(); ++e) { ASSERT_EQ(back.csr().edge_labels[e], g.csr().edge_labels[e]); }
  for (std::int64_t v = 0; v < g.num_vertices(); ++v) { ASSERT_EQ(back.csr().node_types[v], g.csr().node_types[v]); }
}

TEST_F(graph_on_gpu, may_be_empty)
{
  graph const back = to_host(to_gpu(graph(), exec), exec);
  EXPECT_EQ(back.num_vertices(), 0);
  EXPECT_EQ(back.num_edges(), 0);
}

TEST_F(graph_on_gpu, says_how_much_memory_was_missing)
{
  std::int64_t const much = describe_gpu(exec.device).total_bytes + (std::int64_t{1} << 30);
  try {
    buffer<char> const out_of_reach(much, gpu_memory(exec.device));
    FAIL() << "allocated more than there is";
  } catch (memory_error const& e) {
    EXPECT_NE(std::string(e.what()).find("MB needed"), std::string::npos) << e.what();
  }
  buffer<char> const after(1 << 20, gpu_memory(exec.device));  // the GPU can be used as before
  EXPECT_NE(after.data(), nullptr);
}

TEST(gpu, that_is_not_there_is_named)
{
  try {
    (void)describe_gpu(1000);
    FAIL() << "there can't be so many";
  } catch (device_error const& e) {
    EXPECT_NE(std::string(e.what()).find("GPU"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tendril
