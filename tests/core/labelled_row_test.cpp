// Picks among the edges that carry a label, from the row alone, are those from a list of these edges.

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/labelled_row.hpp"

namespace tendril {
namespace {

using core::labelled_rule;

/// A team of one.
struct one_lane {
  static constexpr std::uint32_t lanes = 1;
  [[nodiscard]] static std::uint32_t lane() { return 0; }
  [[nodiscard]] static unsigned ballot(bool b) { return b ? 1 : 0; }
  [[nodiscard]] static float largest(float x) { return x; }
  [[nodiscard]] static std::uint64_t total(std::uint64_t x) { return x; }
  [[nodiscard]] static core::weight_sum running_total(core::weight_sum const& x) { return x; }
  template <class T>
  [[nodiscard]] static T from(T x, std::uint32_t)
  {
    return x;
  }
};

struct labelled_edges {
  std::vector<bool> has_label;
  std::vector<float> weights;

  template <labelled_rule rule>
  [[nodiscard]] std::uint32_t pick(core::decision_draws<> const& draws) const
  {
    return core::labelled_pick<rule>(
        one_lane{}, static_cast<std::uint32_t>(weights.size()), [&](std::uint32_t i) { return has_label[i]; },
        [&](std::uint32_t i) { return weights[i]; }, draws);
  }

  /// The same from a list, by the rules of src/core for a row.
  [[nodiscard]] std::uint32_t pick_from_list(labelled_rule rule, core::decision_draws<> const& draws) const
  {
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < weights.size(); ++i) {
      if (has_label[i]) { list.push_back(i); }
    }
    auto const size = static_cast<std::uint32_t>(list.size());
    if (size == 0) { return core::no_pick; }
    auto const weight_of = [&](std::uint32_t i) { return weights[list[i]]; };
    core::random_block const block = draws.block(0);
    std::uint32_t rank = core::no_pick;
    switch (rule) {
      case labelled_rule::uniform: rank = core::bounded(block.low(), size); break;
      case labelled_rule::alias: rank = core::alias_scan(size, weight_of, block.low(), block.high()); break;
      case labelled_rule::its: rank = core::its_scan(size, weight_of, block.low()); break;
      case labelled_rule::reject: {
        float const bound = core::largest_weight(size, weight_of);
        if (!(bound > 0)) { break; }
        std::uint32_t const limit = core::weighted_trial_limit(size);
        bool const settled =
            core::settle_by_trials<core::uniform_trials>(limit, draws, [&](auto const& bits, auto judgement) {
              rank = core::bounded(bits.low(), size);
              return core::accept(judgement(), weight_of(rank), bound);
            });
        if (!settled) { rank = core::its_scan(size, weight_of, draws.block(limit).low()); }
        break;
      }
    }
    return rank == core::no_pick ? core::no_pick : list[rank];
  }

  void expect_same_picks(core::decision_draws<> const& draws) const
  {
    using enum labelled_rule;
    ASSERT_EQ(pick<uniform>(draws), pick_from_list(uniform, draws));
    ASSERT_EQ(pick<reject>(draws), pick_from_list(reject, draws));
    ASSERT_EQ(pick<alias>(draws), pick_from_list(alias, draws));
    ASSERT_EQ(pick<its>(draws), pick_from_list(its, draws));
  }
};

TEST(LabelledRow, PicksAreThoseFromAListOfTheEdgesWithTheLabel)
{
  std::mt19937_64 random(5);
  rng_key const key = core::make_key(7, core::domain::metapath_walk);
  std::uniform_real_distribution<double> unit(0, 1);
  for (std::size_t const size : {0UL, 1UL, 2UL, 31UL, 32UL, 33UL, 200UL, 1000UL}) {
    for (double const share : {0.0, 0.02, 0.5, 1.0}) {
      for (double const orders : {0.0, 2.0, 30.0}) {  // the widest runs out of trials
        labelled_edges row;
        for (std::size_t i = 0; i < size; ++i) {
          row.has_label.push_back(unit(random) < share);
          row.weights.push_back(unit(random) < 0.2 ? 0.0F : static_cast<float>(std::pow(10.0, -orders * unit(random))));
        }
        for (std::uint64_t walk = 0; walk < 60 && !::testing::Test::HasFatalFailure(); ++walk) {
          row.expect_same_picks(core::walk_draws(key, walk, static_cast<std::int32_t>(size)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tendril
