// The CPU's way to results on a GPU: one thread's page-locked memory, which a copy engine reads while the thread makes
// the next part.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/buffer.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/together/pinned_arena.hpp"

namespace tendril::gpu {

/// Belongs to one thread at a time, and to the GPU that is current whenever a member is called.
class lane {
 public:
  lane();
  ~lane();
  lane(lane const&) = delete;
  lane& operator=(lane const&) = delete;

  /// Begins a part. Waits until the copies of the part before the last are done, whose memory it uses.
  void begin_part();

  /// For results of this part: valid until the part after the next begins.
  [[nodiscard]] memory_resource& memory() { return slots_[which_].arena; }

  template <class T>
  [[nodiscard]] std::span<T> take(std::int64_t size)
  {
    auto const count = static_cast<std::size_t>(size);
    return {static_cast<T*>(memory().allocate(count * sizeof(T))), count};
  }

  /// Copies from the GPU, and waits, but not for copies to the GPU.
  template <class T>
  [[nodiscard]] std::span<T const> fetch(std::span<T const> from)
  {
    auto const to = take<T>(std::ssize(from));
    fetches_.copy(to.data(), from.data(), std::ssize(from), cudaMemcpyDeviceToHost);
    fetches_.wait();
    return to;
  }

  /// Enqueues a copy to the GPU from memory of this part.
  template <class T>
  void copy(T* to, T const* from, std::int64_t size) const
  {
    if (size > 0) { stream_.copy(to, from, size, cudaMemcpyHostToDevice); }
  }

  /// The same of `height` rows of `width` elements: the rows begin `stride` elements apart there, `width` here.
  template <class T>
  void copy_rows(T* to, std::int64_t stride, T const* from, std::int64_t width, std::int64_t height) const
  {
    auto const bytes = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    TENDRIL_CUDA_TRY(cudaMemcpy2DAsync(to, bytes(stride), from, bytes(width), bytes(width),
                                       static_cast<std::size_t>(height), cudaMemcpyHostToDevice, stream_.get()));
  }

  /// Copies from any host memory to the GPU, of whatever size, through a few megabytes of page-locked memory. Ends this part
  /// and begins another: nothing that was taken before is used again.
  template <class T>
  void upload(T* to, T const* from, std::int64_t size)
  {
    upload_bytes(to, from, size * static_cast<std::int64_t>(sizeof(T)));
  }

  /// GPU memory for uploads, in the order of this lane's copies.
  [[nodiscard]] memory_resource& gpu_memory_of(int device) const;

  void end_part() const { TENDRIL_CUDA_TRY(cudaEventRecord(slots_[which_].copied, stream_.get())); }

  /// Waits for all copies.
  void finish();

  /// For destructors: the same, whatever became of the copies.
  void settle() noexcept;

 private:
  void upload_bytes(void* to, void const* from, std::int64_t bytes);

  struct slot {
    pinned_arena arena;
    cudaEvent_t copied = nullptr;
  };

  std::array<slot, 2> slots_;
  std::size_t which_ = 0;
  side_stream stream_;
  side_stream fetches_;
};

/// Lanes of one GPU for the threads of one call; the next call uses them again. A call that ends by an exception waits for
/// the copies under way.
class lanes {
 public:
  lanes(int device, int count);
  ~lanes();
  lanes(lanes const&) = delete;
  lanes& operator=(lanes const&) = delete;

  [[nodiscard]] lane& of(int thread) { return *taken_[static_cast<std::size_t>(thread)]; }

  /// Waits for all copies of all lanes.
  void finish();

 private:
  int device_;
  std::vector<std::unique_ptr<lane>> taken_;
};

}  // namespace tendril::gpu
