// Reads a list of neighbours from its first to its last, in a few operations each. The codes, and how any one neighbour is
// read: <tendril/list_code.hpp>. A cursor of a code goes over lists of that code alone; with_cursor finds the one of a
// list, and list_cursor is any of them. next() is called at most as often as the list has edges. Includes little, so that
// a program compiled at run time can include it too.

#pragma once

#include <cstdint>

#include <tendril/list_code.hpp>

namespace tendril {
namespace list_codes {

class fixed_cursor {
 public:
  fixed_cursor() = default;
  TENDRIL_HD fixed_cursor(std::uint32_t const* words, list_place const& place)
      : words_(words),
        bit_(8 * place.byte()),
        width_(place.header().width()),
        bias_(bias_of(is(place, list_code::fixed_near), place.vertex, width_))
  {
  }

  TENDRIL_HD vertex_id next()
  {
    std::uint32_t const x = bits_at(words_, bit_, width_, plain_load{});
    bit_ += width_;
    return x + bias_;
  }

 private:
  std::uint32_t const* words_;
  std::uint64_t bit_;
  std::uint32_t width_, bias_;
};

class run_cursor {
 public:
  run_cursor() = default;
  TENDRIL_HD run_cursor(std::uint32_t const* words, list_place const& place)
      : words_(words), width_(place.header().width())
  {
    first_ = bias_of(is(place, list_code::runs_near), place.vertex, width_);
    if (place.degree <= sector_edges) {
      auto const before = static_cast<std::uint32_t>(8 * (place.byte() & 3U));
      word_ = words + (place.byte() >> 2U);
      left_ = 32U - before;
      marks_ = *word_ >> before;
      value_ = 8 * place.byte() + place.degree;
      left_in_sector_ = sector_words;
    } else {
      std::uint64_t const sectors = word_from(place.byte());
      word_ = words + sectors + 1;
      left_ = 32;
      marks_ = *word_;
      value_ = 32 * (sectors + std::uint64_t{(place.degree + sector_edges - 1) / sector_edges} * sector_words);
      left_in_sector_ = sector_words - 2;
    }
    value_ -= width_;  // the first edge begins a run
  }

  TENDRIL_HD vertex_id next()
  {
    if (left_ == 0) { next_word(); }
    value_ += (marks_ & 1U) == 0 ? 0U : width_;  // no branch: where runs end is what can't be foretold
    marks_ >>= 1U;
    --left_;
    return bits_at(words_, value_, width_, plain_load{}) + first_++;
  }

 private:
  TENDRIL_HD void next_word()
  {
    word_ += left_in_sector_ == 0 ? 2 : 1;
    left_in_sector_ = left_in_sector_ == 0 ? sector_words - 2 : left_in_sector_ - 1;
    marks_ = *word_;
    left_ = 32;
  }

  std::uint32_t const* words_;
  std::uint32_t const* word_;  // of the marks
  std::uint64_t value_;        // the bit where y begins
  std::uint32_t marks_, left_, left_in_sector_;
  std::uint32_t width_;
  std::uint32_t first_;  // what is added to y: i, and the bias
};

class elias_fano_cursor {
 public:
  elias_fano_cursor() = default;
  TENDRIL_HD elias_fano_cursor(std::uint32_t const* words, list_place const& place) : words_(words), place_(place)
  {
    begin_part(0);
  }

  TENDRIL_HD vertex_id next()
  {
    if (in_ == block_edges) { begin_part(i_); }
    while (marks_ == 0) {
      marks_ = *++word_;
      before_ += 32;
    }
    std::uint32_t const upper = before_ + lowest_one(marks_) - in_;
    marks_ &= marks_ - 1U;
    std::uint32_t const low = bits_at(words_, lower_, width_, plain_load{});
    lower_ += width_;
    ++in_;
    ++i_;
    return first_ + (upper << width_ | low);
  }

 private:
  TENDRIL_HD void begin_part(std::uint32_t i)
  {
    elias_fano_part const part = part_of(words_, place_, i, plain_load{});
    auto const at = static_cast<std::uint32_t>(part.upper & 31U);
    word_ = words_ + (part.upper >> 5U);
    marks_ = *word_ >> at << at;
    before_ = 0U - at;
    lower_ = part.lower;
    width_ = part.width;
    first_ = part.first;
    i_ = i;
    in_ = 0;
  }

