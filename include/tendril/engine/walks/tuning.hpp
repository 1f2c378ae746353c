// The layout of dynamic walks on a GPU.

#pragma once

#include <cstdint>

namespace tendril::engine {

/// Tuning parameters. They never affect a result: every value gives the same walks.
struct dynamic_tuning {
  int block_threads = 256;           ///< A multiple of 32, at most 256.
  int num_blocks = 0;                ///< 0: as many as the GPU holds at once.
  int walks_a_turn = 2;              ///< Walks that a warp takes from the pool at a time.
  std::uint32_t share_from = 2048;   ///< Idle warps help with neighbourhoods of at least this many edges.
  std::uint32_t share_chunk = 1024;  ///< Edges that a helper takes at a time; a multiple of 128.
};

}  // namespace tendril::engine
