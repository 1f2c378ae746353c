// Which edges a sample may see that must not look ahead in time.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::core {

/// How many of `degree` ascending times are not later than `time`.
TENDRIL_HD std::uint32_t edges_until(std::int64_t const* times, std::uint32_t degree, std::int64_t time)
{
  std::uint32_t low = 0;
  std::uint32_t high = degree;
  while (low < high) {
    std::uint32_t const middle = low + (high - low) / 2;
    bool const allowed = times[middle] <= time;
    low = allowed ? middle + 1 : low;
    high = allowed ? high : middle;
  }
  return low;
}

}  // namespace tendril::core
