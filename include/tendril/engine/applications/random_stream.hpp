// The random numbers of one call of a sampling application. docs/reproducibility.md describes the same scheme in prose.
// Host and device.

#pragma once

#include <cstdint>
#include <type_traits>

#include <tendril/rng.hpp>

#include "core/random.hpp"

namespace tendril {

/// An unlimited sequence of random numbers for one call. The numbers depend on the sample's logical id, the step, the
/// transit and the call, and never on the executor. Number d of call j of m is half j mod 2 of block d * ceil(m / 2) +
/// j / 2 of the counter (sample, transit), so that neighbouring calls share the cost of a block.
class random_stream {
 public:
  TENDRIL_HD random_stream(rng_key key, std::uint64_t sample, std::uint32_t transit, std::uint32_t call,
                           std::uint32_t num_calls)
      : key_(key),
        sample_(sample),
        transit_(transit),
        draw_(call / 2),
        stride_(num_calls / 2 + num_calls % 2),
        upper_(call % 2 != 0)
  {
  }

  /// The same stream, if `first`, the first value of bits(), is already known.
  TENDRIL_HD random_stream(rng_key key, std::uint64_t sample, std::uint32_t transit, std::uint32_t call,
                           std::uint32_t num_calls, std::uint64_t first)
      : random_stream(key, sample, transit, call, num_calls)
  {
    first_ = first;
    knows_first_ = true;
  }

  /// 64 random bits.
  [[nodiscard]] TENDRIL_HD std::uint64_t bits()
  {
    if (knows_first_) {
      knows_first_ = false;
      draw_ += stride_;
      return first_;
    }
    core::random_block const block = core::draw_block(key_, sample_, transit_, draw_);
    draw_ += stride_;
    return upper_ ? block.high() : block.low();
  }

  /// An integer in [0, size), size > 0.
  template <class Size>
  [[nodiscard]] TENDRIL_HD Size bounded(Size size)
  {
    static_assert(std::is_integral_v<Size>);
    return static_cast<Size>(core::bounded64(bits(), static_cast<std::uint64_t>(size)));
  }

  /// A number in [0, 1), a multiple of 2^-53.
  [[nodiscard]] TENDRIL_HD double uniform() { return core::unit_interval(bits()); }

  /// True with probability `p` in [0, 1].
  [[nodiscard]] TENDRIL_HD bool chance(double p) { return core::probability::of(p).hit(bits()); }

 private:
  rng_key key_;
  std::uint64_t sample_;
  std::uint32_t transit_;
  std::uint32_t draw_;
  std::uint32_t stride_;
  bool upper_;
  bool knows_first_ = false;
  std::uint64_t first_ = 0;
};

}  // namespace tendril
