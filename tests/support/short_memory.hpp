#pragma once

// GPU memory that runs out.

#include <atomic>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>

namespace tendril::test {

/// GPU memory that is exhausted after some allocations.
class short_memory final : public memory_resource {
 public:
  explicit short_memory(int allocations) : left_(allocations) {}
  void* allocate(std::size_t bytes) override
  {
    if (left_-- <= 0) { throw memory_error("out of memory: planted"); }
    return gpu_memory(0).allocate(bytes);
  }
  void deallocate(void* pointer, std::size_t bytes) noexcept override { gpu_memory(0).deallocate(pointer, bytes); }

 private:
  std::atomic<int> left_;
};

}  // namespace tendril::test
