// The CPU's way to results of one size each, which lie one after the other on a GPU. Its threads fill large pieces of
// page-locked memory together, and whoever fills a piece enqueues its copy: a call of the driver, by whatever thread, holds up
// those with which another thread launches kernels meanwhile, so there are a few dozen of them and not hundreds.

#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include <cuda_runtime_api.h>

#include "base/shared_work.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/together/pinned_arena.hpp"

namespace tendril::gpu {

/// Page-locked memory, a stream that copies from it, and events behind its copies. Used by one call at a time.
struct staging {
  static constexpr std::size_t num_pieces = 4;

  staging();
  ~staging();
  staging(staging const&) = delete;
  staging& operator=(staging const&) = delete;

  /// Whether copies of the call before are under way.
  [[nodiscard]] bool is_busy() const;

  pinned_arena memory;
  side_stream copies;
  std::array<cudaEvent_t, num_pieces> copied{};
  cudaEvent_t all_copied = nullptr;
};

/// Results of the last items of a job. Made and destroyed by one thread.
class staged_results {
 public:
  /// Makes `items` at `to`, one after the other.
  using writer = std::function<void(base::item_range items, std::byte* to)>;

  /// @param items  Of which the CPU makes the last ones.
  /// @param out    Of item 0, on the GPU.
  staged_results(int device, base::item_range items, std::int64_t item_bytes, std::byte* out);
  /// Waits for copies under way.
  ~staged_results();
  staged_results(staged_results const&) = delete;
  staged_results& operator=(staged_results const&) = delete;

  /// Copies from the GPU, and waits. Valid as long as this object. For the thread that made it, before threads begin.
  template <class T>
  [[nodiscard]] std::span<T const> fetch(std::span<T const> from)
  {
    auto* const to = static_cast<T*>(room_for(from.size_bytes()));
    memory_->copies.copy(to, from.data(), std::ssize(from), cudaMemcpyDeviceToHost);
    memory_->copies.wait();
    return {to, from.size()};
  }

  /// Makes a turn's items. Called by several threads, whose turns are taken from the last item on without gaps (as
  /// base::shared_items gives them to its back). After an exception of any of them all return without work.
  void make(base::item_range turn, writer const& write);

  /// Copies what is not yet a whole piece, and waits for all copies.
  void finish();

  /// The same, but it is `reader` that waits: the next call fills other memory meanwhile.
  void finish(cudaStream_t reader);

 private:
  /// Piece number n of all, counted from the last item on, is in place n % num_pieces.
  struct place {
    std::mutex mutex;
    std::condition_variable changed;
    std::int64_t piece = 0;
    std::int64_t made = 0;  ///< Items that are there.
    bool is_sent = false;
  };

  [[nodiscard]] void* room_for(std::size_t bytes);
  [[nodiscard]] std::int64_t first_item_of(std::int64_t piece) const { return end_ - (piece + 1) * piece_items_; }
  [[nodiscard]] place& place_of(std::int64_t piece)
  {
    return places_[static_cast<std::size_t>(piece) % places_.size()];
  }
  [[nodiscard]] std::byte* memory_of(std::int64_t piece);
  void make_part(std::int64_t piece, base::item_range part, writer const& write);
  /// @return false: another thread failed.
  [[nodiscard]] bool open(std::int64_t piece);
  void close(std::int64_t piece, std::int64_t num_items);
  void send(place const& from);
  void send_rest();
  void give_up() noexcept;

  int device_;
  std::int64_t end_, item_bytes_, piece_items_;
  std::byte* out_;
  std::byte* pieces_ = nullptr;
  std::unique_ptr<staging> memory_;
  std::array<place, staging::num_pieces> places_;
  std::atomic<bool> failed_{false};
  bool is_left_to_reader_ = false;
};

}  // namespace tendril::gpu
