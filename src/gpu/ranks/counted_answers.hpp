// Answers of which a slot has any number, such as all neighbours of a vertex: ranks tell each other how many there are, and then send them.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/transport.hpp>

#include "gpu/device/side_stream.hpp"
#include "gpu/device/step_event.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/slot_exchange.hpp"

namespace tendril::gpu {

class counted_answers {
 public:
  /// All outlive the object.
  counted_answers(transport& ranks, slot_exchange const& slots, side_stream const& stream);

  /// Enqueues that the host is told where answers begin.
  /// @param asked_begins  [num_asked() + 1] of what others ask for. @param begins  [own() + away() + 1] of this rank's slots.
  void bring(std::int64_t const* asked_begins, std::int64_t const* begins);

  /// Waits for all that is enqueued. A call of all ranks. @param what  For messages about ranks that don't come.
  void agree(std::string_view what);

  // Afterwards:

  /// Answers that this rank makes for others.
  [[nodiscard]] std::int64_t num_asked() const { return asked_[num_ranks()]; }
  /// Of this rank's slots: those that it makes for itself come first.
  [[nodiscard]] std::int64_t num_own() const { return mine_[1]; }
  [[nodiscard]] std::int64_t num_mine() const { return mine_[num_ranks()]; }
  /// Which answers the slots have that a rank holds.
  [[nodiscard]] slot_exchange::range held_by(int rank) const;

  /// Adds an array of answers to what messages.exchange is given.
  /// @param made  [num_asked()] @param came  From answer number `came_first` on.
  template <class T>
  void add(std::vector<parcel>& sent, std::vector<parcel>& received, T* made, T* came, std::int64_t came_first) const
  {
    for (int r = 0; r < ranks_.size(); ++r) {
      if (r == ranks_.rank()) { continue; }
      // This rank asks itself for nothing.
      std::int64_t const first = asked_[r], end = asked_[r + 1];
      sent.push_back({r, made + first, (end - first) * static_cast<std::int64_t>(sizeof(T))});
      slot_exchange::range const theirs = held_by(r);
      received.push_back({r, came + (theirs.first - came_first), theirs.size * static_cast<std::int64_t>(sizeof(T))});
    }
  }

 private:
  [[nodiscard]] std::int64_t num_ranks() const { return ranks_.size(); }

  transport& ranks_;
  slot_exchange const& slots_;
  side_stream const& stream_;
  step_event reached_;
  buffer<std::int64_t> asked_, mine_;  // [ranks + 1], page-locked: by rank; by holder
};

}  // namespace tendril::gpu
