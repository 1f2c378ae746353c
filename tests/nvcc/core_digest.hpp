// One number that every rule of src/core contributes to, bit by bit: two compilers, or two processors, that agree on
// it agree on the rules. Compiled by g++, by nvcc for the host, and by nvcc for the device.

#pragma once

#include <cstdint>

#include "core/adjacency.hpp"
#include "core/alias.hpp"
#include "core/edge_attributes.hpp"
#include "core/floyd.hpp"
#include "core/its.hpp"
#include "core/labels.hpp"
#include "core/node2vec.hpp"
#include "core/portable_math.hpp"
#include "core/power_law.hpp"
#include "core/race.hpp"
#include "core/rmat.hpp"
#include "core/web_graph.hpp"

namespace tendril::test {

/// FNV-1a over the eight bytes of each value.
struct digest {
  std::uint64_t state = 0xcbf29ce484222325ULL;

  TENDRIL_HD void add(std::uint64_t value)
  {
    for (int byte = 0; byte < 8; ++byte) {
      state = (state ^ (value & 0xffU)) * 0x100000001b3ULL;
      value >>= 8U;
    }
  }
  TENDRIL_HD void add(float value) { add(std::uint64_t{core::float_to_bits(value)}); }
};

/// The rules that a digest can be made of, one digest each, so that a difference names its rule.
enum class rule : int {
  random,
  floats,
  floyd,
  race,
  fixed_point,
  alias,
  its,
  reject,
  node2vec,
  search,
  math,
  rmat,
  power_law,
  edge_attributes,
  web,
  count
};
inline constexpr int num_rules = static_cast<int>(rule::count);

/// The i-th fixed input: any 64 bits, mostly of full length, one in four short.
TENDRIL_HD std::uint64_t input(std::uint32_t i)
{
  std::uint64_t const bits = core::draw_block(rng_key{0x12345678U, 0x9abcdef0U}, i, 0, 0).low();
  return i % 4 == 0 ? bits >> (i / 4 % 64) : bits;
}

/// A positive finite float of any size, subnormal ones included.
TENDRIL_HD float any_weight(std::uint32_t i)
{
  std::uint32_t const bits = static_cast<std::uint32_t>(input(i)) & 0x7fffffffU;
  std::uint32_t const finite = bits < 0x7f800000U ? bits : bits - 0x01000000U;
  return core::bits_to_float(finite == 0 ? 1U : finite);
}

/// Weights of a neighbourhood: some 0, spread over `orders` powers of two.
struct weights_of {
  std::uint32_t seed;
  std::uint32_t orders;

