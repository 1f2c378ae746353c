// LABOR-0 (Balin and Catalyurek, "Layer-neighbor sampling: defusing neighborhood explosion in GNNs", NeurIPS'23): which
// edges a vertex takes, by a random number that belongs to the neighbour. Exact in integers. Executors:
// src/cpu/batches/labor_picks.hpp, src/gpu/batches/{stage,pick}_labor.cu.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#include "core/alias.hpp"  // fraction_of
#include "core/draws.hpp"  // labor_draws

namespace tendril::core {

/// The random numbers of one batch of independent ones: a neighbour's is r_u * 2^64.
struct independent_labor_numbers {
  rng_key key{};  ///< labor_key of the batch.

  /// The number of a neighbour. @param item, step  As of labor_draws.
  [[nodiscard]] TENDRIL_HD std::uint64_t of(std::uint64_t item, std::uint32_t step) const
  {
    return labor_draws(key, item, step).block(0).low();
  }
};

/// The random numbers of one batch of dependent ones.
///
/// A neighbour keeps its number for `dependency` batches, then gets a new one. Neighbours don't change all at once: each has
/// a phase in [0, dependency), and batch b is in the neighbour's period (b + phase) / dependency, rounded down. So of the
/// numbers of a batch the next one has a share of 1 - 1 / dependency again, and batch b + dependency has none. Within a
/// batch numbers are independent and uniform.
struct labor_numbers {
  rng_key now{};   ///< Of the period of a neighbour whose phase is 0.
  rng_key next{};  ///< Of the period behind it.
  rng_key phases{};
  std::uint64_t dependency = 1;
  std::uint64_t offset = 0;  ///< The batch's place in the first of these periods.

  /// @param dependency  >= 1; 1: batches are independent.
  [[nodiscard]] static TENDRIL_HD labor_numbers of(std::uint64_t seed, std::uint64_t batch, std::uint64_t dependency)
  {
    std::uint64_t const period = batch / dependency;
    return {labor_key(seed, period), labor_key(seed, period + 1), labor_key(seed, 0), dependency, batch % dependency};
  }

  /// With a dependency of 1 every phase is 0: the batch's numbers are these, with one block a number in place of two.
  [[nodiscard]] TENDRIL_HD bool are_independent() const { return dependency == 1; }
  [[nodiscard]] TENDRIL_HD independent_labor_numbers independent() const { return {now}; }

  /// The number of a neighbour. @param item, step  As of labor_draws.
  [[nodiscard]] TENDRIL_HD std::uint64_t of(std::uint64_t item, std::uint32_t step) const
  {
    std::uint64_t const phase = bounded64(labor_draws(phases, item, step).block(1).low(), dependency);
    return independent_labor_numbers{offset + phase >= dependency ? next : now}.of(item, step);
  }
};

/// The step of a hop's numbers. @param hop  From 0. @param type  The neighbours' vertex type.
TENDRIL_HD std::uint32_t labor_step(std::uint32_t hop, std::uint32_t type, bool layer_dependency)
{
  return minibatch_draws::step(layer_dependency ? 0 : hop, type);
}

/// How one vertex takes its edges.
struct labor_choice {
  std::uint64_t threshold = 0;  ///< floor(2^64 fanout / degree)
  bool all = true;              ///< All edges: a fan-out of -1, or one not below the degree.

  [[nodiscard]] static TENDRIL_HD labor_choice of(std::int64_t fanout, std::uint32_t degree)
  {
    if (fanout < 0 || fanout >= degree) { return {}; }
    return {fraction_of(static_cast<std::uint64_t>(fanout), degree), false};
  }

  [[nodiscard]] TENDRIL_HD bool takes(std::uint64_t number) const { return all || is_below(number); }
  /// The same of a vertex that doesn't take all.
  [[nodiscard]] TENDRIL_HD bool is_below(std::uint64_t number) const { return number < threshold; }

  /// The weight of each of the `taken` edges.
  [[nodiscard]] TENDRIL_HD float weight(std::int64_t fanout, std::uint32_t degree, std::int64_t taken,
                                        bool normalize) const
  {
    if (normalize) { return static_cast<float>(1.0 / static_cast<double>(taken)); }
    return all ? 1.0F : static_cast<float>(static_cast<double>(degree) / static_cast<double>(fanout));
  }
};

}  // namespace tendril::core
