// A hash that tells contents apart, number by number. The rounds are those of xxHash (https://github.com/Cyan4973/xxHash).

#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace tendril::cli {

class content_hash {
 public:
  /// Mixes in a number; the order matters.
  void mix(std::uint64_t number) { state_ = std::rotl(state_ + number * prime_2, 31) * prime_1; }
  void mix(std::string_view text)
  {
    mix(text.size());
    for (char const c : text) { mix(static_cast<unsigned char>(c)); }
  }

  [[nodiscard]] std::uint64_t value() const
  {
    std::uint64_t out = state_ ^ state_ >> 33U;
    out *= prime_2;
    out ^= out >> 29U;
    out *= prime_3;
    return out ^ out >> 32U;
  }

 private:
  static constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87U, prime_2 = 0xC2B2AE3D27D4EB4FU,
                                 prime_3 = 0x165667B19E3779F9U;

  std::uint64_t state_ = prime_1;
};

}  // namespace tendril::cli
