#include "gpu/ranks/part_rows.hpp"

#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/tables/derived_table.hpp"  // make_weight_statistics
#include "plan/whole_graph.hpp"

namespace tendril::gpu {

graph part_to_gpu(graph const& rows, partition_info const& whole, gpu_exec const& exec)
{
  graph out = to_gpu(rows, exec);
  plan::tell_of_whole(out, whole, [&] {
    auto made = make_weight_statistics(out.view(), exec);
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
    return made;
  });
  return out;
}

}  // namespace tendril::gpu
