// Layer-wise importance sampling: which vertex a slot of a layer draws, with which probability, and the coefficients of
// the edges to it. FastGCN: Chen, Ma and Xiao, ICLR'18; LADIES: Zou et al., NeurIPS'19. include/tendril/layers.hpp says
// what is drawn. Everything that decides is an integer; probabilities and coefficients are made of +, *, / and one
// correctly rounded square root, in an order that is defined here. Executors: src/cpu/layers/layers.cpp, src/gpu/layers/layers.cu.
//
// A slot draws in rounds: round r uses the block of counter (sample, slot, r). Round 0 is all there is with replacement;
// without, see `most_rounds`.

#pragma once

#include <cmath>
#include <cstdint>

#include <tendril/graph_view.hpp>
#include <tendril/layers.hpp>

#include "core/alias.hpp"  // alias_choose
#include "core/draws.hpp"  // layer_key
#include "core/fixed_point.hpp"
#include "core/its.hpp"
#include "core/portable_math.hpp"  // bits_to_double

namespace tendril::core {

/// Without replacement every open slot draws once a round; of slots with equal vertices the lowest wins, a vertex that an
/// earlier round gave away is lost to all, and losers draw again in the next round. What the slots hold in the end are
/// the first different values of the sequence of independent draws (round by round, slot by slot): no draw can come after
/// the last slot was filled, since a round has as many draws as there are open slots. After so many rounds open slots stay
/// empty.
inline constexpr std::uint32_t most_rounds = 256;

/// Squares of entries that are at most 1, in units of 2^-62. A positive one never becomes 0.
inline constexpr int square_bits = 62;

/// 1 / (a b), rounded down. a, b >= 1.
TENDRIL_HD std::uint64_t square_of_degrees(std::uint32_t a, std::uint32_t b)
{
  std::uint64_t const square = (std::uint64_t{1} << square_bits) / (std::uint64_t{a} * b);
  return square == 0 ? 1 : square;
}

/// A sum of such terms. Two words that are added apart: integers, so that any order gives the same, and many threads may
/// add at once. Holds 2^32 terms.
struct square_sum {
  std::uint64_t high = 0;  ///< Of the upper 32 bits of the terms.
  std::uint64_t low = 0;   ///< Of the lower ones.

