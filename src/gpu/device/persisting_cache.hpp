// A part of the second-level cache for what kernels ask to keep.

#pragma once

#include <cstdint>
#include <utility>

namespace tendril::gpu {

/// Sets a part of a GPU's second-level cache aside while it lives. Without one, what kernels read and write with the policy
/// evict_last goes like everything else. The setting is the device's, for all of the process; of several at once the largest stands.
/// Where the driver gives none, nothing is set aside.
class persisting_cache {
 public:
  persisting_cache() = default;
  /// @param bytes  That are to stay; at most what the device allows is set aside. 0: nothing.
  persisting_cache(int device, std::int64_t bytes);
  ~persisting_cache() { end(); }
  persisting_cache(persisting_cache&& other) noexcept : device_(std::exchange(other.device_, -1)) {}
  persisting_cache& operator=(persisting_cache&& other) noexcept
  {
    std::swap(device_, other.device_);
    return *this;
  }

 private:
  void end() noexcept;

  int device_ = -1;
};

}  // namespace tendril::gpu
