// The edges of a batch as other libraries have them: pairs of ends, and numbers. Lists of a batch are short, and there are
// many where edges have types: so a launch writes several.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <cuda_runtime.h>

#include <tendril/gpu_array.hpp>

#include "gpu/device/launch.cuh"

namespace tendril {
namespace {

constexpr int list_threads = 256;
constexpr int most_lists = 32;  // of a launch, whose arguments are 4 KB at most

struct edge_list_job {
  batch_edge_list lists[most_lists];
  std::int64_t before[most_lists + 1];  // edges
  std::int64_t* out;
};

__global__ __launch_bounds__(list_threads) void write_lists_kernel(edge_list_job job, int num_lists)
{
  for (std::int64_t e = gpu::global_thread(); e < job.before[num_lists]; e += gpu::grid_stride()) {
    int which = 0;
    while (e >= job.before[which + 1]) { ++which; }
    batch_edge_list const& list = job.lists[which];
    std::int64_t const i = e - job.before[which];
    std::int64_t* const to = job.out + 3 * job.before[which];
    std::int64_t const edge = list.edge[i];
    to[i] = list.col[i];
    to[list.size + i] = list.row[i];
    to[2 * list.size + i] = list.numbers == nullptr ? edge : list.numbers[edge];
  }
}

}  // namespace

void write_edge_lists(std::span<batch_edge_list const> lists, std::int64_t* out, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  while (!lists.empty()) {
    edge_list_job job{};
    job.out = out;
    auto const now = lists.first(std::min<std::size_t>(lists.size(), most_lists));
    for (std::size_t i = 0; i < now.size(); ++i) {
      job.lists[i] = now[i];
      job.before[i + 1] = job.before[i] + now[i].size;
    }
    std::int64_t const size = job.before[now.size()];
    if (size > 0) {
      write_lists_kernel<<<gpu::grid_blocks(size, list_threads), list_threads, 0, exec.stream>>>(
          job, static_cast<int>(now.size()));
      TENDRIL_CUDA_TRY(cudaGetLastError());
    }
    out += 3 * size;
    lists = lists.subspan(now.size());
  }
}

}  // namespace tendril
