// Weighted picks of k-hop trees without replacement: the k best of a race over the whole neighbourhood, exact to the
// bit. The rule: src/core/race.hpp. CPU twin: src/cpu/picks/race.hpp. Up to 32 picks of up to 4,096 edges are a warp's work,
// larger neighbourhoods and more picks are a block's: src/gpu/picks/race_picks.cuh, src/gpu/picks/block_race.cuh.

#include <tendril/checked.hpp>

#include "gpu/picks/block_race.cuh"
#include "gpu/trees/part.cuh"

namespace tendril::gpu {
namespace {

constexpr std::uint32_t most_warp_degree = 4096;
constexpr std::int64_t most_scratch_bytes = std::int64_t{2} << 30;

/// Where the buffers of blocks lie.
struct race_space {
  std::uint32_t capacity;  ///< Entries of a buffer.
  std::uint64_t* scratch;  ///< [blocks, capacity]; null: shared memory.
};

/// All edges of a parent.
template <class View>
struct parent_race {
  khop_part<View> const& part;
  float const* own_weights;
  std::uint32_t degree;
  khop_place place;

  /// The row has edges.
  __device__ parent_race(khop_part<View> const& of, std::uint32_t parent, typename View::row_type const& row)
      : part(of), own_weights(row.weights()), degree(row.degree()), place(of.place_of(parent))
  {
  }

  [[nodiscard]] static __device__ std::uint32_t begin() { return 0; }
  [[nodiscard]] __device__ std::uint32_t end() const { return degree; }
  [[nodiscard]] __device__ float const* weights() const { return own_weights; }
  [[nodiscard]] __device__ core::random_block high_block(std::uint32_t offset) const
  {
    return core::race_high_block(part.key, place.root, place.slot, 0, offset);
  }
  [[nodiscard]] __device__ std::uint64_t entry(std::uint32_t i, std::uint32_t high, float weight) const
  {
    return core::race_entry_of(part.short_key, place.root, place.slot, 0, i, high, weight);
  }
};

/// A parent by the whole block: the race, and all slots of its.
template <class View>
__device__ void expand_by_block(khop_part<View> const& part, block_race& race, std::uint64_t const* entries,
                                std::uint32_t parent, typename View::row_type const& row, std::uint32_t k)
{
  std::uint32_t const found = !row.empty() ? race.run(parent_race(part, parent, row), k) : 0;
  for (std::uint32_t slot = threadIdx.x; slot < part.fanout(); slot += race_threads) {
    part.keep_one(parent, slot, row, slot < found ? pick_of(entries[slot]) : core::no_pick);
  }
  __syncthreads();  // the buffer is read before it is filled again
}

/// `by_warps`: at most 32 picks. Then a block takes a parent a warp, and afterwards together those with many edges;
/// else a parent at a time. In a loop over the grid.
template <bool by_warps, class View>
__global__ __launch_bounds__(race_threads) void race_kernel(khop_part<View> const __grid_constant__ part,
                                                            race_space const space, std::uint32_t const k)
{
  extern __shared__ std::uint64_t shared_entries[];
  __shared__ block_race_state state;
  std::uint64_t* const entries =
      space.scratch == nullptr ? shared_entries : space.scratch + std::size_t{blockIdx.x} * space.capacity;
  block_race race(entries, space.capacity, &state);
  constexpr std::uint32_t a_block = by_warps ? race_warps : 1;
  for (std::uint32_t first = blockIdx.x * a_block; first < part.num_parents; first += gridDim.x * a_block) {
    if constexpr (by_warps) {
      std::uint32_t const parent = first + threadIdx.x / warp_size;
      bool is_large = false;
      if (parent < part.num_parents) {
        auto const row = part.vertex(parent);
        is_large = row.degree() > most_warp_degree;
        if (!is_large) {
          std::uint64_t entry = core::race_none;
          if (!row.empty()) { entry = race_by_warp(parent_race(part, parent, row), k); }
          auto const slot = static_cast<std::uint32_t>(lane_id());
          if (slot < part.fanout()) { part.keep_one(parent, slot, row, pick_of(entry)); }
        }
      }
      if (__syncthreads_or(is_large ? 1 : 0) == 0) { continue; }
    }
    for (std::uint32_t parent = first; parent < min(first + a_block, part.num_parents); ++parent) {
      auto const row = part.vertex(parent);
      if (by_warps && row.degree() <= most_warp_degree) { continue; }
      expand_by_block(part, race, entries, parent, row, k);
    }
  }
}

template <bool by_warps, class View>
void enqueue_races(khop_work<View> const& work, gpu_exec const& exec)
{
  khop_job const& job = work.job;
  std::uint32_t const k = std::clamp(job.most_picks, 1U, 0x40000000U);
  std::uint32_t const capacity = race_buffer_entries(k);
  std::int64_t const bytes = std::int64_t{capacity} * 8;
  bool const in_shared = bytes <= static_cast<std::int64_t>(most_buffer_bytes);
  std::size_t const shared_bytes = in_shared ? static_cast<std::size_t>(bytes) : 0;
  auto* const kernel = race_kernel<by_warps, View>;
  TENDRIL_CUDA_TRY(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most_buffer_bytes)));
  // Without scratch, more blocks than run at once even out what is left at the end.
  std::int64_t most = 1 << 30;
  if (!in_shared) {
    most = resident_blocks(kernel, race_threads, shared_bytes, exec.device);
    most = std::clamp<std::int64_t>(most_scratch_bytes / bytes, 1, most);
    most = std::min(most, job.parents.size);
  }
  buffer<std::uint64_t> scratch(in_shared ? 0 : checked_product("scratch of blocks", most, capacity), memory_of(exec));
  race_space const space{capacity, in_shared ? nullptr : scratch.data()};
  constexpr std::int64_t a_block = by_warps ? race_warps : 1;
  for_each_part(work, 2, [&](khop_part<View> const& part) {
    auto const blocks = static_cast<unsigned>(std::min(most, (part.num_parents + a_block - 1) / a_block));
    kernel<<<blocks, race_threads, shared_bytes, exec.stream>>>(part, space, k);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace

void race_hop(khop_job const& job, gpu_exec const& exec)
{
  bool const by_warps = job.most_picks <= most_warp_picks && job.fanout <= most_warp_picks;
  with_view(job,
            [&](auto const& work) { by_warps ? enqueue_races<true>(work, exec) : enqueue_races<false>(work, exec); });
}

}  // namespace tendril::gpu
