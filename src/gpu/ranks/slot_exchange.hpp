// The way of slots to the ranks that have what they ask for, and of answers back: for trees and for rows of features.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/transport.hpp>

#include "gpu/device/side_stream.hpp"
#include "gpu/device/step_event.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/slots.hpp"

namespace tendril::gpu {

/// `box` with room for so many, of the pool of a stream.
template <class T>
T* room_in(buffer<T>& box, std::int64_t size, memory_resource& memory)
{
  if (box.size() < size) { box = buffer<T>(size, memory); }
  return box.data();
}

class slot_exchange {
 public:
  struct range {
    std::int64_t first = 0, size = 0;
  };

  /// With the GPU current. All outlive the object.
  /// @param bounds  [ranks + 1] Rank r has the vertices (rows of features) [bounds[r], bounds[r + 1]).
  slot_exchange(transport& ranks, gpu_messages& messages, std::span<std::int64_t const> bounds, int device,
                side_stream const& stream);

  /// Slots of such vertices are asked of nobody from now on. @param copy_of  As of slot_sort.
  void have_copies(vertex_id const* copy_of) { copy_of_ = copy_of; }

  /// Enqueues the sorting of slots by rank. @param vertices, count  [size], as slot_sort.
  void begin(vertex_id const* vertices, std::int64_t size, std::int64_t const* count = nullptr);

  /// Waits for the sorting, and tells the others how many slots they are asked. A call of all ranks.
  /// @param what  For messages about ranks that don't come.
  void agree(std::string_view what);

  /// The same, and sends the slots, and receives those that others ask about.
  void exchange(std::string_view what);

  /// Adds to what messages.exchange is given: the slots, and room for those that others ask about. Behind agree.
  void add_slots(std::vector<parcel>& sent, std::vector<parcel>& received);

  // Afterwards, until the next begin:

  /// Slots of this rank: own() that this rank has itself, behind them away(), rank by rank, and copied(), whose rows are numbers of
  /// copies.
  [[nodiscard]] asked_slot const* slots() const { return slots_.data(); }
  [[nodiscard]] std::int64_t own() const { return sent_[here()].size; }
  [[nodiscard]] std::int64_t away() const { return away_; }
  [[nodiscard]] std::int64_t copied() const { return copied_; }
  /// Calls f(rank, where they lie in slots()) for the slots that each rank has: for this one first.
  template <class F>
  void for_each_holder(F f) const
  {
    std::int64_t first = 0;
    for (int i = 0; i < ranks_.size(); ++i) {
      int const r = i == 0 ? ranks_.rank() : i - (i <= ranks_.rank() ? 1 : 0);
      f(r, range{first, held_by(r)});
      first += held_by(r);
    }
  }
  /// How many of them a rank has.
  [[nodiscard]] std::int64_t held_by(int rank) const { return sent_[static_cast<std::size_t>(rank)].size; }
  /// What others ask for, rank by rank: [num_asked()]. Behind exchange, or messages.exchange of what add_slots added.
  [[nodiscard]] asked_slot const* asked() const { return asked_slots_.data(); }
  [[nodiscard]] std::int64_t num_asked() const { return num_asked_; }
  /// Where the slots of a rank lie among them; nothing of this rank.
  [[nodiscard]] range asked_by(int rank) const
  {
    return rank == ranks_.rank() ? range{} : asked_[static_cast<std::size_t>(rank)];
  }

  /// Adds an array to what messages.exchange is given: an element for each slot.
  /// @param mine  [own() + away()], in the order of slots(). @param theirs  [num_asked()]
  template <class T>
  void add_questions(std::vector<parcel>& sent, std::vector<parcel>& received, T* mine, T* theirs) const
  {
    add_parcels(sent, mine, 1, sent_, 0);
    add_parcels(received, theirs, 1, asked_, 0);
  }

  /// Adds an array of answers to what messages.exchange is given: `each` elements a slot.
  /// @param made  [num_asked() * each] @param came  [away() * each]
  template <class T>
  void add_answers(std::vector<parcel>& sent, std::vector<parcel>& received, T* made, T* came, std::int64_t each) const
  {
    add_parcels(sent, made, each, asked_, 0);
    add_parcels(received, came, each, sent_, own());
  }

 private:
  [[nodiscard]] std::size_t here() const { return static_cast<std::size_t>(ranks_.rank()); }
  template <class T>
  void add_parcels(std::vector<parcel>& list, T* data, std::int64_t each, std::vector<range> const& ranges,
                   std::int64_t before) const
  {
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      if (r == here()) { continue; }
      list.push_back({static_cast<int>(r), data + (ranges[r].first - before) * each,
                      ranges[r].size * each * static_cast<std::int64_t>(sizeof(T))});
    }
  }

  transport& ranks_;
  gpu_messages& messages_;
  std::span<std::int64_t const> bounds_;
  int device_;
  side_stream const& stream_;
  step_event counted_;
  std::vector<range> sent_, asked_;  // by rank, in slots_ and in asked_slots_
  std::int64_t away_ = 0, copied_ = 0, num_asked_ = 0;
  vertex_id const* copy_of_ = nullptr;
  buffer<asked_slot> slots_, asked_slots_;
  buffer<unsigned> tallies_;  // counts and cursors
  buffer<unsigned> counts_;   // for the host, page-locked
};

}  // namespace tendril::gpu
