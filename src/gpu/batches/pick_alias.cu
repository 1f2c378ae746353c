// Weighted picks of mini-batches with replacement: by alias table a gather of 16 bytes a pick, by sums of weights a search
// and some weights. The kernels: src/gpu/picks/{pick_kernels,summed_picks}.cuh. CPU twin: src/cpu/picks/neighbor_picks.hpp.

#include "gpu/batches/pick.cuh"
#include "gpu/picks/summed_picks.cuh"

namespace tendril::gpu {

void pick_alias(expansion const& what, core::alias_bucket const* buckets, gpu_exec const& exec)
{
  with_view(what, [&](auto const& seen) { enqueue_pairs(seen, bucket_choice{buckets}, exec); });
}

void pick_summed(expansion const& what, summed_tables const& sums, gpu_exec const& exec)
{
  with_view(what, [&](auto const& seen) { enqueue_pairs(seen, summed_choice<false>{sums}, exec); });
}

}  // namespace tendril::gpu
