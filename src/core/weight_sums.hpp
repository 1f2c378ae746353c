// Alias tables and inverse transforms without a table of all edges: what a table would hold is worked out at the pick,
// from sums of weights that are kept for every 64th edge of a row. A pick searches these sums, and goes over 64 weights
// where its answer lies: O(log degree) loads and up to about 190 weights, whatever the degree. The sums take 24 bytes for
// 64 edges, and 16 for a row: where an alias table has 16 bytes an edge, they have 3 bits an edge.
//
// The picks are those of alias_scan and its_scan (alias.hpp, its.hpp), bit for bit: all sums are integers.

#pragma once

#include <cstdint>

#include "core/alias.hpp"

namespace tendril::core {

inline constexpr std::uint32_t summed_edges = 64;

/// Sums over the first edges of a row. An edge is light if it has at most the average weight of its row, else heavy.
struct weight_sum {
  std::uint64_t all;     ///< Of the fixed-point weights,
  std::uint64_t light;   ///< of those of light edges,
  std::uint32_t lights;  ///< and the number of light edges.

  TENDRIL_HD weight_sum& operator+=(weight_sum const& other)
  {
    all += other.all;
    light += other.light;
    lights += other.lights;
    return *this;
  }
};

/// What is kept of a row in 16 bytes.
struct alignas(16) row_weight {
  std::uint64_t total;  ///< Of the fixed-point weights: 0 where no weight is positive.
  float largest;
  std::uint32_t degree;

  /// The scale of its fixed-point weights, where one is positive.
  [[nodiscard]] TENDRIL_HD fixed_point scale() const { return fixed_point::of(largest, degree); }
};

/// Where the sums of all rows are: those over the first 64 c edges of a row, 0 < 64 c < degree, are entry
/// first_edge / 64 + c. No two rows share an entry.
TENDRIL_HD constexpr std::int64_t num_weight_sums(std::int64_t num_edges) { return num_edges / summed_edges + 1; }

/// A number of edges from a row's begin, and the sums over them.
struct summed_rank {
  std::uint32_t n;
  weight_sum sum;
};

/// A row of positive weight with its sums.
template <class WeightOf>
class summed_row {
 public:
  /// @param sums       The row's: element c is that over 64 c edges; element 0 is not read.
  /// @param weight_of  weight_of(i), i < degree.
  TENDRIL_HD summed_row(row_weight const& row, weight_sum const* sums, WeightOf weight_of)
      : total_(row.total),
        size_(row.degree),
        scale_(fixed_point::of(row.largest, row.degree)),
        sums_(sums),
        weight_of_(weight_of)
  {
  }

  [[nodiscard]] TENDRIL_HD std::uint32_t size() const { return size_; }
  [[nodiscard]] TENDRIL_HD std::uint64_t total() const { return total_; }
  [[nodiscard]] TENDRIL_HD std::uint64_t weight(std::uint32_t i) const { return scale_(weight_of_(i)); }
  [[nodiscard]] TENDRIL_HD bool is_light(std::uint64_t weight) const { return weight * size_ <= total_; }

  /// The sums over the first n edges, n <= size().
  [[nodiscard]] TENDRIL_HD weight_sum before(std::uint32_t n) const
  {
    // Sums over the whole row are not kept, and it may end where others would be.
    std::uint32_t i = (n < size_ ? n : size_ - 1) / summed_edges * summed_edges;
    weight_sum sum = sums_before(i / summed_edges);
    for (; i < n; ++i) { add(sum, weight(i)); }
    return sum;
  }

  /// The fewest edges from the row's begin whose sums are `enough`: `n`, and their sums. enough(n, sum) is false of no edge,
  /// and stays true once it is; where it never is, n is size() + 1.
  using found = summed_rank;
  template <class Enough>
  [[nodiscard]] TENDRIL_HD found first_enough(Enough enough) const
  {
    // The last of the sums that are kept, of which it isn't.
    std::uint32_t low = 0;
    std::uint32_t high = (size_ - 1) / summed_edges;
    while (low < high) {
      std::uint32_t const middle = low + (high - low + 1) / 2;
      bool const is_enough = enough(middle * summed_edges, sums_before(middle));
      low = is_enough ? low : middle;
      high = is_enough ? middle - 1 : high;
    }
    weight_sum sum = sums_before(low);
    for (std::uint32_t n = low * summed_edges; n < size_; ++n) {
      add(sum, weight(n));
      if (enough(n + 1, sum)) { return {n + 1, sum}; }
    }
    return {size_ + 1, sum};
  }

