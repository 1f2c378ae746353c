// A heavy tail. Degrees are drawn exactly from the discrete power law by rejection from the continuous one (Devroye,
// Non-Uniform Random Variate Generation, X.6): no table, whatever the largest degree. A target is the source of a
// uniformly drawn edge, that is a vertex in proportion to its out-degree (Chung and Lu, PNAS 2002).

#include <cmath>

#include <fmt/format.h>

#include <tendril/generate.hpp>

#include "core/random.hpp"            // draw_block, bounded64
#include "store/expects.hpp"          // TENDRIL_EXPECTS
#include "store/generate_finish.hpp"  // drawn_edges, finish
#include "store/generate_math.hpp"    // portable_pow
#include "store/parallel.hpp"         // parallel_ranges

namespace tendril {
namespace {

using store::parallel_ranges;

constexpr std::int64_t vertex_grain = std::int64_t{1} << 12U;
constexpr std::int64_t edge_grain = std::int64_t{1} << 16U;

/// P(d) in proportion to d^-exponent over min <= d <= max.
class power_law {
 public:
  power_law(double exponent, std::int64_t min, std::int64_t max)
      : exponent_(exponent),
        min_(min),
        max_(max),
        low_(integral_to(static_cast<double>(min))),
        high_(integral_to(static_cast<double>(max) + 1)),
        largest_ratio_(ratio(min))
  {
  }

  [[nodiscard]] std::int64_t draw(rng_key key, std::uint64_t item) const
  {
    for (std::uint32_t trial = 0;; ++trial) {
      auto const block = core::draw_block(key, item, 0, trial);
      double const x = inverse(low_ + (high_ - low_) * core::unit_interval(block.low()));
      auto const d = std::clamp(static_cast<std::int64_t>(x), min_, max_);
      if (core::unit_interval(block.high()) * largest_ratio_ < ratio(d)) { return d; }
    }
  }

 private:
  /// The integral of t^-exponent from 1 to x.
  [[nodiscard]] double integral_to(double x) const
  {
    if (is_log()) { return store::portable_log(x); }
    return (store::portable_pow(x, 1 - exponent_) - 1) / (1 - exponent_);
  }
  [[nodiscard]] double inverse(double integral) const
  {
    if (is_log()) { return store::portable_exp(integral); }
    return store::portable_pow(1 + integral * (1 - exponent_), 1 / (1 - exponent_));
  }
  [[nodiscard]] bool is_log() const { return std::fabs(1 - exponent_) < 1e-6; }

  /// d^-exponent over the integral of t^-exponent from d to d + 1; falls to 1 as d grows.
  [[nodiscard]] double ratio(std::int64_t degree) const
  {
    auto const d = static_cast<double>(degree);
    if (degree >= (std::int64_t{1} << 22U)) { return 1 + exponent_ / (2 * d); }  // the difference would cancel
    return store::portable_pow(d, -exponent_) / (integral_to(d + 1) - integral_to(d));
  }

  double exponent_;
  std::int64_t min_, max_;
  double low_, high_, largest_ratio_;
};

}  // namespace

graph generate_powerlaw(powerlaw_params const& p, build_options const& build, decoration const& extra,
                        cpu_exec const& exec)
{
  TENDRIL_EXPECTS(p.num_vertices >= 1 && p.num_vertices <= max_num_vertices,
                  "generate_powerlaw: num_vertices is {}, expected 1 to {}", p.num_vertices, max_num_vertices);
  TENDRIL_EXPECTS(p.exponent > 0 && p.exponent <= 20,
                  "generate_powerlaw: exponent is {}, expected above 0 and at most "
                  "20",
                  p.exponent);
  TENDRIL_EXPECTS(p.min_degree >= 1, "generate_powerlaw: min_degree is {}, expected 1 or more", p.min_degree);
  TENDRIL_EXPECTS(p.max_degree >= p.min_degree && p.max_degree <= std::int64_t{0xffffffffLL},
                  "generate_powerlaw: max_degree is {}, expected min_degree, {}, to 4294967295", p.max_degree,
                  p.min_degree);
  store::expect_decoration("generate_powerlaw", extra);
  store::expect_memory("generate_powerlaw", 8.0 * static_cast<double>(p.num_vertices));

  power_law const law(p.exponent, p.min_degree, p.max_degree);
  auto const degree_key = core::make_key(p.seed, core::domain::generator_degrees);
  buffer<std::int64_t> ends(p.num_vertices, *exec.memory);
  parallel_ranges(exec, p.num_vertices, vertex_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      ends[v] = v == 0 ? p.max_degree : law.draw(degree_key, static_cast<std::uint64_t>(v));
    }
  });
  std::int64_t num_edges = 0;  // at most 2^32 degrees below 2^32 each: may pass 2^63, but memory ends long before
  double expected_edges = 0;
  for (auto const degree : ends) { expected_edges += static_cast<double>(degree); }
  store::expect_memory("generate_powerlaw", 8 * expected_edges);
  for (auto& end : ends) { end = num_edges += end; }

  auto edges = store::make_room("generate_powerlaw", p.num_vertices, num_edges, build, extra, exec);
  parallel_ranges(exec, p.num_vertices, vertex_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      std::fill(edges.sources.data() + (v == 0 ? 0 : ends[v - 1]), edges.sources.data() + ends[v],
                static_cast<vertex_id>(v));
    }
  });
  ends = {};
  auto const edge_key = core::make_key(p.seed, core::domain::generator_edges);
  parallel_ranges(exec, num_edges, edge_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      auto const bits = core::draw_block(edge_key, static_cast<std::uint64_t>(k), 0, 0).low();
      edges.targets[k] =
          edges.sources[static_cast<std::int64_t>(core::bounded64(bits, static_cast<std::uint64_t>(num_edges)))];
    }
  });
  return store::finish(std::move(edges), p.num_vertices, build, extra, p.seed, "powerlaw",
                       fmt::format("generated: power law, n {}, exponent {}, degrees {} to {}, seed {}", p.num_vertices,
                                   p.exponent, p.min_degree, p.max_degree, p.seed),
                       exec);
}

}  // namespace tendril
