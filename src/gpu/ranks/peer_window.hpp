// Windows through which GPUs of one machine send records to each other: memory of the receiver that the sender's copies reach, cut into
// slots that are used in turn, and events that tell when a slot is full and when it is empty again. Ranks are processes, or
// threads of one.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/transport.hpp>

#include "gpu/device/side_stream.hpp"
#include "gpu/ranks/shared_pages.hpp"

namespace tendril::gpu {

inline constexpr int window_slots = 4;  // of each sender

/// Who a rank is, and where its GPU is. Told to the others as bytes.
struct rank_gpu {
  cudaUUID_t gpu;
  char boot[40];  ///< Of the machine since it was started.
  std::int64_t process;
  int nccl_version;  ///< 0: it has found none.
  int ways;          ///< That it is ready to take, as bits of way.
};

/// What one rank has told another through a window, counted by the host. Both only ever grow.
struct slot_counts {
  alignas(64) std::atomic<std::uint64_t> filled{0};   ///< Slots whose copies, and the event behind them, are enqueued.
  alignas(64) std::atomic<std::uint64_t> emptied{0};  ///< Likewise of the receiver.
};

/// A rank's own memory and events. Whoever still copies there keeps them.
class own_window;

/// What one rank needs to send records to another, and to take what comes from there.
struct peer_link {
  std::byte* there = nullptr;  ///< Slots in the other's window.
  std::byte* here = nullptr;   ///< Its slots in this rank's.
  std::vector<cudaEvent_t> out_full, out_empty, in_full,
      in_empty;  ///< [window_slots]; of each two, one is the other's.
  slot_counts *out = nullptr, *in = nullptr;
  std::uint64_t sent = 0, taken = 0;  ///< Slots.
  side_stream out_stream, in_stream;
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

  [[nodiscard]] std::int64_t slot_bytes() const noexcept { return slot_bytes_; }
  /// @param rank  Another one.
  [[nodiscard]] peer_link& link(int rank) noexcept { return *links_[static_cast<std::size_t>(rank)]; }

 private:
  explicit peer_windows(std::int64_t slot_bytes) : slot_bytes_(slot_bytes) {}

  std::int64_t slot_bytes_;
  shared_pages counts_;
  std::shared_ptr<own_window> own_;
  std::vector<std::shared_ptr<void>> theirs_;      // what keeps their memory and events
  std::vector<std::unique_ptr<peer_link>> links_;  // [ranks], null for this one
};

}  // namespace tendril::gpu