  /// The sum itself, to 2^-52 of it.
  [[nodiscard]] TENDRIL_HD double value() const
  {
    std::uint64_t const upper = high + (low >> 32U);
    auto const lower = static_cast<std::uint32_t>(low);
    return (static_cast<double>(upper) * 0x1p32 + static_cast<double>(lower)) * 0x1p-62;
  }
};

/// The square of a weight over the square of a power of two, 2^exponent, that is above all weights: one rounding. A
/// positive weight gives at least the least normal float.
TENDRIL_HD float scaled_square(float weight, int exponent)
{
  if (!(weight > 0)) { return 0; }
  scaled_integer const w = decompose(weight);
  auto const square = static_cast<double>(std::uint64_t{w.mantissa} * w.mantissa);
  double const power = bits_to_double(static_cast<std::uint64_t>(1023 + 2 * (w.exponent - exponent)) << 52U);
  auto const scaled = static_cast<float>(square * power);
  return scaled < 0x1p-126F ? 0x1p-126F : scaled;
}

/// The exponent of the power of two above `largest` > 0.
TENDRIL_HD int exponent_above(float largest) { return decompose(largest).exponent + 24; }

/// What an edge of `v` adds to the sum of the column that it leads to; `weight` is scaled_square's, if that is the matrix.
TENDRIL_HD std::uint64_t column_term(propagation matrix, std::uint32_t degree, float square)
{
  switch (matrix) {
    case propagation::row: return square_of_degrees(degree, degree);
    case propagation::symmetric: return square_of_degrees(degree, 1);
    case propagation::weights: break;
  }
  return fixed_point{square_bits}(square);
}

/// The squared norm of column u, up to a factor that all columns share.
/// @param degree  Of u.
TENDRIL_HD float column_norm(propagation matrix, square_sum const& sum, std::uint32_t degree)
{
  if (matrix != propagation::symmetric) { return static_cast<float>(sum.value()); }
  return degree == 0 ? 0.0F : static_cast<float>(sum.value() / static_cast<double>(degree));
}

/// Squared entries of row v up to a factor that the row shares: 1 / deg(u) for `symmetric`.
TENDRIL_HD float neighbor_square(std::uint32_t degree_of_neighbor)
{
  return degree_of_neighbor == 0 ? 0.0F : 1.0F / static_cast<float>(degree_of_neighbor);
}

/// The squared norm of row v, up to a factor that all rows share.
/// @param total  Sum of the row's squares (neighbor_square, scaled_square) as integers of scale `scale`; matrix `row` needs
///               none.
TENDRIL_HD float row_norm(propagation matrix, std::uint32_t degree, std::uint64_t total, fixed_point scale)
{
  if (degree == 0) { return 0; }
  if (matrix == propagation::row) { return 1.0F / static_cast<float>(degree); }
  double const sum = static_cast<double>(total) * bits_to_double(static_cast<std::uint64_t>(1023 - scale.shift) << 52U);
  return static_cast<float>(matrix == propagation::symmetric ? sum / static_cast<double>(degree) : sum);
}

/// The vertex that a slot draws from an alias table over `size` vertices: `low` chooses the bucket, `high` in it. Null
/// stands for a table of equal weights, whose buckets are all full.
template <class Record>
TENDRIL_HD vertex_id vertex_of(Record const* records, std::uint32_t size, random_block const& block)
{
  if (size == 0) { return no_vertex; }
  std::uint32_t const bucket = bounded(block.low(), size);
  if (records == nullptr) { return bucket; }
  Record const record = records[bucket];  // whole, at once
  return alias_choose(record, block.high());
}

/// The probability of a vertex of fixed-point weight `weight` out of `total` > 0.
TENDRIL_HD float vertex_probability(std::uint64_t weight, std::uint64_t total)
{
  return static_cast<float>(static_cast<double>(weight) / static_cast<double>(total));
}

/// The same of a vertex by a table of probabilities; null: all weights are equal. 0 for no_vertex.
TENDRIL_HD float probability_of(float const* probabilities, std::uint32_t size, vertex_id v)
{
  if (v == no_vertex) { return 0; }
  return probabilities == nullptr ? vertex_probability(1, size) : probabilities[v];
}

/// The entry of Q of an edge v -> u, to the precision of double.
TENDRIL_HD double propagation_entry(propagation matrix, std::uint32_t degree, std::uint32_t degree_of_neighbor,
                                    float weight)
{
  switch (matrix) {
    case propagation::row: return 1.0 / static_cast<double>(degree);
    case propagation::symmetric:
      if (degree_of_neighbor == 0) { return 0; }
      return 1.0 / std::sqrt(static_cast<double>(degree) * static_cast<double>(degree_of_neighbor));
    case propagation::weights: break;
  }
  return static_cast<double>(weight);
}

/// What an entry is multiplied by for a column that was drawn with probability `probability` > 0.
TENDRIL_HD double column_scale(std::int64_t layer_size, float probability)
{
  return 1.0 / (static_cast<double>(layer_size) * static_cast<double>(probability));
}

/// What a vertex of MVS stands for: 1 / (batch_size * probability); 0 for an empty slot.
TENDRIL_HD float draw_weight(std::int64_t batch_size, float probability)
{
  return probability > 0 ? static_cast<float>(column_scale(batch_size, probability)) : 0.0F;
}

/// The coefficient of an edge: entry * column_scale, over the sum of these in its row where rows are normalised (added up
/// in the order of the edges), else over 1.
TENDRIL_HD float coefficient(double scaled_entry, double row_sum)
{
  return row_sum > 0 ? static_cast<float>(scaled_entry / row_sum) : 0.0F;
}

/// One row of the layer before, as LADIES draws from it.
struct ladies_row {
  edge_id first;
  std::uint32_t degree;
  std::uint64_t chance;  ///< Of this row, out of the sum over all rows.
};

/// What LADIES draws from beside the graph: unless the matrix is `row`, a table.
struct ladies_tables {
  propagation matrix = propagation::row;
  std::uint64_t const* prefix_sums = nullptr;  ///< [num_edges] inclusive sums of squared entries in each row; or null.
  float const* row_norms = nullptr;            ///< [num_vertices]; or null.
  float largest_norm = 1;                      ///< Of all rows.

  /// @param num_rows  Of the layer before: chances of so many rows add up below 2^62.
  template <class View>
  [[nodiscard]] TENDRIL_HD ladies_row row_of(View const& graph, vertex_id v, std::uint32_t num_rows) const
  {
    if (v == no_vertex) { return {0, 0, 0}; }
    edge_id const first = graph.first_edge(v);
    std::uint32_t const degree = graph.degree(v);
    float const norm = matrix == propagation::row ? row_norm(propagation::row, degree, 0, {}) : row_norms[v];
    return {first, degree, norm > 0 ? fixed_point::of(largest_norm, num_rows)(norm) : 0};
  }

  /// The edge that `bits` chooses among those of a row with a positive chance.
  [[nodiscard]] TENDRIL_HD edge_id edge_of(edge_id first, std::uint32_t degree, std::uint64_t bits) const
  {
    if (prefix_sums == nullptr) { return first + bounded(bits, degree); }
    return first + its_pick(prefix_sums + first, degree, bits);
  }

  /// The chance of a row, over what `part` of all its edges adds up to. Times `part` of an edge it is that edge's chance.
  [[nodiscard]] TENDRIL_HD double share(ladies_row const& row) const
  {
    if (row.chance == 0) { return 0; }
    return static_cast<double>(row.chance) / (prefix_sums == nullptr
                                                  ? static_cast<double>(row.degree)
                                                  : static_cast<double>(prefix_sums[row.first + row.degree - 1]));
  }
  [[nodiscard]] TENDRIL_HD double part(edge_id first, edge_id edge) const
  {
    if (prefix_sums == nullptr) { return 1; }
    return static_cast<double>(prefix_sums[edge] - (edge == first ? 0 : prefix_sums[edge - 1]));
  }
};

/// p(u): shares times parts of the edges to u, added up by row, then edge, over the sum of the chances.
TENDRIL_HD float ladies_probability(double sum, std::uint64_t total)
{
  return static_cast<float>(sum / static_cast<double>(total));
}

}  // namespace tendril::core
