// Weighted picks of mini-batches with replacement: a gather of 16 bytes a pick. The kernels: src/gpu/picks/pick_kernels.cuh.
// CPU twin: src/cpu/picks/neighbor_picks.hpp.

#include "gpu/batches/pick.cuh"

namespace tendril::gpu {

void pick_alias(expansion const& what, core::alias_bucket const* buckets, gpu_exec const& exec)
{
  with_view(what, [&](auto const& seen) { enqueue_pairs(seen, bucket_choice{buckets}, exec); });
}

}  // namespace tendril::gpu
