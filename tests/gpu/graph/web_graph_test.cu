// Rows of web-like graphs evaluated in a kernel: run by run those of the CPU, at any size of the graph.

#include <cstdint>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "core/web_shape.hpp"
#include "gpu/device/launch.cuh"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"

namespace tendril {
namespace {

using web_graph_on_gpu = test::gpu_test;

/// A row in short.
struct row_summary {
  std::uint32_t degree, num_runs;
  std::uint64_t digest;  ///< FNV-1a over begin and end of each run.

  friend bool operator==(row_summary const&, row_summary const&) = default;
};

TENDRIL_HD row_summary summary_of(core::web_row row)
{
  row_summary out{row.degree(), 0, 0xcbf29ce484222325ULL};
  for (core::web_run run{}; row.next(run);) {
    ++out.num_runs;
    out.digest = (out.digest ^ run.begin) * 0x100000001b3ULL;
    out.digest = (out.digest ^ run.end) * 0x100000001b3ULL;
  }
  return out;
}

/// One thread a span of `span` vertices that begins at a vertex of `starts`.
__global__ __launch_bounds__(256) void summary_kernel(core::web_graph rule, vertex_id const* starts,
                                                      std::int64_t num_starts, std::uint32_t span, row_summary* out)
{
  for (std::int64_t i = gpu::global_thread(); i < num_starts; i += gpu::grid_stride()) {
    vertex_id const begin = starts[i];
    row_summary* const own = out + i * span;
    core::for_each_web_row(rule, begin, begin + span,
                           [&](vertex_id v, core::web_row const& row) { own[v - begin] = summary_of(row); });
  }
}

TEST_F(web_graph_on_gpu, rows_are_those_of_the_cpu)
{
  constexpr std::uint32_t span = 5;
  for (std::uint32_t const n : {0xffffffffU, 0x80000001U, 1'000'003U, 40'000U, 5U}) {
    std::int64_t num_edges = 0;
    for (double const edge_factor : {0.5, 3.0, 10.0, 43.6, 256.0}) {
      SCOPED_TRACE(testing::Message() << n << " vertices, " << edge_factor);
      auto const rule = core::web_graph_of(n + 7, n, edge_factor);
      // Evenly over the graph, and the last vertices.
      std::vector<vertex_id> starts;
      for (std::uint32_t i = 0; i < 4000; ++i) {
        starts.push_back(static_cast<vertex_id>(std::uint64_t{i} * (n - span) / 4000));
      }
      starts.push_back(n - span);

      auto const num_starts = static_cast<std::int64_t>(starts.size());
      buffer<vertex_id> const starts_there = test::on_gpu(starts, exec);
      buffer<row_summary> out(num_starts * span, memory_of(exec));
      summary_kernel<<<gpu::grid_blocks(num_starts, 256), 256, 0, exec.stream>>>(rule, starts_there.data(), num_starts,
                                                                                 span, out.data());
      TENDRIL_CUDA_TRY(cudaGetLastError());
      TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
      auto const there = test::copied(out);

      for (std::size_t i = 0; i < starts.size(); ++i) {
        core::for_each_web_row(rule, starts[i], starts[i] + span, [&](vertex_id v, core::web_row const& row) {
          row_summary const here = summary_of(row);
          ASSERT_EQ(there[i * span + (v - starts[i])], here) << v;
          num_edges += here.degree;
        });
      }
    }
    EXPECT_GT(num_edges, 0) << n;
  }
}

}  // namespace
}  // namespace tendril
