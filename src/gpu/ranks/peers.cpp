// Records between GPUs of one machine that reach each other's memory, without a kernel: a copy puts them into a window of the receiver,
// and a copy of the receiver takes them out. No stream ever waits for what is not enqueued yet, so none waits for a rank that has
// failed.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tendril/error.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/step_event.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/peer_window.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t alignment = 256;  // of what lies in a slot

/// What goes through a window in one direction, a slot at a time. Both ends cut it alike.
class slot_cutter {
 public:
  struct piece {
    std::byte* data;
    std::int64_t offset;  ///< In the slot.
    std::int64_t num_bytes;
  };

  slot_cutter(std::span<parcel const> parcels, int rank, std::int64_t slot_bytes) : slot_bytes_(slot_bytes)
  {
    for (parcel const& p : parcels) {
      if (p.rank == rank && p.num_bytes > 0) { rest_.push_back({static_cast<std::byte*>(p.data), 0, p.num_bytes}); }
    }
  }

  [[nodiscard]] bool is_done() const { return next_ == rest_.size(); }

  /// What lies in the next slot.
  std::vector<piece> cut()
  {
    std::vector<piece> out;
    for (std::int64_t offset = 0; !is_done() && offset < slot_bytes_;) {
      piece& first = rest_[next_];
      std::int64_t const size = std::min(first.num_bytes, slot_bytes_ - offset);
      out.push_back({first.data, offset, size});
      first.data += size;
      first.num_bytes -= size;
      next_ += first.num_bytes == 0 ? 1 : 0;
      offset += (size + alignment - 1) / alignment * alignment;
    }
    return out;
  }

 private:
  std::int64_t slot_bytes_;
  std::vector<piece> rest_;
  std::size_t next_ = 0;
};

/// An exchange with one other rank.
struct link_exchange {
  peer_link& link;
  slot_cutter sent, received;
};

class peer_messages final : public gpu_messages {
 public:
  /// With the GPU current.
  peer_messages(std::unique_ptr<peer_windows> windows, transport& ranks, int device)
      : windows_(std::move(windows)), ranks_(ranks), device_(device)
  {
  }

  void exchange(std::span<parcel const> sent, std::span<parcel const> received, cuda_stream stream) override
  {
    expect_working(*this);
    device_guard const guard(device_);
    std::vector<link_exchange> going = links_for(sent, received);
    if (going.empty()) { return; }
    try {
      TENDRIL_CUDA_TRY(cudaEventRecord(made_.get(), stream));
      for (auto const& [link, out, in] : going) {
        if (!out.is_done()) { TENDRIL_CUDA_TRY(cudaStreamWaitEvent(link.out_stream.get(), made_.get())); }
        if (!in.is_done()) { TENDRIL_CUDA_TRY(cudaStreamWaitEvent(link.in_stream.get(), made_.get())); }
      }
      auto const touched = going;
      wait_among_ranks(ranks_, "records between GPUs", [&] {
        bool all = true;
        for (link_exchange& one : going) { all = go_on(one) && all; }
        return all;
      });
      for (auto const& [link, out, in] : touched) {
        if (!out.is_done()) { follow(stream, link.out_stream); }
        if (!in.is_done()) { follow(stream, link.in_stream); }
      }
    } catch (...) {
      abort();
      throw;
    }
    for (parcel const& p : sent) { ranks_.count_sent(p.num_bytes); }
  }

  void abort() noexcept override { is_aborted_ = true; }
  [[nodiscard]] bool is_aborted() const noexcept override { return is_aborted_; }

  [[nodiscard]] std::string name() const override { return "copies from GPU to GPU"; }

 private:
  /// The ranks to which anything goes, or from which anything comes.
  std::vector<link_exchange> links_for(std::span<parcel const> sent, std::span<parcel const> received)
  {
    std::vector<link_exchange> out;
    for (int r = 0; r < ranks_.size(); ++r) {
      if (r == ranks_.rank()) { continue; }
      slot_cutter going(sent, r, windows_->slot_bytes()), coming(received, r, windows_->slot_bytes());
      if (going.is_done() && coming.is_done()) { continue; }
      out.push_back({windows_->link(r), std::move(going), std::move(coming)});
    }
    return out;
  }

  static void copy(std::byte* to, std::byte const* from, std::int64_t bytes, cudaStream_t stream)
  {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream));
  }
  /// Lets a stream wait for what was enqueued on another one.
  void follow(cuda_stream stream, side_stream const& first) const
  {
    TENDRIL_CUDA_TRY(cudaEventRecord(came_.get(), first.get()));
    TENDRIL_CUDA_TRY(cudaStreamWaitEvent(stream, came_.get()));
  }
  [[nodiscard]] std::int64_t slot_offset(std::size_t slot) const
  {
    return static_cast<std::int64_t>(slot) * windows_->slot_bytes();
  }

  /// Enqueues the copies that the other rank is ready for. @return whether these were all.
  [[nodiscard]] bool go_on(link_exchange& one) const
  {
    peer_link& link = one.link;
    while (!one.sent.is_done() && link.sent < link.out->emptied.load(std::memory_order_acquire) + window_slots) {
      auto const slot = static_cast<std::size_t>(link.sent % window_slots);
      cudaStream_t const stream = link.out_stream.get();
      if (link.sent >= window_slots) { TENDRIL_CUDA_TRY(cudaStreamWaitEvent(stream, link.out_empty[slot])); }
      for (auto const& piece : one.sent.cut()) {
        copy(link.there + slot_offset(slot) + piece.offset, piece.data, piece.num_bytes, stream);
      }
      TENDRIL_CUDA_TRY(cudaEventRecord(link.out_full[slot], stream));
      link.out->filled.store(++link.sent, std::memory_order_release);
    }
    while (!one.received.is_done() && link.taken < link.in->filled.load(std::memory_order_acquire)) {
      auto const slot = static_cast<std::size_t>(link.taken % window_slots);
      cudaStream_t const stream = link.in_stream.get();
      TENDRIL_CUDA_TRY(cudaStreamWaitEvent(stream, link.in_full[slot]));
      for (auto const& piece : one.received.cut()) {
        copy(piece.data, link.here + slot_offset(slot) + piece.offset, piece.num_bytes, stream);
      }
      TENDRIL_CUDA_TRY(cudaEventRecord(link.in_empty[slot], stream));
      link.in->emptied.store(++link.taken, std::memory_order_release);
    }
    return one.sent.is_done() && one.received.is_done();
  }

  std::unique_ptr<peer_windows> windows_;
  transport& ranks_;
  int device_;
  step_event made_, came_;
  bool is_aborted_ = false;
};

}  // namespace

std::shared_ptr<gpu_messages> messages_by_peers(transport& ranks, std::vector<rank_gpu> const& all, int device)
{
  device_guard const guard(device);
  auto windows = peer_windows::open(ranks, all, device);
  return windows ? std::make_shared<peer_messages>(std::move(windows), ranks, device) : nullptr;
}

}  // namespace tendril::gpu