  std::uint32_t const* words_;
  list_place place_;
  std::uint32_t const* word_;  // of the marks
  std::uint64_t lower_;
  std::uint32_t marks_, before_;  // the marks that are left of a word, and the bits of the part before it
  std::uint32_t width_, first_;
  std::uint32_t i_, in_;  // in the list, and in the part
};

class vbyte_cursor {
 public:
  vbyte_cursor() = default;
  TENDRIL_HD vbyte_cursor(std::uint32_t const* words, list_place const& place) : words_(words), place_(place), i_(0) {}

  TENDRIL_HD vertex_id next()
  {
    std::uint32_t const in = i_ % group_edges;
    if (in == 0) { begin_group(); }
    std::uint32_t const bytes = static_cast<std::uint32_t>(lengths_ >> (2U * in) & 3U) + 1U;
    x_ += bits_at(words_, 8 * byte_, 8U * bytes, plain_load{});
    byte_ += bytes;
    ++i_;
    return x_;
  }

 private:
  TENDRIL_HD void begin_group()
  {
    std::uint32_t const left = place_.degree - i_;
    std::uint32_t const size = left < group_edges ? left : group_edges;
    std::uint64_t const begin = group_byte(words_, place_, i_ / group_edges, plain_load{});
    lengths_ = bits_at(words_, 8 * begin, 32, plain_load{});
    if (size > 16) { lengths_ |= std::uint64_t{bits_at(words_, 8 * begin + 32, 32, plain_load{})} << 32U; }
    byte_ = begin + (size + 3U) / 4U;
    x_ = 0;
  }

  std::uint32_t const* words_;
  list_place place_;
  std::uint64_t lengths_;  // of the group, 2 bits each
  std::uint64_t byte_;     // of the next gap
  std::uint32_t i_, x_;
};

/// Calls f(cursor) with the cursor of the list at `place`, which has edges.
template <class F>
TENDRIL_HD auto with_cursor(std::uint32_t const* words, list_place const& place, F&& f)
{
  switch (static_cast<list_code>(place.header().code())) {
    case list_code::runs_near:
    case list_code::runs_far: return f(run_cursor(words, place));
    case list_code::elias_fano: return f(elias_fano_cursor(words, place));
    case list_code::vbyte: return f(vbyte_cursor(words, place));
    case list_code::runs_elias_fano: return f(run_elias_fano_cursor(words, place));
    default: return f(fixed_cursor(words, place));
  }
}

}  // namespace list_codes

/// Goes over a list of any code.
class list_cursor {
 public:
  TENDRIL_HD list_cursor() : kind_(kind::fixed), fixed_() {}
  TENDRIL_HD list_cursor(std::uint32_t const* words, list_place const& place) : list_cursor()
  {
    if (place.degree == 0) { return; }
    list_codes::with_cursor(words, place, [&](auto const& cursor) { put(cursor); });
  }

  TENDRIL_HD vertex_id next()
  {
    switch (kind_) {
      case kind::runs: return runs_.next();
      case kind::elias_fano: return elias_fano_.next();
      case kind::vbyte: return vbyte_.next();
      case kind::runs_elias_fano: return run_elias_fano_.next();
      default: return fixed_.next();
    }
  }

 private:
  enum class kind : std::uint8_t { fixed, runs, elias_fano, vbyte, runs_elias_fano };

  TENDRIL_HD void put(list_codes::fixed_cursor const& cursor) { kind_ = kind::fixed, fixed_ = cursor; }
  TENDRIL_HD void put(list_codes::run_cursor const& cursor) { kind_ = kind::runs, runs_ = cursor; }
  TENDRIL_HD void put(list_codes::elias_fano_cursor const& cursor) { kind_ = kind::elias_fano, elias_fano_ = cursor; }
  TENDRIL_HD void put(list_codes::vbyte_cursor const& cursor) { kind_ = kind::vbyte, vbyte_ = cursor; }
  TENDRIL_HD void put(list_codes::run_elias_fano_cursor const& cursor)
  {
    kind_ = kind::runs_elias_fano, run_elias_fano_ = cursor;
  }

  kind kind_;
  union {
    list_codes::fixed_cursor fixed_;
    list_codes::run_cursor runs_;
    list_codes::elias_fano_cursor elias_fano_;
    list_codes::vbyte_cursor vbyte_;
    list_codes::run_elias_fano_cursor run_elias_fano_;
  };
};

}  // namespace tendril
