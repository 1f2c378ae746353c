// The budgets of HGSampling, and the race of the vertices that have one (Hu et al., "Heterogeneous graph transformer",
// WWW'20, algorithms 1 and 2). Executor: src/cpu/batches/hgt.cpp.
//
// Budgets are integers, so that sums don't depend on their order. The draws of a hop are a race: every vertex has a random
// number of its own, so that the order of the candidates has no effect either.

#pragma once

#include <cstdint>

#include "core/draws.hpp"  // hgt_draws
#include "core/race.hpp"

namespace tendril::core {

/// What an edge of a vertex with `degree` > 0 edges of its type adds to the budget of its neighbour: 1 / degree, in units
/// of 2^-40, rounded to nearest.
TENDRIL_HD std::uint64_t hgt_share(std::uint32_t degree) { return ((std::uint64_t{1} << 40U) + degree / 2) / degree; }

/// One list adds at most 2^40 + 2^31 units to one budget, so after so many lists every budget is below 2^64 - 1.
inline constexpr std::int64_t most_hgt_lists = std::int64_t{1} << 23U;

/// What a vertex's chance is in proportion to: the square of its budget.
TENDRIL_HD float hgt_weight(std::uint64_t budget)
{
  float const b = static_cast<float>(budget) * 0x1p-40F;
  return b * b;
}

/// The vertex as a candidate in the race of its type: the smallest entries are drawn, in their order.
/// @param key  hgt_key of the batch. @param hop  From 0. @param type  The vertex's.
TENDRIL_HD std::uint64_t hgt_entry(rng_key key, vertex_id v, std::uint32_t hop, std::uint32_t type,
                                   std::uint64_t budget)
{
  std::uint64_t const bits = hgt_draws(key, v, hop, type).block(0).low();
  return race_entry(race_key(exponential(bits), hgt_weight(budget)), v);
}

}  // namespace tendril::core
