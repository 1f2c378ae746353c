#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

namespace tendril::formats {

/// What is wrong with a bit stream or with the record read from it; the caller adds file and place.
class bitstream_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The instantaneous codes of natural numbers that WebGraph files use. Values as in their compression flags.
enum class bit_code : std::uint8_t {
  delta = 1,
  gamma = 2,
  golomb = 3,
  skewed_golomb = 4,
  unary = 5,
  zeta = 6,
  nibble = 7
};

/// A code and, for zeta_k and Golomb, its parameter (1 to 7 for zeta, the modulus >= 1 for Golomb).
struct coding {
  bit_code code = bit_code::gamma;
  std::uint32_t parameter = 3;
};

/// Reads bits, most significant first, and the codes made of them: unary, gamma and delta (Elias, 1975), Golomb
/// (1966), zeta_k (Boldi & Vigna, DCC'04), nibbles. Every code starts at 0 and takes at least one bit. A value above
/// 2^62 or an end of the stream inside a code is a bitstream_error; nothing outside of the bytes is ever read.
class bit_reader {
 public:
  static constexpr std::uint64_t max_value = std::uint64_t{1} << 62U;

  explicit bit_reader(std::span<std::byte const> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return std::uint64_t{bytes_.size()} * 8; }

  /// @param position  In bits, at most size().
  void seek(std::uint64_t position) noexcept { position_ = position; }

  std::uint64_t read(coding how)
  {
    switch (how.code) {
      case bit_code::delta: return read_delta();
      case bit_code::gamma: return read_gamma();
      case bit_code::golomb: return read_golomb(how.parameter);
      case bit_code::skewed_golomb: return read_skewed_golomb(how.parameter);
      case bit_code::unary: return read_unary();
      case bit_code::zeta: return read_zeta(how.parameter);
      case bit_code::nibble: return read_nibble();
    }
    throw bitstream_error("a code that does not exist");
  }

  /// Zeros before the next one, which is consumed.
  std::uint64_t read_unary()
  {
    std::uint64_t zeros = 0;
    for (;;) {
      std::uint64_t const bits = window();
      if (bits != 0) {
        auto const run = static_cast<unsigned>(std::countl_zero(bits));
        advance(run + 1U);
        return zeros + run;
      }
      advance(window_bits);
      zeros += window_bits;
    }
  }

  std::uint64_t read_gamma()
  {
    std::uint64_t const bits = window();
    auto const zeros = static_cast<unsigned>(std::countl_zero(bits));
    if (2 * zeros + 1 <= window_bits) {  // the whole code is in the window
      advance(2 * zeros + 1);
      return (bits >> (63U - 2 * zeros)) - 1;
    }
    auto const length = checked_length(read_unary());
    return ((std::uint64_t{1} << length) | read_bits(length)) - 1;
  }

  std::uint64_t read_delta()
  {
    auto const length = checked_length(read_gamma());
    return ((std::uint64_t{1} << length) | read_bits(length)) - 1;
  }

  std::uint64_t read_zeta(unsigned k)
  {
    std::uint64_t const h = read_unary();
    auto const low = checked_length(h * k);
    auto const length = checked_length(std::uint64_t{low} + k - 1);
    std::uint64_t const left = std::uint64_t{1} << low;
    std::uint64_t const m = read_bits(length);
    return m < left ? m + left - 1 : ((m << 1U) | read_bits(1)) - 1;
  }

  std::uint64_t read_golomb(std::uint64_t modulus)
  {
    std::uint64_t const quotient = read_unary();
    if (quotient >= max_value / modulus) { throw bitstream_error("a code above 2^62"); }
    return quotient * modulus + read_minimal_binary(modulus);
  }

  std::uint64_t read_skewed_golomb(std::uint64_t modulus)
  {
    auto const length = checked_length(read_unary() + 1);
    std::uint64_t const buckets = (std::uint64_t{1} << length) - 1;
    if (buckets >= max_value / modulus) { throw bitstream_error("a code above 2^62"); }
    std::uint64_t const upper = buckets * modulus;
    std::uint64_t const lower = upper / (2 * modulus) * modulus;
    return lower + read_minimal_binary(upper - lower);
  }

  std::uint64_t read_nibble()
  {
    std::uint64_t value = 0;
    for (;;) {
      std::uint64_t const nibble = read_bits(4);
      if (value >= max_value >> 3U) { throw bitstream_error("a code above 2^62"); }
      value = (value << 3U) | (nibble & 7U);
      if ((nibble & 8U) != 0) { return value; }
    }
  }

  /// @param length  At most 62.
  std::uint64_t read_bits(unsigned length)
  {
    if (length == 0) { return 0; }
    if (length > window_bits) {
      std::uint64_t const high = read_bits(length - 32);
      return (high << 32U) | read_bits(32);
    }
    std::uint64_t const bits = window() >> (64U - length);
    advance(length);
    return bits;
  }

 private:
  static constexpr unsigned window_bits = 57;  // of 8 bytes, what is left after up to 7 bits are shifted out

  static unsigned checked_length(std::uint64_t length)
  {
    if (length > 61) { throw bitstream_error("a code above 2^62"); }
    return static_cast<unsigned>(length);
  }

  /// A number below `bound`, the smaller ones in one bit less than the others.
  std::uint64_t read_minimal_binary(std::uint64_t bound)
  {
    auto const log2 = static_cast<unsigned>(std::bit_width(bound)) - 1U;
    std::uint64_t const short_codes = (std::uint64_t{2} << log2) - bound;
    std::uint64_t const x = read_bits(log2);
    return x < short_codes ? x : ((x << 1U) | read_bits(1)) - short_codes;
  }

  void advance(unsigned bits)
  {
    position_ += bits;
    if (position_ > size()) { throw bitstream_error("the bit stream ends in the middle"); }
  }

  /// The next 57 bits at least, left aligned; zeros follow the end of the stream.
  [[nodiscard]] std::uint64_t window() const noexcept
  {
    std::size_t const first = position_ >> 3U;
    std::uint64_t bits = 0;
    if (first + 8 <= bytes_.size()) {
      std::memcpy(&bits, bytes_.data() + first, 8);
      bits = __builtin_bswap64(bits);
    } else {
      for (std::size_t i = first; i < bytes_.size(); ++i) {
        bits |= std::to_integer<std::uint64_t>(bytes_[i]) << (56U - 8 * (i - first));
      }
    }
    return bits << (position_ & 7U);
  }

  std::span<std::byte const> bytes_;
  std::uint64_t position_ = 0;
};

}  // namespace tendril::formats
