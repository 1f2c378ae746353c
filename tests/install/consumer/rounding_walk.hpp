// A walk of the user's own. Its weight is made of the last bits of a sum of products: if a compiler contracts them into
// one rounding, the walks are others.

#pragma once

#include <bit>
#include <cstdint>

#include <tendril/dynamic_walk.hpp>

struct rounding_walk {
  [[nodiscard]] TENDRIL_HD float weight(tendril::walk_state const& s, tendril::walk_edge const& e) const
  {
    float const share = e.weight() * 0.3F;
    auto const degree = static_cast<std::int32_t>(s.graph.degree(e.target()));
    float const sum = static_cast<float>(degree) * 0.1F + share;
    return static_cast<float>(1U + std::bit_cast<std::uint32_t>(sum) % 8U);
  }
};

inline tendril::dynamic_walk_params rounding_params()
{
  tendril::dynamic_walk_params params;
  params.length = 40;
  params.seed = 42;
  return params;
}

/// FNV-1a.
inline std::uint64_t digest(tendril::vertex_id const* first, std::int64_t size)
{
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (std::int64_t i = 0; i < size; ++i) { hash = (hash ^ first[i]) * 0x100000001b3U; }
  return hash;
}
