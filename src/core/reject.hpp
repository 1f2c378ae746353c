// Rejection: propose an edge uniformly, accept it with probability weight / bound. Exact for any bound that no weight
// exceeds; the mean number of trials is bound * degree / sum of weights.

#pragma once

#include <cstdint>

#include "core/draws.hpp"  // uniform_trials

namespace tendril::core {

/// Whether a proposal of weight `weight` stands against `bound`, given its 64 random bits. The product is one
/// correctly rounded operation, so both sides of the machine agree. The probability's error is below 2^-52.
TENDRIL_HD bool accept(std::uint64_t bits, double weight, double bound) { return unit_interval(bits) * bound < weight; }

/// After this many rejected trials a step is decided by a race over the whole neighbourhood instead: trials are
/// independent of it, so the distribution stays the same, and a step costs O(degree) at worst. Part of the contract.
TENDRIL_HD std::uint32_t trial_limit(std::uint32_t degree) { return 32 + (degree < 992 ? degree : 992); }

/// The same for static weights. There an inverse transform over fixed-point weights decides (its.hpp), by the bits of the
/// block after the last trial: with sums of weights (weight_sums.hpp) it costs O(log degree). Part of the contract.
TENDRIL_HD std::uint32_t weighted_trial_limit(std::uint32_t degree) { return 32 + (degree < 96 ? degree : 96); }

/// The bits that a trial is judged by.
template <class Trials, class Draws>
struct trial_judgement {
  Draws const& draws;
  std::uint32_t first;  ///< The trial's first block,
  std::uint64_t high;   ///< and half of it.

  [[nodiscard]] TENDRIL_HD std::uint64_t operator()() const { return Trials::judgement(draws, first, high); }
  /// Of paired_trials: the bits for the edge back.
  [[nodiscard]] TENDRIL_HD std::uint64_t of_return() const { return Trials::second(draws, first).high(); }
};

/// Trial `number` of a step, as `Trials` deals the step's blocks to its trials. try_one(block, judgement) proposes by the
/// trial's block and asks judgement() for the bits that decide.
/// @return what try_one returns.
template <class Trials, class Draws, class TryOne>
TENDRIL_HD auto run_trial(std::uint32_t number, Draws const& draws, TryOne try_one)
{
  std::uint32_t const first = Trials::blocks * number;
  random_block const block = draws.block(first);
  return try_one(block, trial_judgement<Trials, Draws>{draws, first, block.high()});
}

/// At most `limit` trials one after the other: try_one says whether the step is settled.
/// @return whether one trial settled it.
template <class Trials, class Draws, class TryOne>
TENDRIL_HD bool settle_by_trials(std::uint32_t limit, Draws const& draws, TryOne try_one)
{
  for (std::uint32_t number = 0; number < limit; ++number) {
    if (run_trial<Trials>(number, draws, try_one)) { return true; }
  }
  return false;
}

}  // namespace tendril::core
