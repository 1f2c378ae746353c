// Division of an index by a number that is fixed for a launch: a multiplication and a shift.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::core {

/// Divides n < 2^31 by d in [1, 2^31). With s = ceil(log2 d) and m = ceil(2^(31 + s) / d) the quotient is n m >> (31 + s):
/// m d exceeds 2^(31 + s) by e < d <= 2^s, so n m / 2^(31 + s) exceeds n / d by n e / (d 2^(31 + s)) < 1 / d.
class fast_divisor {
 public:
  fast_divisor() = default;
  explicit TENDRIL_HD fast_divisor(std::uint32_t d) : divisor_(d)
  {
    std::uint32_t s = 0;
    while ((std::uint64_t{1} << s) < d) { ++s; }
    shift_ = 31 + s;
    multiplier_ = static_cast<std::uint32_t>(((std::uint64_t{1} << shift_) + d - 1) / d);
  }

  [[nodiscard]] TENDRIL_HD std::uint32_t quotient(std::uint32_t n) const
  {
    return static_cast<std::uint32_t>(std::uint64_t{n} * multiplier_ >> shift_);
  }
  [[nodiscard]] TENDRIL_HD std::uint32_t divisor() const { return divisor_; }

 private:
  std::uint32_t multiplier_ = 1U << 31U;
  std::uint32_t shift_ = 31;
  std::uint32_t divisor_ = 1;
};

}  // namespace tendril::core
