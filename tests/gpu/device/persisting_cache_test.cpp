// A part of the second-level cache is set aside while somebody wants it, and no longer.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "gpu/device/check.hpp"
#include "gpu/device/persisting_cache.hpp"
#include "support/gpu_test.hpp"

namespace tendril::test {
namespace {

using gpu::persisting_cache;

class PersistingCache : public gpu_test {
 protected:
  static std::size_t set_aside()
  {
    std::size_t out = 0;
    TENDRIL_CUDA_TRY(cudaDeviceGetLimit(&out, cudaLimitPersistingL2CacheSize));
    return out;
  }
  /// The most that the device allows.
  static std::size_t most()
  {
    int out = 0;
    TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&out, cudaDevAttrMaxPersistingL2CacheSize, 0));
    return static_cast<std::size_t>(out);
  }
};

TEST_F(PersistingCache, IsThereWhileItIsWanted)
{
  constexpr std::int64_t some = 4 << 20U;
  if (most() == 0) { GTEST_SKIP() << "the device sets nothing aside"; }
  std::size_t const before = set_aside();
  {
    persisting_cache first(0, some);
    EXPECT_GE(set_aside(), std::min(most(), static_cast<std::size_t>(some)));
    std::optional<persisting_cache> second(std::in_place, 0, std::int64_t{1} << 40U);
    EXPECT_GE(set_aside(), most());
    persisting_cache const moved = std::move(first);
    second.reset();
    EXPECT_GE(set_aside(), std::min(most(), static_cast<std::size_t>(some)));
  }
  EXPECT_EQ(set_aside(), before);
  {
    persisting_cache const nothing(0, 0);
  }
  EXPECT_EQ(set_aside(), before);
}

}  // namespace
}  // namespace tendril::test
