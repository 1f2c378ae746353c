// Who measures and writes a list: one thread of a CPU, or the lanes of a warp. The functions of list_measure.hpp and
// list_writer.hpp are written once, for a team: member `rank` of `width` takes the elements rank, rank + width, …, and
// what they find is added up. A team of one is below, that of a warp in src/gpu/place/warp_team.cuh.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::place {

/// What a team has found so far, and what comes before a member's own.
struct part_of_sum {
  std::uint64_t before, total;
};

/// One thread.
struct serial_team {
  static constexpr std::uint32_t width = 1;

  [[nodiscard]] TENDRIL_HD std::uint32_t rank() const { return 0; }
  /// Whether this member does what a team does once.
  [[nodiscard]] TENDRIL_HD bool leads() const { return true; }
  TENDRIL_HD void wait() const {}

  /// The sum, the smallest and the largest of all members' numbers.
  [[nodiscard]] TENDRIL_HD std::uint64_t sum(std::uint64_t own) const { return own; }
  [[nodiscard]] TENDRIL_HD std::int64_t min(std::int64_t own) const { return own; }
  [[nodiscard]] TENDRIL_HD std::int64_t max(std::int64_t own) const { return own; }
  /// The sum of the numbers of smaller rank, and of all.
  [[nodiscard]] TENDRIL_HD part_of_sum prefix(std::uint64_t own) const { return {0, own}; }
  /// The number of the member of rank `rank`.
  [[nodiscard]] TENDRIL_HD std::uint64_t of_rank(std::uint64_t own, std::uint32_t) const { return own; }

  /// Bit k says whether holds(k), for k below `size`, at most 32.
  template <class Holds>
  [[nodiscard]] TENDRIL_HD std::uint32_t mask(std::uint32_t size, Holds holds) const
  {
    std::uint32_t out = 0;
    for (std::uint32_t k = 0; k < size; ++k) { out |= std::uint32_t{holds(k)} << k; }
    return out;
  }
  /// f(k, number of ones below) for each one of a mask, by one member each.
  template <class F>
  TENDRIL_HD void for_each_one(std::uint32_t mask, F f) const
  {
    for (std::uint32_t count = 0; mask != 0; ++count, mask &= mask - 1) {
      f(static_cast<std::uint32_t>(__builtin_ctz(mask)), count);
    }
  }
};

}  // namespace tendril::place
