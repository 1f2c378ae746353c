#pragma once

// Subgraphs between host and GPU, for tests that compare both sides.

#include <vector>

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <tendril/subgraph.hpp>

#include "cpu/subgraphs/subgraph_verifier.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"

namespace tendril::test {

template <class T>
bool same(buffer<T> const& on_gpu, buffer<T> const& expected)
{
  auto const got = on_host(on_gpu);
  return std::equal(got.begin(), got.end(), expected.begin(), expected.end());
}

inline subgraphs subgraphs_on_host(subgraphs const& from)
{
  return {from.num_samples,  on_host(from.nodes), on_host(from.node_offsets), on_host(from.row),
          on_host(from.col), on_host(from.edges), on_host(from.edge_offsets)};
}

/// Says which array differs first, and where.
inline void expect_same_subgraphs(subgraphs const& on_gpu, subgraphs const& expected)
{
  subgraphs const got = subgraphs_on_host(on_gpu);
  EXPECT_EQ(got.num_samples, expected.num_samples);
  auto const same = [](char const* what, auto const& a, auto const& b) {
    EXPECT_EQ(a.size(), b.size()) << what;
    for (std::int64_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (a[i] != b[i]) {
        ADD_FAILURE() << what << "[" << i << "] of " << b.size() << ": " << a[i] << ", expected " << b[i];
        return;
      }
    }
  };
  same("node_offsets", got.node_offsets, expected.node_offsets);
  same("nodes", got.nodes, expected.nodes);
  same("edge_offsets", got.edge_offsets, expected.edge_offsets);
  same("row", got.row, expected.row);
  same("col", got.col, expected.col);
  same("edges", got.edges, expected.edges);
}

}  // namespace tendril::test
