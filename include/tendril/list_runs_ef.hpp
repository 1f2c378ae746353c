// Lists in runs and Elias-Fano, of up to 224 edges and 129 runs, and how they are read. Bit for bit from the list's first
// byte on:
//
//   one bit an edge       whether y_i = x_i - i differs from that of the edge before
//   5 bits                the width of the first neighbour, less one
//   1 bit                 whether there are upper bits
//   the first neighbour   as a difference from v, biased to be >= 0
//   lower bits            of y - x_0 for each run but the first, at the header's width less one
//   upper bits            of the same in unary, as of Elias-Fano: that of run 1 + j is at bit j + (y - x_0 >> width)
//
// Neighbour i is y + i, so two counts of bits, a search for a mark within 384 bits and two reads give it. Included by
// <tendril/list_code.hpp>.

#pragma once

#include <cstdint>

#include <tendril/list_code.hpp>

namespace tendril::list_codes {

/// Where the parts of such a list are.
struct run_elias_fano_parts {
  std::uint32_t first;  ///< Neighbour.
  std::uint32_t width;  ///< Of lower bits.
  bool has_upper;
  std::uint64_t lower;  ///< The bit where they begin.

  /// @param place  Of a list that has edges.
  TENDRIL_HD run_elias_fano_parts(std::uint32_t const* words, list_place const& place)
      : width(place.header().width() - 1U)
  {
    std::uint64_t const bit = 8 * place.byte() + place.degree;
    std::uint32_t const what = bits_at(words, bit, first_run_bits, plain_load{});
    std::uint32_t const first_width = (what & 31U) + 1U;
    first = bits_at(words, bit + first_run_bits, first_width, plain_load{}) + bias_of(true, place.vertex, first_width);
    has_upper = what >> 5U != 0;
    lower = bit + first_run_bits + first_width;
  }
  /// The bit where the upper bits begin. @param later  The runs but the first.
  [[nodiscard]] TENDRIL_HD std::uint64_t upper(std::uint32_t later) const
  {
    return lower + std::uint64_t{later} * width;
  }
  /// Lower bits of run 1 + j.
  [[nodiscard]] TENDRIL_HD std::uint32_t low(std::uint32_t const* words, std::uint32_t j) const
  {
    return bits_at(words, lower + std::uint64_t{j} * width, width, plain_load{});
  }
};

template <class Load>
struct run_elias_fano_code {
  /// Neighbour i.
  [[nodiscard]] static TENDRIL_HD_CALLED std::uint32_t neighbor(std::uint32_t const* words, list_place place,
                                                                std::uint32_t i)
  {
    run_elias_fano_parts const parts(words, place);
    std::uint64_t const marks = 8 * place.byte();
    std::uint32_t const runs = count_marks(words, marks, i);
    if (runs <= 1) { return parts.first + i; }
    std::uint32_t const j = runs - 2;
    std::uint32_t upper = 0;
    if (parts.has_upper) {
      std::uint32_t const later = count_marks(words, marks, place.degree - 1) - 1;
      upper = find_mark(words, parts.upper(later), j, later) - j;
    }
    return parts.first + (upper << parts.width | parts.low(words, j)) + i;
  }
};

/// Goes over such a list in order (<tendril/list_cursor.hpp>).
class run_elias_fano_cursor {
 public:
  run_elias_fano_cursor() = default;
  TENDRIL_HD run_elias_fano_cursor(std::uint32_t const* words, list_place const& place) : words_(words)
  {
    run_elias_fano_parts const parts(words, place);
    y_ = first_ = parts.first;
    width_ = parts.width;
    has_upper_ = parts.has_upper;
    lower_ = parts.lower;
    marks_ = 8 * place.byte() + 1;  // the first edge begins the first run
    std::uint64_t const upper = parts.upper(count_marks(words, 8 * place.byte(), place.degree - 1) - 1);
    word_ = upper >> 5U;
    auto const at = static_cast<std::uint32_t>(upper & 31U);
    upper_ = words[word_] >> at << at;
    before_ = 0U - at;
    i_ = later_ = 0;
  }

  TENDRIL_HD vertex_id next()
  {
    if (i_ > 0) {
      if (bits_at(words_, marks_++, 1, plain_load{}) != 0) { next_run(); }
    }
    return y_ + i_++;
  }

 private:
  TENDRIL_HD void next_run()
  {
    std::uint32_t const low = bits_at(words_, lower_, width_, plain_load{});
    lower_ += width_;
    std::uint32_t above = 0;
    if (has_upper_) {
      while (upper_ == 0) {
        upper_ = words_[++word_];
        before_ += 32;
      }
      above = before_ + lowest_one(upper_) - later_;
      upper_ &= upper_ - 1U;
    }
    ++later_;
    y_ = first_ + (above << width_ | low);
  }

  std::uint32_t const* words_;
  std::uint64_t marks_, lower_, word_;  // the bits and the word that are read next
  std::uint32_t upper_, before_;        // the upper bits that are left of a word, and those before it
  std::uint32_t first_, y_, width_;
  std::uint32_t i_, later_;  // edges and runs so far
  bool has_upper_;
};

}  // namespace tendril::list_codes
