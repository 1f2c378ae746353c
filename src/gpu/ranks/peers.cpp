// Records between GPUs of one machine that reach each other's memory, without a kernel: a copy puts them into a window of the receiver,
// and a copy of the receiver takes them out. Hosts tell each other when copies are done, so that no stream waits for what
// another rank does, who may die.

#include <algorithm>
#include <functional>
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

  void exchange_beside(std::span<parcel const> sent, std::span<parcel const> received, cuda_stream stream,
                       std::function<void()> const& work) override
  {
    expect_working(*this);
    device_guard const guard(device_);
    std::vector<link_exchange> going = links_for(sent, received);
    if (going.empty()) {
      work();
      return;
    }
    try {
      TENDRIL_CUDA_TRY(cudaEventRecord(made_.get(), stream));
      for (link_exchange const& one : going) {
        TENDRIL_CUDA_TRY(cudaStreamWaitEvent(one.link.out.stream.get(), made_.get()));
        TENDRIL_CUDA_TRY(cudaStreamWaitEvent(one.link.in.stream.get(), made_.get()));
      }
      for (link_exchange& one : going) { (void)go_on(one); }
      work();
      wait_among_ranks(ranks_, "records between GPUs", [&] {
        bool all = true;
        for (link_exchange& one : going) { all = go_on(one) && all; }
        return all;
      });
      for (link_exchange const& one : going) {  // what was sent has left
        TENDRIL_CUDA_TRY(cudaEventRecord(came_.get(), one.link.in.stream.get()));
        TENDRIL_CUDA_TRY(cudaStreamWaitEvent(stream, came_.get()));
      }
    } catch (...) {
      abort();
      throw;
    }
    for (parcel const& p : sent) { ranks_.count_sent(p.num_bytes); }
  }

  /// Nothing that was enqueued waits for another rank, so it comes to its end.
  void abort() noexcept override
  {
    windows_->settle();
    is_aborted_ = true;
  }
  [[nodiscard]] bool is_aborted() const noexcept override { return is_aborted_; }

  [[nodiscard]] bool reach_memory() const noexcept override { return true; }

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

  /// Tells the other rank of slots that are done.
  static void tell(slot_queue& queue)
  {
    while (queue.done < queue.enqueued && queue.events[queue.done % window_slots].is_done()) {
      queue.told->store(++queue.done, std::memory_order_release);
    }
  }

  /// Enqueues the copies of the next slot. @param ends_of  (slot, records) -> where to, where from.
  template <class Ends>
  void enqueue(slot_queue& queue, slot_cutter& rest, Ends const& ends_of) const
  {
    auto const at = static_cast<std::size_t>(queue.enqueued % window_slots);
    std::byte* const slot = queue.slots + static_cast<std::int64_t>(at) * windows_->slot_bytes();
    for (slot_cutter::piece const& piece : rest.cut()) {
      auto const [to, from] = ends_of(slot + piece.offset, piece.data);
      auto const bytes = static_cast<std::size_t>(piece.num_bytes);
      TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, queue.stream.get()));
    }
    TENDRIL_CUDA_TRY(cudaEventRecord(queue.events[at].get(), queue.stream.get()));
    ++queue.enqueued;
  }

  /// Enqueues the copies that the other rank is ready for. @return whether all are enqueued, and what was sent is there.
  [[nodiscard]] bool go_on(link_exchange& one) const
  {
    using ends = std::pair<std::byte*, std::byte const*>;
    slot_queue &out = one.link.out, &in = one.link.in;
    tell(out);
    tell(in);
    while (!one.sent.is_done() && out.enqueued < out.heard->load(std::memory_order_acquire) + window_slots) {
      enqueue(out, one.sent, [](std::byte* slot, std::byte* records) { return ends(slot, records); });
    }
    while (!one.received.is_done() && in.enqueued < in.heard->load(std::memory_order_acquire)) {
      enqueue(in, one.received, [](std::byte* slot, std::byte* records) { return ends(records, slot); });
    }
    return one.sent.is_done() && one.received.is_done() && out.done == out.enqueued;
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
