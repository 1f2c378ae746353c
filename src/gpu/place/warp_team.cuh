// The lanes of a warp as a team that measures and writes lists (src/place/team.hpp), and their sink. All lanes of the warp
// call every member together, but for rank() and leads().

#pragma once

#include <cstdint>

#include "gpu/device/launch.cuh"
#include "place/team.hpp"

namespace tendril::gpu {

struct warp_team {
  static constexpr std::uint32_t width = warp_size;

  [[nodiscard]] __device__ __forceinline__ std::uint32_t rank() const { return threadIdx.x % width; }
  [[nodiscard]] __device__ __forceinline__ bool leads() const { return rank() == 0; }
  __device__ __forceinline__ void wait() const { __syncwarp(); }

  [[nodiscard]] __device__ __forceinline__ std::uint64_t sum(std::uint64_t own) const
  {
    return butterfly(own, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t min(std::int64_t own) const
  {
    return butterfly(own, [](std::int64_t a, std::int64_t b) { return a < b ? a : b; });
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t max(std::int64_t own) const
  {
    return butterfly(own, [](std::int64_t a, std::int64_t b) { return a < b ? b : a; });
  }
  [[nodiscard]] __device__ __forceinline__ place::part_of_sum prefix(std::uint64_t own) const
  {
    std::uint64_t through = own;
    for (std::uint32_t step = 1; step < width; step *= 2) {
      std::uint64_t const left = __shfl_up_sync(full_warp, through, step);
      through += rank() >= step ? left : 0;
    }
    return {through - own, __shfl_sync(full_warp, through, width - 1)};
  }
  [[nodiscard]] __device__ __forceinline__ std::uint64_t of_rank(std::uint64_t own, std::uint32_t rank) const
  {
    return __shfl_sync(full_warp, own, static_cast<int>(rank));
  }

  template <class Holds>
  [[nodiscard]] __device__ __forceinline__ std::uint32_t mask(std::uint32_t size, Holds holds) const
  {
    return __ballot_sync(full_warp, rank() < size && holds(rank()));
  }
  template <class F>
  __device__ __forceinline__ void for_each_one(std::uint32_t mask, F f) const
  {
    if ((mask >> rank() & 1U) != 0) { f(rank(), static_cast<std::uint32_t>(__popc(mask & ((1U << rank()) - 1U)))); }
  }

 private:
  template <class T, class Combine>
  [[nodiscard]] __device__ __forceinline__ T butterfly(T own, Combine combine) const
  {
    for (int step = warp_size / 2; step > 0; step /= 2) { own = combine(own, __shfl_xor_sync(full_warp, own, step)); }
    return own;
  }
};

/// Words of global memory that were 0, to which many threads write.
class shared_words {
 public:
  explicit __device__ shared_words(std::uint32_t* words) : words_(words) {}

  /// As plain_words::put (src/place/list_writer.hpp). Any thread.
  __device__ __forceinline__ void put(std::uint64_t bit, std::uint32_t value, std::uint32_t) const
  {
    std::uint64_t const both = std::uint64_t{value} << (bit & 31U);
    auto const low = static_cast<std::uint32_t>(both), high = static_cast<std::uint32_t>(both >> 32U);
    std::uint32_t* const word = words_ + (bit >> 5U);
    if (low != 0) { atomicOr(word, low); }
    if (high != 0) { atomicOr(word + 1, high); }
  }

 private:
  std::uint32_t* words_;
};

}  // namespace tendril::gpu
