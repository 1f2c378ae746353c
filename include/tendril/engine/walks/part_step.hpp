// The steps of walkers on a part of a graph, on the CPU. GPU twin: engine/walks/part_kernels.cuh.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/part_walker.hpp>
#include <tendril/engine/walks/walker.hpp>

namespace tendril::engine {

/// Decides the steps of a batch. What is wrong with a walk is thrown as throw_problem throws it.
template <class W, class Transit>
void decide_on_part(W const& walk, dynamic_setup<Transit> const& setup, bool rejecting, part_batch const& batch)
{
  dynamic_walker<W, Transit> const walker(walk, setup, rejecting);
  for (std::int64_t i = 0; i < batch.size; ++i) {
    basic_walk_state<Transit> const s = state_of(setup, batch.walkers[i]);
    decided_step& made = batch.steps[i];
    if (!chooses(walk, setup, s, made)) { continue; }
    auto const row = setup.row(s.vertex);
    std::uint64_t const entry = walker.choose(s, row);
    if (core::race_has_winner(entry)) { made = {part_turn::moved, row.neighbor(core::race_index(entry))}; }
  }
}

}  // namespace tendril::engine
