// GPU memory that runs out while a graph is placed: one line, nothing is kept, and the graph can be used afterwards. What
// has no room as a whole is placed by itself.

#include <tendril/place.hpp>

#include <string>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <tendril/engine/applications/apps.hpp>
#include <tendril/generate.hpp>
#include <tendril/layer_sampling.hpp>
#include <tendril/starts.hpp>

#include "gpu/placed/managed.hpp"
#include "support/compare_samples.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/short_memory.hpp"

namespace tendril::test {
namespace {

/// Another process that holds all of a GPU's memory but `left` bytes.
class hog {
 public:
  explicit hog(std::int64_t left)
  {
    // Not all that is free can be had in one piece.
    constexpr std::int64_t piece = std::int64_t{8} << 20U;
    std::int64_t const most = gpu::free_for_managed(0) - left;
    for (std::int64_t bytes = most; bytes > most - 4 * piece && bytes > 0 && memory_ == nullptr; bytes -= piece) {
      if (cudaMalloc(&memory_, static_cast<std::size_t>(bytes)) != cudaSuccess) {
        memory_ = nullptr;
        (void)cudaGetLastError();
      }
    }
  }
  ~hog() { (void)cudaFree(memory_); }
  hog(hog const&) = delete;
  hog& operator=(hog const&) = delete;
  [[nodiscard]] bool holds() const { return memory_ != nullptr; }

 private:
  void* memory_ = nullptr;
};

class PlacingFaults : public gpu_test {
 protected:
  /// Some 250 MB, with weights and ids of edges.
  static graph large()
  {
    return generate_rmat({.scale = 19, .edge_factor = 16, .seed = 5}, {.symmetrize = true, .keep_edge_ids = true},
                         {.has_weights = true, .num_node_types = 3});
  }

  void expect_cpus(graph const& host, graph const& there)
  {
    auto const starts = random_vertices(host.num_vertices(), 2000, 3);
    std::vector<vertex_id> const from(starts.begin(), starts.end());
    auto const from_there = on_gpu(from, exec);
    walk_params const params{.length = 10, .weighted = true, .seed = 4};
    EXPECT_EQ(copied_rows(random_walk(there, from_there.span(), params, exec)).vertices,
              copied_rows(random_walk(host, from, params)).vertices);
  }

  /// What f says of memory; nothing if it does its work.
  template <class F>
  static std::string line_of(F f)
  {
    try {
      f();
    } catch (memory_error const& what) {
      return what.what();
    }
    return {};
  }

  static constexpr std::int64_t slack = std::int64_t{16} << 20U;
};

/// Each allocation of the call fails once.
TEST_F(PlacingFaults, AnyAllocationMayFail)
{
  graph const host = generate_rmat({.scale = 15, .edge_factor = 16, .seed = 5}, {.symmetrize = true},
                                   {.has_weights = true, .num_node_types = 3});
  hetero_graph const types({host.num_vertices()}, {{0, 0, host}});
  (void)partly_on_gpu(host, 0.4, exec);
  std::int64_t const before = gpu::free_for_managed(0);
  int failures = 0;
  for (int left = 0;; ++left) {
    short_memory memory(left);
    gpu_exec const poor(0, nullptr, &memory);
    std::string const line = line_of([&] { (void)partly_on_gpu(host, 0.4, poor); });
    std::string const of_types = line_of([&] {
      short_memory own(left);
      (void)partly_on_gpu(types, 0.4, gpu_exec(0, nullptr, &own));
    });
    EXPECT_EQ(line, of_types);
    if (line.find("planted") == std::string::npos) { break; }
    EXPECT_EQ(line, "out of memory: planted");
    ++failures;
    ASSERT_LT(left, 20);
  }
  EXPECT_GE(failures, 2);  // the directory, types of vertices
  EXPECT_GT(gpu::free_for_managed(0), before - slack);
  expect_cpus(host, partly_on_gpu(host, 0.4, exec));
}

TEST_F(PlacingFaults, ABudgetBeyondTheFreeMemory)
{
  graph const host = large();
  {
    hog const other(std::int64_t{100} << 20U);
    if (!other.holds()) { GTEST_SKIP() << "memory could not be taken away"; }
    std::int64_t const before = gpu::free_for_managed(0);
    std::string const line =
        message_of<memory_error>([&] { (void)place_graph(host, {.gpu_bytes = std::int64_t{1} << 40U}, exec); });
    EXPECT_EQ(line.find("gpu_bytes: "), 0U) << line;
    EXPECT_NE(line.find("MB of the graph would lie on GPU 0, which has "), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    EXPECT_GT(gpu::free_for_managed(0), before - slack);
    // What there is goes.
    graph const part = place_graph(
        host, {.gpu_bytes = std::int64_t{60} << 20U, .job = walk_params{.length = 10, .weighted = true}}, exec);
    EXPECT_GT(part.placed()->host_bytes + part.placed()->host_edge_bytes, 0);
    expect_cpus(host, part);
  }
  graph const whole = place_graph(host, {}, exec);
  EXPECT_EQ(whole.placed()->host_bytes, 0);
  expect_cpus(host, whole);
}

/// Nobody says how much there is: the free memory decides.
TEST_F(PlacingFaults, WhatHasNoRoomIsPlacedByItself)
{
  graph const host = large();
  hetero_graph const types({host.num_vertices()}, {{0, 0, host}});
  hog const other(std::int64_t{160} << 20U);
  if (!other.holds()) { GTEST_SKIP() << "memory could not be taken away"; }
  EXPECT_FALSE(fits_on_gpu(host, 0, exec));
  EXPECT_TRUE(fits_on_gpu(host, std::int64_t{1} << 40U, exec));
  EXPECT_THROW((void)to_gpu(host, exec), memory_error);
  {
    graph const there = fit_on_gpu(host, {}, exec);
    ASSERT_NE(there.placed(), nullptr);
    EXPECT_GT(there.placed()->host_bytes + there.placed()->host_edge_bytes, 0);
    expect_cpus(host, there);
  }
  EXPECT_NE(fit_on_gpu(types, {.job = minibatch_params{}}, exec).edge_types()[0].edges.placed(), nullptr);
}

/// Layers of a graph in host memory, which streams where it has no room.
TEST_F(PlacingFaults, CallsOnAGraphInHostMemory)
{
  graph const host = large();
  auto const starts = random_vertices(host.num_vertices(), 500, 3);
  auto const from_there = copy_to_gpu(starts.span(), exec);
  hog const other(std::int64_t{224} << 20U);  // a quarter of it is for the call
  if (!other.holds()) { GTEST_SKIP() << "memory could not be taken away"; }
  for (bool const unique : {false, true}) {
    layer_params const params{.layer_size = 30, .max_size = 60, .unique = unique, .seed = 3};
    auto const here = layer_sample(host, starts.span(), 1, params);
    expect_same_samples(here, layer_sample(host, from_there.span(), 1, params, exec), &exec);
  }
}

}  // namespace
}  // namespace tendril::test
