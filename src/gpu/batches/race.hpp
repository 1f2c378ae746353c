// How races of mini-batches run, beyond the choice that src/gpu/batches/expand.hpp offers: for measurements of what
// each part of it is worth. Never changes a pick. Host and device code.

#pragma once

#include "gpu/batches/expand.hpp"

namespace tendril::gpu {

struct race_execution {
  bool by_degree = true;  ///< Vertices in bins, heavy ones first and by more threads; else a warp each, in order.
  bool guessed = true;    ///< Where it pays, only candidates below a guess are worked out, staged in shared memory.
};

void pick_race(expansion const& what, void* scratch, race_execution how, gpu_exec const& exec);

}  // namespace tendril::gpu
