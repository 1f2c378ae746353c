// What tells two graphs apart: a hash of their content that needs no order of threads. Each row has a hash, of its vertex
// too, and the hashes of all rows are added up. The rounds are those of xxHash (https://github.com/Cyan4973/xxHash), in two
// lanes.

#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tendril::dist {

class digest {
 public:
  /// Mixes in a number; the order matters.
  void mix(std::uint64_t value)
  {
    first_ = std::rotl(first_ + value * prime_2, 31) * prime_1;
    second_ = std::rotl(second_ + value * prime_3, 29) * prime_2;
  }
  void mix(std::string_view text)
  {
    mix(text.size());
    for (char const c : text) { mix(static_cast<unsigned char>(c)); }
  }

  /// Adds another digest; the order of such calls doesn't matter.
  void add(digest const& other)
  {
    first_ += final_of(other.first_);
    second_ += final_of(other.second_);
  }
  /// Joins sums of digests.
  void add_sum(digest const& other)
  {
    first_ += other.first_;
    second_ += other.second_;
  }
  void mix(digest const& other)
  {
    mix(other.first_);
    mix(other.second_);
  }

  [[nodiscard]] std::string text() const { return fmt::format("{:016x}{:016x}", final_of(first_), final_of(second_)); }

 private:
  static constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87U, prime_2 = 0xC2B2AE3D27D4EB4FU,
                                 prime_3 = 0x165667B19E3779F9U;

  static std::uint64_t final_of(std::uint64_t hash)
  {
    hash = (hash ^ hash >> 33U) * prime_2;
    hash = (hash ^ hash >> 29U) * prime_3;
    return hash ^ hash >> 32U;
  }

  std::uint64_t first_ = 0, second_ = 0;
};

}  // namespace tendril::dist
