// The node2vec bias (Grover & Leskovec, KDD'16): a walk that came from t to v weighs a candidate x by 1/p if x = t,
// by 1 if t -> x is an edge, else by 1/q. A first step has no t and no bias.
//
// Where 1/p is the largest factor by far, a bound of 1/p would reject most proposals for the sake of one edge. There the edge
// back is an alternative of its own (the outlier of Yang et al., KnightKing, SOSP'19): its weight up to the factor
// max(1, 1/q) is proposed as that of the other edges, and what is left of it is a proposal apart, which always stands.
// Parallel edges back are judged against 1/p, as all edges are where 1/p is small.

#pragma once

#include <cstdint>

#include "core/adjacency.hpp"
#include "core/its.hpp"  // no_pick
#include "core/reject.hpp"

namespace tendril::core {

/// The three factors as float32, the largest and what follows from them.
struct node2vec_bias {
  float back = 1;     ///< 1/p
  float away = 1;     ///< 1/q
  float largest = 1;  ///< max(1/p, 1, 1/q): the bound of rejection
  float rest = 1;     ///< max(1, 1/q): the same but for the edge back

  /// `p`, `q` positive and finite.
  [[nodiscard]] static TENDRIL_HD node2vec_bias of(double p, double q)
  {
    float const back = static_cast<float>(1.0 / p);
    float const away = static_cast<float>(1.0 / q);
    float const rest = away > 1.0F ? away : 1.0F;
    return {back, away, back > rest ? back : rest, rest};
  }

  /// Whether a single edge back is an alternative of its own. Part of the contract. Finding this edge costs as much as the
  /// trials that a bound lower by four times the factor of most edges saves: on a symmetric R-MAT graph of scale 18 both ways
  /// take the same time with p = 0.2, q = 1.
  [[nodiscard]] TENDRIL_HD bool folds() const { return back - rest > 4.0F * away; }
  /// What proposals are judged by beside that alternative.
  [[nodiscard]] TENDRIL_HD node2vec_bias folded() const { return {rest, away, rest, rest}; }
  /// What is left of the factor of the edge back for the alternative.
  [[nodiscard]] TENDRIL_HD double excess() const { return double{back} - double{rest}; }

  /// The share of trials that propose the alternative.
  /// @param back_weight  Static weight of the edge back.
  /// @param proposed     What the static weights of all edges are proposed as, together and in the same unit: their sum, or
  ///                     degree * bound.
  [[nodiscard]] TENDRIL_HD double extra_share(double back_weight, double proposed) const
  {
    double const extra = excess() * back_weight;
    return extra > 0 ? extra / (extra + rest * proposed) : 0.0;
  }
};

/// The only edge of a row back to `previous`.
struct return_edge {
  enum class count : std::uint8_t { none, one, many };
  count number;
  std::uint32_t position;  ///< Where there is one.

  /// @param at  row.find(previous)
  template <graph_row Row>
  [[nodiscard]] static TENDRIL_HD return_edge in(Row const& row, std::uint32_t at, vertex_id previous)
  {
    if (at >= row.degree() || row.neighbor(at) != previous) { return {count::none, at}; }
    bool const again = at + 1 < row.degree() && row.neighbor(at + 1) == previous;
    return {again ? count::many : count::one, at};
  }
};

/// How the trials of a step treat the edge back: the share of trials that propose it as an alternative of its own, or that
/// there is no such alternative. In one number, which walkers keep.
class return_share {
 public:
  return_share() = default;
  /// For walks that don't fold, and where there are many edges back.
  [[nodiscard]] static TENDRIL_HD return_share judged() { return return_share(-1); }
  /// @param share  Of the trials; 0 where there is no edge back.
  [[nodiscard]] static TENDRIL_HD return_share of(double share) { return return_share(share); }

  /// Whether a trial proposes the edge back, by its own bits: that proposal stands.
  [[nodiscard]] TENDRIL_HD bool hit(std::uint64_t bits) const { return value_ > 0 && unit_interval(bits) < value_; }
  /// What the other proposals are judged by.
  [[nodiscard]] TENDRIL_HD node2vec_bias judge_by(node2vec_bias const& bias) const
  {
    return value_ < 0 ? bias : bias.folded();
  }

