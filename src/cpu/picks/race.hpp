// The exponential race with its random numbers made, and its candidates filtered, in vector registers. The rule, which
// any filter leaves alone: src/core/race.hpp.

#pragma once

#include <algorithm>
#include <cstdint>

#include "core/draws.hpp"
#include "core/race.hpp"
#include "cpu/picks/philox_lanes.hpp"

namespace tendril::cpu {

/// Whose numbers a race draws: those of a decision from `first_draw` on.
struct race_counter : core::decision_draws<> {
  std::uint32_t first_draw;
};

/// The upper halves of a race's bits, a stretch of candidates at a time, and the lower halves where they are asked for.
/// Only for races of more than 32 candidates, whose stretches have all lanes but for the last one.
class race_bits {
 public:
  explicit race_bits(race_counter const& counter) : counter_(counter)
  {
    std::fill_n(lanes_.item, core::race_lanes, counter.item);
    std::fill_n(lanes_.step, core::race_lanes, counter.step);
    // Until somebody leads everyone passes, so the first stretch asks for many lower halves: all are drawn at once.
    draw(core::race_low_draws, low_);
  }

  /// Draws the upper halves of the candidates from `first` on, a multiple of 128.
  void draw_stretch(std::uint32_t first)
  {
    first_ = first;
    draw(core::race_block_offset(first), high_);
  }

  /// [128], by position within the stretch.
  [[nodiscard]] std::uint32_t const* high() const { return high_; }

  /// The entry of candidate i of this stretch.
  [[nodiscard]] std::uint64_t entry(std::uint32_t i, float weight) const
  {
    std::uint32_t const high = high_[i - first_];
    if (i < core::race_stretch) { return core::race_entry_of(i, high, low_[i], weight); }
    return core::race_entry_of(counter_.key, counter_.item, counter_.step, counter_.first_draw, i, high, weight);
  }

 private:
  /// The words of 32 blocks in the order of candidates.
  void draw(std::uint32_t offset, std::uint32_t* words)
  {
    constexpr std::uint32_t n = core::race_lanes;
    for (std::uint32_t l = 0; l < n; ++l) { lanes_.draw[l] = counter_.first_draw + offset + l; }
    philox_lanes(lanes_, 0, n, counter_.key);
    for (std::uint32_t l = 0; l < n; ++l) {
      words[l] = static_cast<std::uint32_t>(lanes_.low[l]);
      words[l + n] = static_cast<std::uint32_t>(lanes_.low[l] >> 32U);
      words[l + 2 * n] = static_cast<std::uint32_t>(lanes_.high[l]);
      words[l + 3 * n] = static_cast<std::uint32_t>(lanes_.high[l] >> 32U);
    }
  }

  race_counter counter_;
  std::uint32_t first_ = 0;
  alignas(64) std::uint32_t high_[core::race_stretch];
  alignas(64) std::uint32_t low_[core::race_stretch];  // of the first stretch
  draw_lanes lanes_;
};

/// A race of at most 32 candidates: all their bits at once, upper halves in front, in word 0 of each block.
template <class BoundOf, class WeightOf, class Enter>
void race_few(std::uint32_t size, BoundOf bound_of, WeightOf weight_of, core::race_filter const& filter, Enter enter,
              race_counter const& counter)
{
  draw_lanes lanes;
  std::fill_n(lanes.item, 2 * size, counter.item);
  std::fill_n(lanes.step, 2 * size, counter.step);
  for (std::uint32_t i = 0; i < size; ++i) {
    lanes.draw[i] = counter.first_draw + i;
    lanes.draw[size + i] = counter.first_draw + core::race_low_draws + i;
  }
  philox_lanes(lanes, 0, static_cast<int>(2 * size), counter.key);
  for (std::uint32_t i = 0; i < size; ++i) {
    auto const high = static_cast<std::uint32_t>(lanes.low[i]);
    if (!filter.may_win(high, bound_of(i))) { continue; }
    enter(core::race_entry_of(i, high, static_cast<std::uint32_t>(lanes.low[size + i]), weight_of(i)));
  }
}

/// Calls enter(entry) for the candidates that pass `filter`, which `enter` may tighten. Weights as in core::race_one.
template <class BoundOf, class WeightOf, class Enter>
void race_scan(std::uint32_t size, BoundOf bound_of, WeightOf weight_of, core::race_filter const& filter, Enter enter,
               race_counter const& counter)
{
  if (size <= core::race_lanes) { return race_few(size, bound_of, weight_of, filter, enter, counter); }
  constexpr std::uint32_t group = 32;  // candidates that are judged together
  race_bits bits(counter);
  float bounds[group];
  for (std::uint32_t first = 0; first < size; first += group) {
    if (first % core::race_stretch == 0) { bits.draw_stretch(first); }
    std::uint32_t const* const high = bits.high() + first % core::race_stretch;
    std::uint32_t const count = std::min(size - first, group);
    for (std::uint32_t j = 0; j < count; ++j) { bounds[j] = bound_of(first + j); }
    std::fill(bounds + count, bounds + group, 0.0F);
    std::uint32_t num_passing = 0;
    core::race_filter const before = filter;
    for (std::uint32_t j = 0; j < group; ++j) { num_passing += before.may_win(high[j], bounds[j]) ? 1U : 0U; }
    if (num_passing == 0) { continue; }
    for (std::uint32_t j = 0; j < count; ++j) {
      if (filter.may_win(high[j], bounds[j])) { enter(bits.entry(first + j, weight_of(first + j))); }
    }
    if (size - first <= group) { break; }  // size may be near 2^32
  }
}

/// core::race_one, to the bit.
template <class BoundOf, class WeightOf>
[[nodiscard]] std::uint64_t race_one(std::uint32_t size, BoundOf bound_of, WeightOf weight_of,
                                     race_counter const& counter)
{
  std::uint64_t best = core::race_none;
  core::race_filter filter = core::race_filter::against(best);
  auto const enter = [&](std::uint64_t entry) {
    best = std::min(best, entry);
    filter = core::race_filter::against(best);
  };
  race_scan(size, bound_of, weight_of, filter, enter, counter);
  return best;
}

/// core::race_k, to the bit.
template <class WeightOf>
void race_k(std::uint32_t size, WeightOf weight_of, core::race_list const& list, race_counter const& counter)
{
  list.clear();
  core::race_filter filter = core::race_filter::against(list.last());
  auto const enter = [&](std::uint64_t entry) {
    list.insert(entry);
    filter = core::race_filter::against(list.last());
  };
  race_scan(size, weight_of, weight_of, filter, enter, counter);
}

}  // namespace tendril::cpu
