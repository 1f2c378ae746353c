#pragma once

#include <cstddef>
#include <vector>

#include <tendril/buffer.hpp>

namespace tendril::gpu {

/// Page-locked memory that is given out piece by piece and taken back all at once. After a use that took several blocks,
/// which are slow to lock, the next one has a single block that is as large as all of them.
class pinned_arena final : public memory_resource {
 public:
  /// @throws memory_error if the system locks no more pages.
  void* allocate(std::size_t bytes) override;
  void deallocate(void*, std::size_t) noexcept override {}

  /// Nothing that was given out is in use.
  void reset() noexcept;

  /// The same, and keeps no more than `bytes` bytes.
  void shrink(std::size_t bytes) noexcept;

  /// Whether `shrink` would keep all memory.
  [[nodiscard]] bool fits(std::size_t bytes) const noexcept;

 private:
  std::vector<buffer<std::byte>> blocks_;  // the last one is being given out,
  std::size_t used_ = 0;                   // and its bytes that are
  std::size_t taken_ = 0;                  // of all blocks
  std::size_t most_taken_ = 0;             // in any use
};

}  // namespace tendril::gpu
