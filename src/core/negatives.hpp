// Ends of negative links, for link prediction: a random vertex, uniform or in proportion to weights, and not later than the
// link if there are times. As in PyG, the link of two such ends may exist.
//
// Vertices are sorted by time, so the eligible vertices are a prefix. A draw finds the end of the prefix by binary search
// and draws from the prefix alone: exact, in O(log n). If no vertex is eligible, the draw gives the earliest vertex of all,
// as PyG does after its redraws.
//
// The counter of a draw is (number of the negative in its batch, end, draw); the batch's number is in the key. Draw 0
// decides, except where weights are spread over several groups (weight_group).

#pragma once

#include <bit>
#include <cstdint>

#include <tendril/rng.hpp>

#include "core/draws.hpp"  // negative_key, negative_draws
#include "core/fixed_point.hpp"
#include "core/its.hpp"
#include "core/layers.hpp"  // vertex_of

namespace tendril::core {

/// Vertices of one type without times, to draw from. `Record` is a bucket of an alias table, with members threshold, here
/// and there.
template <class Record>
struct negative_ends {
  std::uint32_t num_vertices;  ///< At least 1.
  Record const* records;       ///< [num_vertices]; null: uniform.
  std::uint32_t end;           ///< 0 for sources, 1 for targets.

  /// The end of negative `index`.
  [[nodiscard]] TENDRIL_HD vertex_id draw(rng_key key, std::uint64_t index) const
  {
    return vertex_of(records, num_vertices, negative_draws(key, index, end).block(0));
  }
};

/// Consecutive vertices whose weights are integers in the same unit. One unit for all vertices would be too coarse for an
/// early prefix of small weights before a large weight. A group ends where its sum would exceed 63 bits; the next group
/// begins with a sum of 47 or 48 bits. A weight is off by at most 2^-46 of the sum of any prefix that ends in its group, and
/// a positive weight never becomes 0.
struct weight_group {
  std::uint32_t first;   ///< Position of the first vertex.
  std::uint64_t before;  ///< Sum of all earlier groups in the unit of this one; at least 1 if there are any.
};

/// Sums positive weights in 63-bit integers and tells where groups begin. Host only: the host builds the table.
class weight_sums {
 public:
  /// Adds the next weight. Whether a group begins with it; `before()` is then that group's.
  bool add(float weight)
  {
    scaled_integer const w = decompose(weight);
    bool const fits = !empty_ && w.exponent + 24 + scale_.shift < static_cast<int>(sum_bits) &&
                      sum_ + scale_(weight) < std::uint64_t{1} << sum_bits;
    if (!fits) { begin_group(w.exponent + 24); }
    sum_ += scale_(weight);
    return !fits;
  }
  [[nodiscard]] std::uint64_t before() const { return before_; }

  /// The sum of all weights so far in the unit of the last group.
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  static constexpr unsigned sum_bits = 63;
  static constexpr int first_bits = 47;  ///< Of the larger of a group's `before` and its first weight.

  /// @param above  2^above is the power of two above the first weight.
  void begin_group(int above)
  {
    int const sum_above = empty_ ? above : static_cast<int>(std::bit_width(sum_)) - scale_.shift;
    int const shift = first_bits - (above > sum_above ? above : sum_above);
    if (!empty_) {
      auto const drop = static_cast<unsigned>(scale_.shift - shift);  // at least 16: the old unit was too small
      std::uint64_t const rounded = drop > sum_bits ? 0 : (sum_ + (std::uint64_t{1} << (drop - 1))) >> drop;
      sum_ = rounded == 0 ? 1 : rounded;
    }
    before_ = sum_;
    scale_.shift = shift;
    empty_ = false;
  }

  fixed_point scale_{};
  std::uint64_t sum_ = 0;
  std::uint64_t before_ = 0;
  bool empty_ = true;
};

/// Vertices of one type with times, to draw from.
struct negative_ends_in_time {
  std::uint32_t size;         ///< Vertices of positive weight, all if uniform; at least 1.
  vertex_id const* vertices;  ///< [size] in ascending order of (time, vertex).
  std::int64_t const* times;  ///< [size] theirs.
  std::uint64_t const* sums;  ///< [size] of weights, inclusive, in the group's unit, `before` included; null: uniform.
  weight_group const* groups;
  std::uint32_t num_groups;  ///< At least 1 unless uniform.
  vertex_id earliest;        ///< Of all vertices, the lowest of equals; its weight may be 0.
  std::uint32_t end;         ///< 0 for sources, 1 for targets.

  /// The end of negative `index` that is not later than `until`; `earliest` where there is none.
  [[nodiscard]] TENDRIL_HD vertex_id draw(rng_key key, std::uint64_t index, std::int64_t until) const
  {
    std::uint32_t const eligible = num_until(until);
    if (eligible == 0) { return earliest; }
    std::uint64_t const bits = negative_draws(key, index, end).block(0).low();
    return vertices[sums == nullptr ? bounded(bits, eligible) : weighted(key, index, eligible, bits)];
  }

 private:
  /// How many vertices are not later.
  [[nodiscard]] TENDRIL_HD std::uint32_t num_until(std::int64_t until) const
  {
    std::uint32_t first = 0;
    for (std::uint32_t left = size; left > 0;) {
      std::uint32_t const half = left / 2;
      bool const right = times[first + half] <= until;
      first += right ? half + 1 : 0;
      left = right ? left - half - 1 : half;
    }
    return first;
  }

  /// A position below `eligible`. Chooses a vertex of the last group, or all earlier groups together; then it draws again
  /// among the earlier groups, with the next random number.
  [[nodiscard]] TENDRIL_HD std::uint32_t weighted(rng_key key, std::uint64_t index, std::uint32_t eligible,
                                                  std::uint64_t bits) const
  {
    std::uint32_t g = num_groups - 1;
    while (groups[g].first >= eligible) { --g; }
    for (std::uint32_t draw = 1;; ++draw) {
      weight_group const group = groups[g];
      std::uint64_t const x = bounded64(bits, sums[eligible - 1]);
      if (x >= group.before) { return group.first + its_search(sums + group.first, eligible - group.first, x); }
      eligible = group.first;
      --g;
      bits = negative_draws(key, index, end).block(draw).low();
    }
  }
};

}  // namespace tendril::core
