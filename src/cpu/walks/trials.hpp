// How many trials the steps of a walk take: counted for given walks, and estimated for plans.

#pragma once

#include <cstdint>
#include <span>

#include "cpu/walks/job.hpp"

namespace tendril::cpu {

/// Steps, and the trials that they took. A step without a trial counts as one.
struct trial_count {
  std::int64_t trials = 0;
  std::int64_t steps = 0;

  /// 1 without a step.
  [[nodiscard]] double mean() const
  {
    return steps == 0 ? 1.0 : static_cast<double>(trials) / static_cast<double>(steps);
  }
};

/// Counts the trials of the walks that `planned` makes, one walker after the other, without keeping the walks.
[[nodiscard]] trial_count count_trials(walker const& planned, std::span<vertex_id const> starts,
                                       std::int64_t first_walk = 0);

/// The mean number of trials of a step of long walks: counted for a few walks that begin with edges of a fixed random
/// sample, after some steps that bring them to where walks stay. It follows from the graph and the parameters alone.
/// @param plan  Its rule is not automatic. Builds the sums of weights that weighted second-order walks read.
[[nodiscard]] double estimate_trials(graph const& graph, walk_params const& params, sampling_plan const& plan,
                                     cpu_exec const& exec);

}  // namespace tendril::cpu
