// Which k of a vertex's edges are sampled: the choice at the heart of k-hop trees and mini-batches, for every rule.
// The rules: src/core/{floyd,race,alias,its,weight_sums}.hpp.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/alias.hpp"
#include "core/floyd.hpp"
#include "core/its.hpp"
#include "core/weight_sums.hpp"
#include "cpu/picks/race.hpp"
#include "plan/planner.hpp"  // pick_tables

namespace tendril::cpu {

/// Marks a slot that could not be filled. Picks are positions within the neighbourhood.
inline constexpr std::uint32_t empty_slot = core::no_pick;

/// How neighbours are chosen, without the how many.
struct pick_rule {
  bool replace = false;
  bool weighted = false;
  sampling_rule rule = sampling_rule::uniform;
  plan::pick_tables const* tables = nullptr;  ///< May be null: then everything is worked out at the vertex.

  /// Uniform picks take half a block each, drawn by the caller ahead; the other rules draw for themselves.
  [[nodiscard]] bool takes_bits() const { return !weighted; }
};

/// Chooses for one vertex at a time. One object a thread: it holds scratch.
class neighbor_picker {
 public:
  explicit neighbor_picker(pick_rule const& rule) : rule_(rule) {}

  /// Uniform choice of k from `degree` with the bits of each slot. Without replacement and with degree <= k all edges
  /// are taken, in order. Writes picks [k].
  void pick_uniform(std::uint32_t degree, std::uint32_t k, std::uint64_t const* bits, std::uint32_t* picks)
  {
    if (degree == 0) {
      std::fill_n(picks, k, empty_slot);
    } else if (rule_.replace) {
      for (std::uint32_t j = 0; j < k; ++j) { picks[j] = core::bounded(bits[j], degree); }
    } else if (degree <= k) {
      for (std::uint32_t j = 0; j < k; ++j) { picks[j] = j < degree ? j : empty_slot; }
    } else if (degree <= bitset_degree) {
      pick_from_few(degree, k, bits, picks);
    } else if (!(k <= 16 ? pick_distinct<16>(degree, k, bits, picks)
                         : k <= 32 && pick_distinct<32>(degree, k, bits, picks))) {
      pick_many(degree, k, bits, picks);
    }
  }

  /// Weighted choice of k from the row of a vertex. Choice j takes block j; races draw by candidate instead.
  template <class Row>
  void pick_weighted(std::int64_t vertex, Row const& row, std::uint32_t k, core::decision_draws<> draws,
                     std::uint32_t* picks)
  {
    std::uint32_t const degree = row.degree();
    if (degree == 0) {
      std::fill_n(picks, k, empty_slot);
      return;
    }
    if (!rule_.replace) {
      winners_.resize(k);
      auto const weight_of = [&](std::uint32_t i) { return row.weight(i); };
      race_k(degree, weight_of, {winners_.data(), k}, {draws, core::pick_race_draws});
      for (std::uint32_t j = 0; j < k; ++j) {
        picks[j] = core::race_has_winner(winners_[j]) ? core::race_index(winners_[j]) : empty_slot;
      }
      return;
    }
    if (is_summed(degree, k)) {
      pick_by_sums(vertex, row, k, draws, picks);
      return;
    }
    prepare(row);
    if (rule_.rule == sampling_rule::its) {
      for (std::uint32_t j = 0; j < k; ++j) { picks[j] = core::its_pick(sums_, degree, draws.block(j).low()); }
      return;
    }
    bits_.resize(std::max<std::size_t>(bits_.size(), 2 * std::size_t{k}));
    for (std::uint32_t j = 0; j < k; ++j) {
      core::random_block const block = draws.block(j);
      bits_[2 * std::size_t{j}] = block.low();
      bits_[2 * std::size_t{j} + 1] = block.high();
    }
    propose_alias(buckets_, degree, k, bits_.data(), picks);
    decide_alias(buckets_, k, bits_.data(), picks);
  }

  /// The two halves of alias picks from the buckets of a vertex that has edges: all buckets are on their way before one is
  /// read, of one vertex or of many. @param bits  [2 k] the blocks of the picks.
  static void propose_alias(core::alias_bucket const* buckets, std::uint32_t degree, std::uint32_t k,
                            std::uint64_t const* bits, std::uint32_t* picks)
  {
    for (std::uint32_t j = 0; j < k; ++j) {
      picks[j] = core::bounded(bits[2 * std::size_t{j}], degree);
      __builtin_prefetch(buckets + picks[j]);
    }
  }
  static void decide_alias(core::alias_bucket const* buckets, std::uint32_t k, std::uint64_t const* bits,
                           std::uint32_t* picks)
  {
    for (std::uint32_t j = 0; j < k; ++j) {
      picks[j] = core::alias_choose(buckets[picks[j]], picks[j], bits[2 * std::size_t{j} + 1]);
    }
  }

 private:
  static constexpr std::uint32_t summed_edges_a_pick = 64;
  static constexpr std::uint32_t bitset_degree = 4096;  // bench/sample: clearing 512 bytes is cheap

