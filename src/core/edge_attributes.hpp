// What generators add to a graph. An edge's weight and label are a function of seed and ends alone, and in a symmetric
// graph of its unordered ends, so that both directions agree; parallel edges share theirs.

#pragma once

#include <cmath>
#include <cstdint>

#include "core/portable_math.hpp"
#include "core/random.hpp"

namespace tendril::core {

/// The ends of an edge as one number: the item that its draws belong to. Any thread.
TENDRIL_HD std::uint64_t edge_item(bool symmetric, vertex_id source, vertex_id target)
{
  bool const swap = symmetric && source > target;
  return (std::uint64_t{swap ? target : source} << 32U) | (swap ? source : target);
}

/// Weights uniform in [min, max), or lognormal(0, sigma) where sigma is positive.
struct weight_rule {
  rng_key key{};
  double sigma = 0;
  double low = 0, width = 0;
  float largest = 0;  ///< The float below max: what a product that rounds up to max becomes.

  [[nodiscard]] static weight_rule of(std::uint64_t seed, float min, float max, double sigma)
  {
    return {make_key(seed, domain::generator_weights), sigma, min, double{max} - double{min}, std::nextafter(max, min)};
  }

  /// Any thread.
  [[nodiscard]] TENDRIL_HD float operator()(std::uint64_t item) const
  {
    double const u = unit_interval(draw_block(key, item, 0, 0).low());
    if (sigma > 0) {
      return static_cast<float>(portable_exp(sigma * normal_quantile(u + 0x1p-54)));  // the quantile of neither 0 nor 1
    }
    auto const weight = static_cast<float>(low + width * u);
    return largest < weight ? largest : weight;
  }
};

/// A label of an edge or a type of a vertex, uniform in [0, size).
struct label_rule {
  rng_key key{};
  std::uint32_t size = 0;

  /// Any thread.
  [[nodiscard]] TENDRIL_HD std::uint32_t operator()(std::uint64_t item) const
  {
    return bounded(draw_block(key, item, 0, 0).low(), size);
  }
};

}  // namespace tendril::core
