#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tendril::formats {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Parses the decimal digits at `at` and moves past them; without a digit, `at` stays. A value of more than 2^33
/// comes out as some number above that: no id, count or label is as large. Eight digits at a time: the first
/// character that is no digit is found in the word, what follows it is shifted out, and three multiplications add
/// pairs, fours and eights of digits.
inline std::uint64_t parse_digits(char const*& at, char const* end)
{
  std::uint64_t value = 0;
  if (end - at >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    word ^= 0x3030303030303030U;
    std::uint64_t const other = (((word & 0x7f7f7f7f7f7f7f7fU) + 0x7676767676767676U) | word) & 0x8080808080808080U;
    int const digits = std::countr_zero(other) / 8;  // 8 when all are digits
    if (digits == 0) { return 0; }
    word <<= 64 - 8 * digits;
    word = word * 10 + (word >> 8U);
    word = (((word & 0x000000ff000000ffU) * (100 + (std::uint64_t{1000000} << 32U))) +
            (((word >> 16U) & 0x000000ff000000ffU) * (1 + (std::uint64_t{10000} << 32U)))) >>
           32U;
    value = word;
    at += digits;
    if (digits < 8) { return value; }
  }
  for (; at < end && is_digit(*at); ++at) {
    if (value < (std::uint64_t{1} << 33U)) { value = value * 10 + static_cast<std::uint64_t>(*at - '0'); }
  }
  return value;
}

/// Parses a weight at `at` (digits, or a float in any notation) and moves past it. False, with `at` anywhere, for what
/// is not a finite number of at least 0 that float32 can hold: overflows, and positive ones that would become 0.
inline bool parse_weight(char const*& at, char const* end, float& weight)
{
  char const* const begin = at;
  std::uint64_t const digits = parse_digits(at, end);
  bool const whole = at < end ? *at != '.' && *at != 'e' && *at != 'E' : true;
  if (at > begin && whole && digits < (std::uint64_t{1} << 24U)) {
    weight = static_cast<float>(digits);  // exact
    return true;
  }
  char const* const number = begin < end && *begin == '+' && begin + 1 < end && begin[1] != '-' ? begin + 1 : begin;
  auto const [after, problem] = std::from_chars(number, end, weight);
  at = after;
  if (problem != std::errc{} || !std::isfinite(weight) || weight < 0) { return false; }
  if (weight == 0) {
    for (char const* c = number; c < after && *c != 'e' && *c != 'E'; ++c) {
      if (*c >= '1' && *c <= '9') { return false; }
    }
    weight = 0;  // -0 as well
  }
  return true;
}

/// quoted(text) is `text` as a message shows it: in quotes, printable, not too long. An object, since a function would
/// lose against std::quoted where the argument is a std::string.
struct text_quoter {
  [[nodiscard]] std::string operator()(std::string_view text) const;
};
inline constexpr text_quoter quoted{};

}  // namespace tendril::formats