  TENDRIL_HD float operator()(std::uint32_t i) const
  {
    std::uint64_t const bits = input(seed + i);
    if (bits % 7 == 0) { return 0; }
    std::uint32_t const exponent = 127 - static_cast<std::uint32_t>(bits >> 40U) % orders;
    return core::bits_to_float((exponent << 23U) | (static_cast<std::uint32_t>(bits >> 8U) & 0x7fffffU));
  }
};

TENDRIL_HD void digest_random(digest& d)
{
  for (std::uint32_t i = 0; i < 1000; ++i) {
    rng_key const key = core::make_key(input(i), core::domain::khop, input(i + 1));
    d.add(std::uint64_t{key.lo} | (std::uint64_t{key.hi} << 32U));
    d.add(core::draw_bits(key, input(i + 2), i, 3, i));
    d.add(std::uint64_t{core::bounded(input(i), static_cast<std::uint32_t>(input(i + 1) | 1U))});
    d.add(core::bounded64(input(i), input(i + 1)));
    double const u = core::unit_interval(input(i));
    core::probability const p = core::probability::of(u);
    d.add(p.threshold);
    d.add(std::uint64_t{p.hit(input(i + 1))});
  }
  d.add(std::uint64_t{core::probability::of(1).certain});
}

TENDRIL_HD void digest_floats(digest& d)
{
  for (std::uint32_t i = 0; i < 4000; ++i) {
    d.add(core::exponential(input(i)));
    d.add(core::exponential(~input(i)));
    core::scaled_integer const parts = core::decompose(any_weight(i));
    d.add(std::uint64_t{parts.mantissa});
    d.add(static_cast<std::uint64_t>(parts.exponent));
    d.add(core::reciprocal(core::bits_to_float(0x3f800000U | (static_cast<std::uint32_t>(input(i)) & 0x7fffffU))));
    d.add(core::fused_multiply_add(core::exponential(input(i)), -core::exponential(input(i + 1)), 1.0F));
  }
  for (std::uint32_t i = 0; i < 64; ++i) {
    d.add(core::exponential(i));
    d.add(core::exponential(~std::uint64_t{i}));
    d.add(core::exponential(0x4AFB0CCC06219B7CULL - 32 + i));
  }
}

TENDRIL_HD void digest_floyd(digest& d)
{
  std::uint32_t picks[32];
  for (std::uint32_t repeat = 0; repeat < 100; ++repeat) {
    std::uint32_t const size = 33 + static_cast<std::uint32_t>(input(repeat) >> (33 + repeat % 31));
    for (std::uint32_t j = 0; j < 32; ++j) {
      picks[j] = core::floyd_slot::of(input(1000 + 32 * repeat + j), j, 32, size).after(picks, j);
      d.add(std::uint64_t{picks[j]});
    }
  }
}

TENDRIL_HD void digest_race(digest& d)
{
  for (std::uint32_t i = 0; i < 4000; ++i) {
    d.add(std::uint64_t{core::race_key(core::exponential(input(i)), any_weight(i + 1))});
  }
  d.add(std::uint64_t{core::race_key(1.0F, 0.0F)});
  for (std::uint32_t i = 0; i < 4000; ++i) {
    core::race_filter const filter = core::race_filter::against(input(i));
    d.add(filter.reach);
    auto const high = static_cast<std::uint32_t>(input(i + 1) >> (i % 64));
    d.add(std::uint64_t{filter.may_win(high, any_weight(i + 2))});
    d.add(core::race_entry_of({i, 8}, input(i), 5, core::race_draws, high, high, any_weight(i + 3)));
  }
  std::uint64_t winners[16];
  for (std::uint32_t size = 0; size < 300; size += size < 40 ? 1 : 13) {
    weights_of const weights{size, 1 + size % 126};
    rng_key const key{size, 7};
    d.add(core::race_one(size, weights, key, size, 2, core::race_draws));
    auto const bounds = [&](std::uint32_t i) { return weights(i) * 3; };
    d.add(core::race_one(size, bounds, weights, key, size, 2, 0));
    core::race_k(size, weights, 16, winners, key, size, 3, 0);
    for (std::uint64_t const winner : winners) { d.add(winner); }
  }
}

TENDRIL_HD void digest_fixed_point(digest& d)
{
  for (std::uint32_t i = 0; i < 2000; ++i) {
    float const a = any_weight(i);
    float const b = any_weight(i + 1);
    auto const degree = static_cast<std::uint32_t>(input(i + 2) >> (32 + i % 32)) | 1U;
    core::fixed_point const scale = core::fixed_point::of(a > b ? a : b, degree);
    d.add(static_cast<std::uint64_t>(scale.shift));
    d.add(scale(a));
    d.add(scale(b));
  }
}

TENDRIL_HD void digest_alias(digest& d)
{
  for (std::uint32_t size = 1; size < 60; ++size) {
    weights_of const weights{size, 1 + size % 40};
    float const largest = core::largest_weight(size, weights);
    d.add(largest);
    d.add(std::uint64_t{core::alias_scan(size, weights, input(size), input(size + 1))});
    if (!(largest > 0)) { continue; }
    core::fixed_point const scale = core::fixed_point::of(largest, size);
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < size; ++i) { total += scale(weights(i)); }
    core::alias_sweep(
        size, total, [&](std::uint32_t i) { return scale(weights(i)); },
        [&](std::uint32_t item, core::alias_bucket const& bucket) {
          d.add(std::uint64_t{item});
          d.add(bucket.threshold);
          d.add(std::uint64_t{bucket.other});
          return true;
        });
  }
}

