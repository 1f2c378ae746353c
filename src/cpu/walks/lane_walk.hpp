#pragma once

#include "cpu/walks/job.hpp"
#include "cpu/walks/source.hpp"

namespace tendril::cpu {

/// Whether the plan's rule and layout have an interleaved executor; if not, scalar_walk runs it.
[[nodiscard]] bool can_interleave(walk_job const& job);

/// First-order walks (uniform, rejection, alias; grouped by label or not), many walkers a thread in step: while one
/// walker's gather is on its way the others advance, so that the memory system is busy and not the latency waited for.
/// Each round a walker makes one trial in three phases: draw, locate the edge and prefetch it, take it and prefetch
/// the next vertex (the technique: stage-wise interleaving with prefetch, ThunderRW, VLDB'21).
void first_order_walk(walk_job const& job, walk_batch const& batch, walk_source& source);

/// node2vec walks, likewise; adjacency searches advance one probe a phase beside the trials of other walkers.
void second_order_walk(walk_job const& job, walk_batch const& batch, walk_source& source);

}  // namespace tendril::cpu
