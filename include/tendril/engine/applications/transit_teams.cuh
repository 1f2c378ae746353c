// The assignment of work to threads in transit-parallel execution, for nvcc and NVRTC: teams of threads take transits
// and divide the work items of the transit's pairs. The three kinds of team are those of NextDoor (Jangda, Polisetty,
// Guha, Serafini, EuroSys'21, table 2): sub-warps for transits with fewer than 32 calls, blocks, and grids of blocks.
// Consecutive threads take consecutive items of one pair, so that the stores of a pair fill whole sectors.
//
// A `Work` defines the work:
//   open(run, calls…)        prepares the team for a transit: lane `lane` of `size`, with `cache` in shared memory.
//                            Barriers precede and follow the call
//   items_a_pair()           number of items per pair of the open transit; above 0
//   item(pair, j)            does item j of a pair. Any thread
//   entry_bytes()            bytes of shared memory per edge
//
// The amount of work is unknown when a grid is launched (transit_counts stays on the device). Grids are therefore as
// large as the GPU can hold at most, and loop. Sub-warps advance by a stride. Blocks, whose transits differ much in
// size, take numbers from a counter.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tendril/engine/applications/transit_map.hpp>

namespace tendril::engine {

inline constexpr int transit_threads = 256;  // threads per block

/// Does items [begin, end) of a run with one team; its members are lane `lane` of `size`.
template <class Work>
__device__ __forceinline__ void share_items(transit_map const& map, transit_run const& run, Work& work,
                                            std::uint64_t begin, std::uint64_t end, std::uint32_t lane,
                                            std::uint32_t size)
{
  std::uint32_t const items = work.items_a_pair();
  std::uint64_t const first_pair = begin / items;
  auto const rest = static_cast<std::uint32_t>(begin - first_pair * items);
  std::uint32_t const* const pairs = map.pairs + run.begin + first_pair;
  auto const count = static_cast<std::uint32_t>(end - begin);
  for (std::uint32_t k = lane; k < count; k += size) {
    std::uint32_t const pair = (rest + k) / items;  // counted from first_pair
    work.item(pairs[pair], rest + k - pair * items);
  }
}

/// Work of sub-warps of `width` lanes. The whole grid.
///
/// The whole warp waits at the barriers, since user code may diverge between them. For the same reason the lists are in
/// shared memory, not in registers read by shuffles as in NextDoor: a shuffle requires all lanes to be at the same
/// instruction, which calls that loop or return at different times don't guarantee.
template <class Work>
__device__ __forceinline__ void share_few(transit_map const& map, Work& work, std::uint32_t width,
                                          std::uint32_t cache_entries, unsigned char* cache)
{
  std::uint32_t const lane = threadIdx.x % width;
  std::uint32_t const teams_a_warp = 32 / width;
  unsigned char* const slice = cache + std::size_t{threadIdx.x / width} * cache_entries * work.entry_bytes();
  std::uint64_t const num_runs = map.counts->few;
  std::uint64_t const warp = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  std::uint64_t const stride = std::uint64_t{gridDim.x} * blockDim.x / 32 * teams_a_warp;
  for (std::uint64_t base = warp * teams_a_warp; base < num_runs; base += stride) {
    std::uint64_t const i = base + threadIdx.x % 32 / width;
    transit_run const run = i < num_runs ? map.few[i] : transit_run{};
    __syncwarp();
    if (run.size != 0) { work.open(run, slice, cache_entries, lane, width); }
    __syncwarp();
    if (run.size != 0) { share_items(map, run, work, 0, std::uint64_t{run.size} * work.items_a_pair(), lane, width); }
  }
}

/// The next number from a counter that blocks share, following the block's own number. Whole block; contains a barrier.
__device__ __forceinline__ std::uint64_t take_number(unsigned long long* taken)
{
  __shared__ unsigned long long number;
  __syncthreads();  // all threads have read the last number and no longer use the cache
  if (threadIdx.x == 0) { number = gridDim.x + atomicAdd(taken, 1ULL); }
  __syncthreads();
  return number;
}

/// Work of blocks, one transit at a time. The whole grid.
template <class Work>
__device__ __forceinline__ void share_blocks(transit_map const& map, Work& work, std::uint32_t cache_entries,
                                             unsigned char* cache)
{
  std::uint64_t const num_runs = map.counts->block;
  for (std::uint64_t i = blockIdx.x; i < num_runs; i = take_number(&map.counts->next_block)) {
    transit_run const run = *(map.last_block - i);
    work.open(run, cache, cache_entries, threadIdx.x, blockDim.x);
    __syncthreads();
    share_items(map, run, work, 0, std::uint64_t{run.size} * work.items_a_pair(), threadIdx.x, blockDim.x);
  }
}

/// Work of several blocks per transit, one unit at a time per block. The whole grid.
template <class Work>
__device__ __forceinline__ void share_grid(transit_map const& map, Work& work, std::uint32_t cache_entries,
                                           unsigned char* cache)
{
  unsigned long long const both = map.counts->grid;
  auto const num_runs = static_cast<std::uint32_t>(both);
  auto const num_units = static_cast<std::uint32_t>(both >> 32U);
  for (std::uint64_t unit = blockIdx.x; unit < num_units; unit = take_number(&map.counts->next_unit)) {
    std::uint32_t which = 0;  // the last run whose units begin at or before this one
    for (std::uint32_t count = num_runs; count > 1;) {
      std::uint32_t const half = count / 2;
      which += map.first_units[which + half] <= unit ? half : 0;
      count -= half;
    }
    transit_run const run = map.grid[which];
    std::uint32_t const first = map.first_units[which];
    std::uint64_t const units = (which + 1 < num_runs ? map.first_units[which + 1] : num_units) - first;
    std::uint64_t const part = unit - first;
    work.open(run, cache, cache_entries, threadIdx.x, blockDim.x);
    __syncthreads();
    std::uint64_t const items = std::uint64_t{run.size} * work.items_a_pair();
    std::uint64_t const share = items / units;  // the first `left` units take one more
    std::uint64_t const left = items - share * units;
    std::uint64_t const begin = share * part + min(part, left);
    share_items(map, run, work, begin, begin + share + (part < left ? 1 : 0), threadIdx.x, blockDim.x);
  }
}

}  // namespace tendril::engine