  /// Floyd's method with a bit for each neighbour.
  static void pick_from_few(std::uint32_t degree, std::uint32_t k, std::uint64_t const* bits, std::uint32_t* picks)
  {
    std::uint64_t taken[bitset_degree / 64];
    std::fill_n(taken, (degree + 63) / 64, std::uint64_t{0});
    core::floyd_picks(k, degree, bits, picks, [&](core::floyd_slot const& slot) {
      bool const is_taken = (taken[slot.candidate / 64] >> (slot.candidate % 64) & 1U) != 0;
      std::uint32_t const pick = is_taken ? slot.last : slot.candidate;
      taken[pick / 64] |= std::uint64_t{1} << (pick % 64);
      return pick;
    });
  }

  /// Among many neighbours candidates hardly ever meet, and while they don't they are the picks. Compares all pairs of
  /// up to `Width` candidates in vector registers; false if two are equal.
  template <int Width>
  static bool pick_distinct(std::uint32_t degree, std::uint32_t k, std::uint64_t const* bits, std::uint32_t* picks)
  {
    alignas(64) std::uint32_t candidates[Width];
    alignas(64) std::uint32_t matches[Width] = {};
    for (std::uint32_t j = 0; j < k; ++j) { candidates[j] = core::floyd_slot::of(bits[j], j, k, degree).candidate; }
    std::fill(candidates + k, candidates + Width, empty_slot);
    for (std::uint32_t j = 0; j < k; ++j) {
      std::uint32_t const c = candidates[j];
      for (int i = 0; i < Width; ++i) { matches[i] += candidates[i] == c ? 1U : 0U; }
    }
    std::uint32_t total = 0;
    for (auto const m : matches) { total += m; }
    std::copy_n(candidates, k, picks);
    return total == k;  // each equals itself alone
  }

  /// Floyd's method with a hash set instead of a comparison with every earlier pick.
  void pick_many(std::uint32_t degree, std::uint32_t k, std::uint64_t const* bits, std::uint32_t* picks)
  {
    std::size_t slots = 1;
    while (slots < std::size_t{2} * k) { slots *= 2; }
    taken_.assign(slots, empty_slot);
    auto const insert = [&](std::uint32_t value) {
      std::size_t at = (value * 0x9E3779B97F4A7C15ULL >> 32U) & (slots - 1);
      for (; taken_[at] != empty_slot; at = (at + 1) & (slots - 1)) {
        if (taken_[at] == value) { return false; }
      }
      taken_[at] = value;
      return true;
    };
    core::floyd_picks(k, degree, bits, picks, [&](core::floyd_slot const& slot) {
      return insert(slot.candidate) ? slot.candidate : (insert(slot.last), slot.last);
    });
  }

  /// Whether picks come from sums of weights: a pick reads some 100 weights then, where a table of the vertex takes a few
  /// passes over all of them.
  [[nodiscard]] bool is_summed(std::uint32_t degree, std::uint32_t k) const
  {
    return rule_.tables != nullptr && rule_.tables->sums && degree > std::uint64_t{summed_edges_a_pick} * k;
  }

  template <class Row>
  void pick_by_sums(std::int64_t vertex, Row const& row, std::uint32_t k, core::decision_draws<> draws,
                    std::uint32_t* picks) const
  {
    plan::weight_sums const& sums = *rule_.tables->sums;
    if (sums.rows[vertex].total == 0) {
      std::fill_n(picks, k, empty_slot);
      return;
    }
    auto const summed = sums.row(vertex, row.first_edge(), [&](std::uint32_t i) { return row.weight(i); });
    for (std::uint32_t j = 0; j < k; ++j) {
      core::random_block const block = draws.block(j);
      picks[j] = rule_.rule == sampling_rule::its ? core::summed_its_pick(summed, block.low())
                                                  : core::summed_alias_pick(summed, block.low(), block.high());
    }
  }

  /// Points `sums_` or `buckets_` at the vertex's part of a table, or works it out.
  template <class Row>
  void prepare(Row const& row)
  {
    std::uint32_t const degree = row.degree();
    bool const by_sums = rule_.rule == sampling_rule::its;
    if (by_sums && rule_.tables != nullptr && rule_.tables->prefix_sums) {
      sums_ = rule_.tables->prefix_sums->data() + row.first_edge();
      return;
    }
    if (!by_sums && rule_.tables != nullptr && rule_.tables->alias) {
      buckets_ = rule_.tables->alias->data() + row.first_edge();
      return;
    }
    float const largest = core::largest_weight(degree, [&](std::uint32_t i) { return row.weight(i); });
    own_sums_.assign(degree, 0);
    own_buckets_.assign(by_sums ? 0 : degree, {0, empty_slot});
    if (largest > 0) {
      auto const scale = core::fixed_point::of(largest, degree);
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < degree; ++i) { own_sums_[i] = sum += scale(row.weight(i)); }
      if (!by_sums) {
        core::alias_sweep(
            degree, sum, [&](std::uint32_t i) { return scale(row.weight(i)); },
            [&](std::uint32_t item, core::alias_bucket const& bucket) {
              own_buckets_[item] = bucket;
              return true;
            });
      }
    }
    sums_ = own_sums_.data();
    buckets_ = own_buckets_.data();
  }

  pick_rule rule_;
  std::vector<std::uint64_t> winners_;
  std::vector<std::uint32_t> taken_;
  std::vector<std::uint64_t> bits_;  // of alias picks
  std::vector<std::uint64_t> own_sums_;
  std::vector<core::alias_bucket> own_buckets_;
  std::uint64_t const* sums_ = nullptr;
  core::alias_bucket const* buckets_ = nullptr;
};

}  // namespace tendril::cpu
