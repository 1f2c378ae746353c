// Boxes of records for ranks, which a kernel fills before anybody knows how many there are for each.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>  // TENDRIL_HD

namespace tendril::gpu {

/// Where boxes lie: one for each rank but the own. Two share room for all records that there may be, one filled from the front, the other from the back.
struct box_places {
  std::int64_t room;  ///< Records of a step, at most.
  int own;            ///< The rank that has no box.

  /// Rooms of all boxes.
  [[nodiscard]] static constexpr std::int64_t rooms(std::int64_t num_ranks) { return num_ranks / 2; }

  /// Of the i-th record to a rank.
  [[nodiscard]] TENDRIL_HD std::int64_t place(int to, unsigned i) const
  {
    int const box = box_of(to);
    std::int64_t const front = box / 2 * room;
    return box % 2 == 0 ? front + i : front + room - 1 - i;
  }
  /// Of the foremost of so many records to a rank.
  [[nodiscard]] std::int64_t first(int to, std::int64_t count) const
  {
    int const box = box_of(to);
    return box / 2 * room + (box % 2 == 0 ? 0 : room - count);
  }

 private:
  [[nodiscard]] TENDRIL_HD int box_of(int to) const { return to < own ? to : to - 1; }
};

template <class Record>
struct rank_boxes : box_places {
  Record* staying;  ///< Records for the own rank, if there are any.
  Record* leaving;  ///< [rooms(number of ranks) * room]

  [[nodiscard]] TENDRIL_HD Record* at(int to, unsigned i) const
  {
    return to == own ? staying + i : leaving + place(to, i);
  }
};

}  // namespace tendril::gpu
