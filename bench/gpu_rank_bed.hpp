// Ranks with a GPU each, on which a part of a graph lies, and how fast they walk.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tendril/gpu_set.hpp>
#include <tendril/graph.hpp>
#include <tendril/partition.hpp>
#include <tendril/walk.hpp>
#include <tendril/walk_stream.hpp>

#include "bench/bench.hpp"

namespace tendril::bench {

inline constexpr std::int64_t most_walkers = std::int64_t{1} << 23U;  // of a rank and call

struct rank_bed {
  gpu_set gpus;
  std::vector<graph_part> parts;
  std::vector<std::vector<vertex_id>> starts;  ///< [ranks][most_walkers], vertices that have edges, at random.
};

/// The first GPUs that were named, with a part of the graph for each.
/// @param g  In host memory.
[[nodiscard]] std::shared_ptr<rank_bed const> rank_bed_on(options const& o, graph const& g, int num_gpus);

/// What the plan of a walk says, without making any.
[[nodiscard]] std::string plan_on(rank_bed const& on, walk_params const& params);

/// What all ranks did, which make `calls` calls for walks, each of so many of its own.
struct rank_walks {
  std::int64_t steps = 0, sent_bytes = 0;
  double seconds = 0;
};
[[nodiscard]] rank_walks walk_on(rank_bed const& on, walk_params const& params, std::int64_t walkers_each, int calls);

/// The same of one call for walks that are counted, `rounds` from each of a rank's starts.
[[nodiscard]] rank_walks count_on(rank_bed const& on, walk_params const& params, walk_count what, int rounds);

}  // namespace tendril::bench
