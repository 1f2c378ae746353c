// The longest rows that a walk can have: positions up to 2^31 - 2, where sums of them are no int32 any more. A walk that
// ends at once leaves the filling of its row to one warp.

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <tendril/walk.hpp>

#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

using LongWalkOnGpu = gpu_test;

TEST_F(LongWalkOnGpu, FillsTheLongestRow)
{
  constexpr std::int64_t length = 2147483646;
  constexpr std::int64_t looked_at = 1000;
  if (free_gpu_bytes(0) < 10'000'000'000) { GTEST_SKIP() << "less than 10 GB of GPU memory are free"; }
  graph const there = to_gpu(make_graph(4, {{0, 1}, {1, 2}, {2, 3}}), exec);
  std::vector<vertex_id> const start = {0};
  buffer<vertex_id> from(1, memory_of(exec));
  ASSERT_EQ(cudaMemcpy(from.data(), start.data(), sizeof(vertex_id), cudaMemcpyDefault), cudaSuccess);
  buffer<vertex_id> row(length + 1, memory_of(exec));
  buffer<std::int32_t> steps(1, memory_of(exec));
  for (auto const at_end : {dead_end::stop, dead_end::repeat}) {
    SCOPED_TRACE(at_end == dead_end::stop ? "stop" : "repeat");
    ASSERT_EQ(cudaMemset(row.data(), 0x55, static_cast<std::size_t>(row.size()) * sizeof(vertex_id)), cudaSuccess);
    walker(there, {.length = length, .dead_ends = at_end}, 1, exec)
        .run_into(from.span(), 0, row.data(), steps.data(), exec);
    std::int32_t taken = -1;
    ASSERT_EQ(cudaMemcpy(&taken, steps.data(), sizeof taken, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(taken, 3);
    vertex_id const rest = at_end == dead_end::stop ? no_vertex : 3;
    std::vector<vertex_id> expected(looked_at, rest);
    EXPECT_EQ(copied(row.data() + length + 1 - looked_at, looked_at), expected);
    EXPECT_EQ(copied(row.data() + length / 2, looked_at), expected);
    for (vertex_id v = 0; v < 4; ++v) { expected[v] = v; }
    EXPECT_EQ(copied(row.data(), looked_at), expected);
  }
}

}  // namespace
}  // namespace tendril::test
