// The fixed-point weights of a whole row at once (the rule: src/core/fixed_point.hpp), for tables that the CPU builds:
// loops over arrays, without a branch, so that they run in vector registers.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/fixed_point.hpp"

namespace tendril::plan {

/// fixed_point::operator() as a sum, shifts and a maximum: no branch depends on the weight. @param weight  >= 0, finite.
inline std::uint64_t branch_free_fixed(core::fixed_point scale, float weight)
{
  auto const bits = std::bit_cast<std::int32_t>(weight);  // -0: negative
  int const biased = bits >> 23;
  // A subnormal number has no leading bit. It stays where it is, since only the value counts.
  std::uint64_t const mantissa = static_cast<std::uint32_t>(bits & 0x7fffff) | (biased > 0 ? 0x800000U : 0U);
  int const left = std::max(biased, 1) - 150 + scale.shift;
  auto const up = static_cast<std::uint64_t>(std::max(left, 0));
  auto const down = static_cast<std::uint64_t>(std::clamp(-left, 0, 40));  // of 24 bits none is left after 26
  std::uint64_t const half = (std::uint64_t{1} << down) >> 1U;             // 0 where nothing is cut off
  std::uint64_t const rounded = ((mantissa << up) + half) >> down;
  std::uint64_t const positive = rounded | (rounded == 0 ? 1U : 0U);
  return bits > 0 ? positive : 0;
}

/// The weights of one row as integers. One object a thread: it keeps its memory from row to row.
class fixed_row {
 public:
  /// @param row  Of a graph with weights, finite and >= 0. One thread.
  template <class Row>
  void load(Row const& row)
  {
    std::uint32_t const size = row.degree();
    if (values_.size() < size) {
      weights_.resize(size);
      values_.resize(size);
    }
    auto const weights = row.weights();
    float* const own = weights_.data();
    for (std::uint32_t i = 0; i < size; ++i) { own[i] = weights[i]; }
    // Floats >= 0 are in the order of their bits.
    std::int32_t most = 0;
    for (std::uint32_t i = 0; i < size; ++i) { most = std::max(most, std::bit_cast<std::int32_t>(own[i])); }
    size_ = size;
    total_ = 0;
    largest_ = std::bit_cast<float>(most);
    if (!has_weight()) { return; }
    auto const scale = core::fixed_point::of(largest_, size);
    std::uint64_t* const values = values_.data();
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      values[i] = branch_free_fixed(scale, own[i]);
      total += values[i];
    }
    total_ = total;
  }

  /// Whether a weight is positive. If none is, there are no values.
  [[nodiscard]] bool has_weight() const { return largest_ > 0; }
  [[nodiscard]] float largest() const { return largest_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::span<std::uint64_t const> values() const { return {values_.data(), size_}; }

 private:
  std::vector<float> weights_;
  std::vector<std::uint64_t> values_;
  std::uint32_t size_ = 0;
  float largest_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace tendril::plan