TENDRIL_HD void digest_its(digest& d)
{
  std::uint64_t sums[64];
  for (std::uint32_t size = 1; size <= 64; ++size) {
    weights_of const weights{2 * size, 1 + size % 50};
    for (std::uint32_t i = 0; i < size; ++i) { sums[i] = (i == 0 ? 0 : sums[i - 1]) + (input(i) >> 8U); }
    for (std::uint32_t draw = 0; draw < 8; ++draw) {
      d.add(std::uint64_t{core::its_scan(size, weights, input(size + draw))});
      d.add(std::uint64_t{core::its_pick(sums, size, input(size + draw))});
    }
  }
}

TENDRIL_HD void digest_reject(digest& d)
{
  for (std::uint32_t i = 0; i < 4000; ++i) {
    float const bound = any_weight(i);
    // The weight is a share of the bound, and half of the bits lie right at the edge of acceptance.
    double const share = core::unit_interval(input(i + 1));
    auto const edge = static_cast<std::uint64_t>(share * 0x1p53) << 11U;
    d.add(std::uint64_t{core::accept(i % 2 == 0 ? input(i + 2) : edge, share * bound, bound)});
    d.add(std::uint64_t{core::trial_limit(i)});
  }
}

TENDRIL_HD void digest_node2vec(digest& d)
{
  for (std::uint32_t i = 0; i < 4000; ++i) {
    double const p = 0.1 + 4 * core::unit_interval(input(i));
    double const q = 0.1 + 4 * core::unit_interval(input(i + 1));
    core::node2vec_bias const bias = core::node2vec_bias::of(p, q);
    d.add(bias.back);
    d.add(bias.away);
    d.add(bias.largest);
    double const weight = static_cast<float>(core::unit_interval(input(i + 2)));
    d.add(static_cast<std::uint64_t>(core::node2vec_judge(bias, input(i + 3), weight, 1.0, i % 3 == 0)));
    d.add(std::uint64_t{core::node2vec_settle(bias, i % 2 == 0)});
    d.add(core::node2vec_factor(bias, i % 3 == 0, i % 2 == 0));
  }
}

TENDRIL_HD void digest_search(digest& d)
{
  vertex_id values[64];
  for (std::uint32_t size = 0; size <= 64; ++size) {
    for (std::uint32_t i = 0; i < size; ++i) {
      values[i] = (i == 0 ? 5 : values[i - 1]) + (static_cast<std::uint32_t>(input(i)) & 3U);
    }
    std::uint32_t at = 0;
    for (vertex_id x = 0; x < 200; x += 3) {
      d.add(std::uint64_t{core::contains(values, size, x)});
      at = core::gallop(values, size, at, x);
      d.add(std::uint64_t{at});
    }
    auto const label_of = [&](std::uint32_t i) { return static_cast<label_id>(input(i) % 3); };
    d.add(std::uint64_t{core::count_label(size, label_of, 1)});
    d.add(std::uint64_t{core::select_label(size, label_of, 1, size / 4)});
  }
}

TENDRIL_HD void digest_math(digest& d)
{
  for (std::uint32_t i = 0; i < 2000; ++i) {
    double const u = core::unit_interval(input(i)) + 0x1p-54;
    d.add(core::double_to_bits(core::normal_quantile(u)));
    d.add(core::double_to_bits(core::portable_log(u * 1e9)));
    d.add(core::double_to_bits(core::portable_exp(1400 * (u - 0.5))));
    d.add(core::double_to_bits(core::portable_pow(1 + 1e6 * u, 3 * (u - 0.5))));
  }
}

