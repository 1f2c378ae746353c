// The kernels of a cache's bookkeeping on a GPU, as src/gpu/features/row_cache.cpp calls them. All enqueue.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/types.hpp>

#include "core/cache_rule.hpp"
#include "gpu/features/cache_step.hpp"
#include "gpu/features/row_ids.hpp"

namespace tendril::gpu {

/// What kernels know of a cache.
struct cache_view {
  core::cache_rule rule;
  std::int64_t num_rows = 0;
  std::int64_t num_slots = 0;
  std::uint32_t* slot_of = nullptr;      ///< [num_rows]; num_slots and above: none
  std::uint32_t* states = nullptr;       ///< [num_rows] of cache_rule; null: a fixed cache
  std::uint8_t const* scores = nullptr;  ///< [num_rows] or null
  vertex_id* content = nullptr;          ///< [num_slots]; no_vertex: none
  std::uint32_t* slot_states =
      nullptr;  ///< [num_slots]: the states of the content, so that a pass over all is in order

#ifdef __CUDACC__
  /// What stands in the place of a missed row's slot, of the place in the batch where it is first, while the batch is served.
  [[nodiscard]] __device__ std::uint32_t mark_of(std::int64_t place) const
  {
    return static_cast<std::uint32_t>(num_slots + place);
  }
  [[nodiscard]] __device__ int bin_of(vertex_id row, std::uint32_t state, std::uint32_t now) const
  {
    return rule.bin_of(state, scores == nullptr || state != 0 ? std::uint8_t{0} : scores[row], now);
  }
  [[nodiscard]] __device__ int slot_bin(std::int64_t slot, std::uint32_t now) const
  {
    vertex_id const row = content[slot];
    return row == no_vertex ? core::cache_rule::empty_bin : bin_of(row, slot_states[slot], now);
  }
#endif
};

/// Empties the cache, then puts rows[i] into slot i.
void fill_slots(cache_view const& cache, std::span<vertex_id const> rows, gpu_exec const& exec);

/// Sets the bit of batch number `batch` in the states of its rows.
void mark_known(cache_view const& cache, row_ids const& ids, std::uint32_t batch, gpu_exec const& exec);

/// Fills the lists of a step, of which `missed` and `sources` are there, and changes the cache.
/// @param now     The number of the batch.
/// @param counts  On the GPU, cleared.
void serve_batch(cache_view const& cache, row_ids const& ids, std::uint32_t now, gpu_cache_step::state& step,
                 made_counts* counts, gpu_exec const& exec);

}  // namespace tendril::gpu
