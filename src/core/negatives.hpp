// Ends of negative links, for link prediction: a vertex at random, uniformly or in proportion to weights, and
// not later than a time where there are times. PyG redraws a vertex that is too late up to five times; so do we, and then
// take the earliest of those drawn. Whether the link exists is not asked, as PyG doesn't.
//
// A draw belongs to (number of the negative in its batch, end, try); the batch's number is in the key.

#pragma once

#include <cstdint>

#include <tendril/rng.hpp>

#include "core/layers.hpp"  // vertex_of
#include "core/random.hpp"

namespace tendril::core {

inline constexpr std::uint32_t negative_redraws = 5;

TENDRIL_HD rng_key negative_key(std::uint64_t seed, std::uint64_t batch)
{
  return make_key(seed, domain::negatives, batch);
}

/// Vertices of one type, to draw from. `Record` is a bucket of an alias table, with members threshold, here and there.
template <class Record>
struct negative_ends {
  std::uint32_t num_vertices;  ///< At least 1.
  Record const* records;       ///< [num_vertices]; null: uniform.
  std::int64_t const* times;   ///< [num_vertices]; null: none is too late.
  std::uint32_t end;           ///< 0 for sources, 1 for targets.

  /// The end of negative `index` that is not later than `until`.
  [[nodiscard]] TENDRIL_HD vertex_id draw(rng_key key, std::uint64_t index, std::int64_t until) const
  {
    vertex_id best = vertex_of(records, num_vertices, draw_block(key, index, end, 0));
    if (times == nullptr) { return best; }
    for (std::uint32_t redraw = 1; redraw <= negative_redraws && times[best] > until; ++redraw) {
      vertex_id const other = vertex_of(records, num_vertices, draw_block(key, index, end, redraw));
      best = times[other] < times[best] ? other : best;
    }
    return best;
  }
};

}  // namespace tendril::core