 private:
  TENDRIL_HD explicit return_share(double value) : value_(value) {}
  double value_;
};

/// The share of a step of a walk that folds. weigh(position) gives the pair of extra_share().
template <class Weigh>
TENDRIL_HD return_share return_share_of(node2vec_bias const& bias, return_edge const& back, Weigh weigh)
{
  if (back.number == return_edge::count::many) { return return_share::judged(); }
  if (back.number == return_edge::count::none) { return return_share::of(0); }
  auto const [back_weight, proposed] = weigh(back.position);
  return return_share::of(bias.extra_share(back_weight, proposed));
}

/// What a trial comes to before adjacency is known.
enum class verdict : std::uint8_t { rejected, accepted, needs_adjacency };

/// Judges a candidate that is `back_at_t` or not with as little work as possible: accepted or rejected at once where
/// adjacency can't change that. `weight` and `bound` are the static weight and its bound without the bias.
TENDRIL_HD verdict node2vec_judge(node2vec_bias const& bias, std::uint64_t bits, double weight, double bound,
                                  bool back_at_t)
{
  double const level = bound * bias.largest;
  if (back_at_t) { return accept(bits, weight * bias.back, level) ? verdict::accepted : verdict::rejected; }
  bool const as_near = accept(bits, weight, level);
  bool const as_away = accept(bits, weight * bias.away, level);
  if (as_near == as_away) { return as_near ? verdict::accepted : verdict::rejected; }
  return verdict::needs_adjacency;
}

/// The verdict once adjacency is known: of a candidate that needs it, exactly one of the two factors accepts.
TENDRIL_HD bool node2vec_settle(node2vec_bias const& bias, bool near) { return near == (bias.away < 1.0F); }

/// The bias of a candidate whose adjacency is known.
TENDRIL_HD float node2vec_factor(node2vec_bias const& bias, bool back_at_t, bool near)
{
  return back_at_t ? bias.back : near ? 1.0F : bias.away;
}

/// What candidate x of static weight `weight` weighs in a race, after a step from `previous`. is_near() says whether there
/// is an edge previous -> x, and is asked only where that matters. No weight exceeds weight * bias.largest: rounding is
/// monotone.
template <class IsNear>
TENDRIL_HD float node2vec_weight(node2vec_bias const& bias, float weight, vertex_id x, vertex_id previous,
                                 IsNear is_near)
{
  bool const back_at_t = x == previous;
  return weight * node2vec_factor(bias, back_at_t, !back_at_t && is_near());
}

/// Trials of a weighted step whose first ones ran out, by the exact weights of all edges back together and of the other
/// edges: an inverse transform proposes among the latter. So the trials depend on q alone, whatever the weights. There are
/// at most trial_limit, of two blocks each, from the block after the first trials on; a race follows. O(log degree) a trial
/// with sums of weights.
/// @tparam Sums  A summed_row (weight_sums.hpp) of the static weights; not all are 0.
template <class Row, class Sums>
class node2vec_settlement {
 public:
  TENDRIL_HD node2vec_settlement(node2vec_bias const& bias, Row const& row, Sums const& sums, vertex_id previous)
      : bias_(bias), row_(row), sums_(sums), first_back_(row.find(previous))
  {
    before_back_ = sums.before(first_back_).all;
    back_ = sums.before(row.find(previous + 1)).all - before_back_;
  }

  /// Trial `number`. @param first  The block that trial 0 begins with.
  /// @param is_near  is_near(x): whether there is an edge previous -> x.
  /// @return the position of the edge that stands, or no_pick.
  template <class Draws, class IsNear>
  [[nodiscard]] TENDRIL_HD std::uint32_t trial(std::uint32_t number, std::uint32_t first, Draws const& draws,
                                               IsNear is_near) const
  {
    random_block const proposal = draws.block(first + 2 * number);
    random_block const judgement = draws.block(first + 2 * number + 1);
    std::uint64_t const others = sums_.total() - back_;
    double const back = bias_.back * static_cast<double>(back_);
    double const most = bias_.rest * static_cast<double>(others);
    if (accept(judgement.high(), back, back + most)) { return first_back_; }
    std::uint64_t x = bounded64(proposal.low(), others);
    x += x >= before_back_ ? back_ : 0;
    std::uint32_t const pick = sums_.first_enough([&](std::uint32_t, auto const& sum) { return sum.all > x; }).n - 1;
    float const factor = is_near(row_.neighbor(pick)) ? 1.0F : bias_.away;
    return accept(judgement.low(), factor, bias_.rest) ? pick : no_pick;
  }

 private:
  node2vec_bias bias_;
  Row row_;
  Sums sums_;
  std::uint32_t first_back_;
  std::uint64_t before_back_, back_;
};

}  // namespace tendril::core