TENDRIL_HD void digest_rmat(digest& d)
{
  // Thresholds, and first 16 bits of one that ties now and then.
  core::quadrants const levels{{std::uint64_t{1} << 61U, std::uint64_t{3} << 61U, 0x7000123456789abcULL},
                               {0x4000U, 0xc000U, 0xe000U}};
  core::scrambler scramble;
  for (int scale = 1; scale <= 31; scale += 5) {
    scramble.mask = (std::uint64_t{1} << static_cast<unsigned>(scale)) - 1;
    scramble.fold = static_cast<unsigned>(scale + 1) / 2;
    for (std::uint32_t r = 0; r < core::scrambler::num_rounds; ++r) {
      scramble.factors[r] = input(r) | 1U;
      scramble.terms[r] = input(r + 4);
    }
    for (std::uint32_t k = 0; k < 4000; ++k) {
      core::drawn_edge const edge = levels.draw({7, 9}, k, scale);
      d.add((std::uint64_t{edge.source} << 32U) | edge.target);
      d.add(std::uint64_t{scramble(edge.source)});
    }
  }
}

TENDRIL_HD void digest_power_law(digest& d)
{
  for (double const exponent : {0.5, 1.0, 2.1, 4.0}) {
    core::power_law const law(exponent, 2, 3'000'000);
    for (std::uint32_t i = 0; i < 500; ++i) { d.add(static_cast<std::uint64_t>(law.draw({3, 5}, input(i)))); }
  }
}

TENDRIL_HD void digest_edge_attributes(digest& d)
{
  core::weight_rule const uniform{{1, 2}, 0, 1, 4, 4.9999995F};
  core::weight_rule const lognormal{{1, 2}, 3, 0, 0, 0};
  for (std::uint32_t i = 0; i < 2000; ++i) {
    auto const u = static_cast<vertex_id>(input(i)), v = static_cast<vertex_id>(input(i + 1));
    std::uint64_t const item = core::edge_item(i % 2 == 0, u, v);
    d.add(item);
    d.add(uniform(item));
    d.add(lognormal(item));
    d.add(std::uint64_t{core::label_rule{{1, 2}, 1 + i}(item)});
  }
}

TENDRIL_HD void digest_web(digest& d)
{
  for (std::uint32_t const n : {0xffffffffU, 1'000'003U, 300U}) {
    for (std::uint32_t const length : {64U, 256U, 4096U}) {
      core::web_graph const graph(input(length), n, length == 64 ? 20'000 : 0, length);
      for (std::uint32_t i = 0; i < 150; ++i) {
        // Most rows anywhere, some at the end of the graph.
        auto const v = i < 120 ? core::bounded(input(i), n) : n - 1 - (i - 120) % n;
        core::for_each_web_row(graph, v, v + 1, [&](vertex_id, core::web_row row) {
          for (core::web_run run{}; row.next(run);) { d.add((std::uint64_t{run.begin} << 32U) | run.end); }
        });
      }
    }
  }
}

/// The digest of one rule over its fixed inputs.
TENDRIL_HD std::uint64_t core_digest(rule which)
{
  digest d;
  switch (which) {
    case rule::random: digest_random(d); break;
    case rule::floats: digest_floats(d); break;
    case rule::floyd: digest_floyd(d); break;
    case rule::race: digest_race(d); break;
    case rule::fixed_point: digest_fixed_point(d); break;
    case rule::alias: digest_alias(d); break;
    case rule::its: digest_its(d); break;
    case rule::reject: digest_reject(d); break;
    case rule::node2vec: digest_node2vec(d); break;
    case rule::search: digest_search(d); break;
    case rule::math: digest_math(d); break;
    case rule::rmat: digest_rmat(d); break;
    case rule::power_law: digest_power_law(d); break;
    case rule::edge_attributes: digest_edge_attributes(d); break;
    case rule::web: digest_web(d); break;
    case rule::count: break;
  }
  return d.state;
}

}  // namespace tendril::test
