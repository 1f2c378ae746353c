#pragma once

#include "cpu/walks/job.hpp"
#include "cpu/walks/source.hpp"

namespace tendril::cpu {

/// Walks one walker at a time to its end: for plans that stream whole neighbourhoods, where there is no latency to hide.
void scalar_walk(walk_job const& job, walk_batch const& batch, walk_source& source);

/// Decides a step whose trials ran out, for the other executors. The next vertex, or no_vertex at a dead end.
[[nodiscard]] vertex_id step_after_trials(walk_job const& job, walker_position const& at);

}  // namespace tendril::cpu
