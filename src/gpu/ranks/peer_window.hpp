// Windows through which GPUs of one machine send records to each other: memory of the receiver that the sender's copies reach, cut into
// slots that are used in turn. The host of each rank tells, in pages that all share, which slots are full and which are empty
// again. Ranks are processes, or threads of one.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/transport.hpp>

#include "gpu/device/side_stream.hpp"
#include "gpu/device/step_event.hpp"
#include "gpu/ranks/shared_pages.hpp"

namespace tendril::gpu {

inline constexpr int window_slots = 4;  // of each sender

/// Who a rank is, and where its GPU is. Told to the others as bytes.
struct rank_gpu {
  cudaUUID_t gpu;
  char boot[40];  ///< Of the machine since it was started.
  std::int64_t process;
  int nccl_version;  ///< 0: it has found none.
  int ways;          ///< That it may take (connect.cpp).
};

/// How far one rank has filled the slots of another, and this one has emptied them. Both only ever grow, when the GPU is done.
struct slot_counts {
  alignas(64) std::atomic<std::uint64_t> filled{0};
  alignas(64) std::atomic<std::uint64_t> emptied{0};
};

/// Memory of a GPU that other ranks reach. Whoever may still copy there keeps it.
class window_memory;

/// One direction of a link: slots that this rank fills, or empties.
struct slot_queue {
  std::byte* slots = nullptr;
  std::atomic<std::uint64_t>* told = nullptr;         ///< What this rank tells: slots that are done.
  std::atomic<std::uint64_t> const* heard = nullptr;  ///< What the other rank tells.
  std::uint64_t enqueued = 0, done = 0;               ///< Slots of this rank.
  side_stream stream;
  std::array<step_event, window_slots> events;  ///< Behind the copies of each slot.
};

/// What one rank needs to send records to another, and to take what comes from there.
struct peer_link {
  slot_queue out, in;
};

/// The windows of all ranks, as one of them sees them.
class peer_windows {
 public:
  /// A call of all ranks. Null, on all of them, where one can't reach the memory of another.
  /// @param all  [ranks], GPUs of one machine, all different. @param device  This rank's, which is current.
  static std::unique_ptr<peer_windows> open(transport& ranks, std::vector<rank_gpu> const& all, int device);
  ~peer_windows();
  peer_windows(peer_windows const&) = delete;
  peer_windows& operator=(peer_windows const&) = delete;

  /// Waits for all copies of this rank.
  void settle() const noexcept;

  [[nodiscard]] std::int64_t slot_bytes() const noexcept { return slot_bytes_; }
  /// @param rank  Another one.
  [[nodiscard]] peer_link& link(int rank) noexcept { return *links_[static_cast<std::size_t>(rank)]; }

 private:
  explicit peer_windows(std::int64_t slot_bytes) : slot_bytes_(slot_bytes) {}

  std::int64_t slot_bytes_;
  shared_pages counts_;
  std::shared_ptr<window_memory> own_;
  std::vector<std::shared_ptr<void>> theirs_;      // what keeps their memory
  std::vector<std::unique_ptr<peer_link>> links_;  // [ranks], null for this one
};

}  // namespace tendril::gpu
