// The node2vec bias (Grover & Leskovec, KDD'16): a walk that came from t to v weighs a candidate x by 1/p if x = t,
// by 1 if t -> x is an edge, else by 1/q. A first step has no t and no bias.

#pragma once

#include <cstdint>

#include "core/adjacency.hpp"
#include "core/reject.hpp"

namespace tendril::core {

/// The three factors as float32, the largest and what follows from them.
struct node2vec_bias {
  float back = 1;     ///< 1/p
  float away = 1;     ///< 1/q
  float largest = 1;  ///< max(1/p, 1, 1/q): the bound of rejection

  /// `p`, `q` positive and finite.
  [[nodiscard]] static TENDRIL_HD node2vec_bias of(double p, double q)
  {
    float const back = static_cast<float>(1.0 / p);
    float const away = static_cast<float>(1.0 / q);
    float const largest = back > away ? back : away;
    return {back, away, largest > 1.0F ? largest : 1.0F};
  }
};

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

}  // namespace tendril::core
