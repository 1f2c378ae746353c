// Whether two results of a sampling application are the same, wherever they lie.

#pragma once

#include <vector>

#include <gtest/gtest.h>

#include <tendril/application.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>

namespace tendril::test {

/// Elements of a buffer in the memory of `gpu`, or, without one, of the host.
template <class T>
std::vector<T> elements(buffer<T> const& from, gpu_exec const* gpu = nullptr)
{
  std::vector<T> out(static_cast<std::size_t>(from.size()));
  if (out.empty()) { return out; }
  if (gpu == nullptr) {
    std::copy(from.begin(), from.end(), out.begin());
  } else {
    copy_to_host(from.data(), out.data(), out.size() * sizeof(T), *gpu);
  }
  return out;
}

/// Everything that `b`, in the memory of `gpu` if there is one, has in common with `a`, which is in host memory: all.
inline void expect_same_samples(samples const& a, samples const& b, gpu_exec const* gpu = nullptr)
{
  ASSERT_EQ(a.num_samples, b.num_samples);
  ASSERT_EQ(a.num_roots, b.num_roots);
  ASSERT_EQ(a.order, b.order);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  EXPECT_TRUE(elements(a.vertices) == elements(b.vertices, gpu)) << "vertices";
  EXPECT_TRUE(elements(a.roots) == elements(b.roots, gpu)) << "roots";
  for (std::size_t t = 0; t < a.steps.size(); ++t) {
    sampled_step const& x = a.steps[t];
    sampled_step const& y = b.steps[t];
    ASSERT_EQ(x.num_slots, y.num_slots);
    EXPECT_TRUE(elements(x.vertices) == elements(y.vertices, gpu)) << "vertices of step " << t;
    EXPECT_TRUE(elements(x.sizes) == elements(y.sizes, gpu)) << "sizes of step " << t;
    EXPECT_TRUE(elements(x.edge_offsets) == elements(y.edge_offsets, gpu)) << "edge offsets of step " << t;
    EXPECT_TRUE(elements(x.edge_sources) == elements(y.edge_sources, gpu)) << "edge sources of step " << t;
    EXPECT_TRUE(elements(x.edge_targets) == elements(y.edge_targets, gpu)) << "edge targets of step " << t;
  }
}

}  // namespace tendril::test
