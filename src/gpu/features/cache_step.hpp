// What a step of a cache holds on its way from gpu_row_cache to gpu_cached_features.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_feature_cache.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {

/// Counts as kernels make them. All bytes 0xff: nothing missed or kept, no bad id.
struct made_counts {
  long long missed;
  long long kept;
  unsigned long long first_bad;
};

inline void clear(made_counts* counts, gpu_exec const& exec)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(counts, 0xff, sizeof *counts, exec.stream));
}

/// Page-locked places for the counts of steps that are in the making, used again and again. Copies share them. Thread-safe.
class counts_pool {
 public:
  [[nodiscard]] std::shared_ptr<made_counts> take()
  {
    auto const all = all_;
    std::lock_guard const lock(all->mutex);
    if (all->free.empty()) {
      all->chunks.emplace_back(chunk_size, pinned_memory());
      for (made_counts& one : all->chunks.back()) { all->free.push_back(&one); }
    }
    made_counts* const taken = all->free.back();
    all->free.pop_back();
    return {taken, [all](made_counts* back) {
              std::lock_guard const again(all->mutex);
              all->free.push_back(back);
            }};
  }

 private:
  static constexpr std::int64_t chunk_size = 128;

  struct places {
    std::mutex mutex;
    std::vector<buffer<made_counts>> chunks;
    std::vector<made_counts*> free;  // room for all is there before they are taken
  };

  std::shared_ptr<places> all_ = std::make_shared<places>();
};

}  // namespace tendril::gpu

namespace tendril {

struct gpu_cache_step::state {
  /// @param the_fill  Counts the fills of the cache: each begins a new order of steps.
  state(std::int64_t the_size, std::uint32_t the_number, std::int64_t the_fill, gpu_exec const& exec)
      : size(the_size),
        number(the_number),
        fill(the_fill),
        missed(the_size, memory_of(exec)),
        sources(the_size, memory_of(exec))
  {
  }

  /// Sends the counts to the host. Enqueues.
  void give(gpu::made_counts const* from, gpu::counts_pool& pool, gpu_exec const& exec)
  {
    on_host = pool.take();
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(on_host.get(), from, sizeof *from, cudaMemcpyDeviceToHost, exec.stream));
    done = std::make_unique<gpu_event>(exec);
  }

  std::int64_t size;
  std::uint32_t number;
  std::int64_t fill;
  bool in_order = true;  ///< Whether the cache changes from step to step.
  buffer<vertex_id> missed;
  buffer<std::uint32_t> sources, kept, kept_slots;
  std::shared_ptr<gpu::made_counts> on_host;
  std::unique_ptr<gpu_event> done;
  mutable counts known;
  mutable bool is_known = false;
};

}  // namespace tendril
