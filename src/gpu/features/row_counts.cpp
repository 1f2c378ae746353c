// How often batches use each row. Kernels: src/gpu/features/row_counts.cu.

#include <cstdint>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_feature_cache.hpp>

#include "base/expects.hpp"
#include "gpu/device/check.hpp"
#include "gpu/features/row_counts.hpp"

namespace tendril {

gpu_row_counts::gpu_row_counts(std::int64_t num_rows, gpu_exec const& exec)
{
  TENDRIL_EXPECTS(num_rows >= 0 && num_rows < std::int64_t{no_vertex}, "{} rows, expected 0 to 2^32 - 2", num_rows);
  gpu::device_guard const guard(exec.device);
  counts_ = buffer<std::uint32_t>(num_rows, memory_of(exec));
  if (num_rows == 0) { return; }
  auto const bytes = static_cast<std::size_t>(num_rows) * sizeof(std::uint32_t);
  TENDRIL_CUDA_TRY(cudaMemsetAsync(counts_.data(), 0, bytes, exec.stream));
}

void gpu_row_counts::add(id_matrix const& ids, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  gpu::count_rows(gpu::row_ids(ids, counts_.size(), exec), counts_.span(), exec);
}

buffer<vertex_id> gpu_row_counts::best(std::int64_t count, gpu_exec const& exec) const
{
  TENDRIL_EXPECTS(count >= 0 && count <= counts_.size(), "the best {} of {} rows, expected 0 to {}", count,
                  counts_.size(), counts_.size());
  gpu::device_guard const guard(exec.device);
  buffer<vertex_id> best(count, memory_of(exec));
  if (count == 0) { return best; }
  auto const all = gpu::rows_by_counts(counts_.span(), exec);
  copy_on_gpu(all.data(), best.data(), static_cast<std::size_t>(count) * sizeof(vertex_id), exec);
  return best;
}

buffer<std::uint8_t> gpu_row_counts::scores(gpu_exec const& exec) const
{
  gpu::device_guard const guard(exec.device);
  buffer<std::uint8_t> scores(counts_.size(), memory_of(exec));
  gpu::scores_of_counts(counts_.span(), scores.data(), exec);
  return scores;
}

}  // namespace tendril