  /// The sums over 64 edges from edge 64 c on.
  [[nodiscard]] TENDRIL_HD weight_sum sum_of(std::uint32_t c) const
  {
    weight_sum sum{};
    for (std::uint32_t i = c * summed_edges; i < (c + 1) * summed_edges; ++i) { add(sum, weight(i)); }
    return sum;
  }

 private:
  [[nodiscard]] TENDRIL_HD weight_sum sums_before(std::uint32_t c) const { return c == 0 ? weight_sum{} : sums_[c]; }
  TENDRIL_HD void add(weight_sum& sum, std::uint64_t weight) const
  {
    bool const light = is_light(weight);
    sum += {weight, light ? weight : 0, light ? 1U : 0U};
  }

  std::uint64_t total_;
  std::uint32_t size_;
  fixed_point scale_;
  weight_sum const* sums_;
  WeightOf weight_of_;
};

/// A row of positive weight of which the total is not kept: it is worked out from the last of its sums.
template <class WeightOf>
TENDRIL_HD summed_row<WeightOf> summed_row_of(float largest, std::uint32_t degree, weight_sum const* sums,
                                              WeightOf weight_of)
{
  fixed_point const scale = fixed_point::of(largest, degree);
  std::uint32_t const last = (degree - 1) / summed_edges;
  std::uint64_t total = last == 0 ? 0 : sums[last].all;
  for (std::uint32_t i = last * summed_edges; i < degree; ++i) { total += scale(weight_of(i)); }
  return {{total, largest, degree}, sums, weight_of};
}

/// Fills in the sums of a row: element c of `sums`, which `row` reads, for 0 < 64 c < degree.
template <class Row>
TENDRIL_HD void fill_sums(Row const& row, weight_sum* sums)
{
  weight_sum sum{};
  for (std::uint32_t c = 1; c <= (row.size() - 1) / summed_edges; ++c) { sums[c] = sum += row.sum_of(c - 1); }
}

/// alias_scan of a row of positive weight. @tparam Row  A summed_row, or what answers the same.
template <class Row>
TENDRIL_HD std::uint32_t summed_alias_pick(Row const& row, std::uint64_t bits_item, std::uint64_t bits_choice)
{
  __extension__ using uint128 = unsigned __int128;
  std::uint32_t const size = row.size();
  std::uint64_t const total = row.total();
  std::uint32_t const item = bounded(bits_item, size);
  std::uint64_t const weight = row.weight(item);
  // As in alias_bucket_of, which has the proof: whether `heavies` heavy edges give more than `lights` light ones lack.
  auto const gives_more = [&](std::uint32_t heavies, std::uint64_t heavy, std::uint32_t lights, std::uint64_t light) {
    return static_cast<uint128>(heavy + light) * size > static_cast<uint128>(total) * (std::uint64_t{heavies} + lights);
  };
  if (row.is_light(weight)) {
    std::uint64_t const content = weight * size;
    if (content >= total || alias_keeps(fraction_of(content, total), bits_choice)) { return item; }
    weight_sum const own = row.before(item);
    return row.first_enough([&](std::uint32_t n, weight_sum const& sum) {
                return gives_more(n - sum.lights, sum.all - sum.light, own.lights, own.light);
              })
               .n -
           1;
  }
  weight_sum const own = row.before(item);
  std::uint32_t const heavies = item - own.lights + 1;
  std::uint64_t const heavy = own.all - own.light + weight;
  weight_sum const served = row.first_enough([&](std::uint32_t, weight_sum const& sum) {
                                 return !gives_more(heavies, heavy, sum.lights, sum.light);
                               })
                                .sum;
  std::uint64_t const content = (heavy + served.light) * size - total * (std::uint64_t{heavies} - 1 + served.lights);
  if (content >= total || alias_keeps(fraction_of(content, total), bits_choice)) { return item; }
  std::uint32_t const next =
      row.first_enough([&](std::uint32_t n, weight_sum const& sum) { return n - sum.lights > heavies; }).n;
  return next > size ? item : next - 1;
}

/// its_scan of a row of positive weight.
template <class Row>
TENDRIL_HD std::uint32_t summed_its_pick(Row const& row, std::uint64_t bits)
{
  std::uint64_t const x = bounded64(bits, row.total());
  return row.first_enough([&](std::uint32_t, weight_sum const& sum) { return sum.all > x; }).n - 1;
}

}  // namespace tendril::core
