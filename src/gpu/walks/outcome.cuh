// What a trial of a walker came to.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::gpu {

enum class trial_outcome : std::uint8_t {
  moved,
  rejected,
  dead,
  exhausted,
  asks,  ///< On a part: whether the candidate stands depends on edges of another rank's vertex.
};

/// `next` counts for moves and candidates.
struct outcome {
  trial_outcome what;
  vertex_id next;
};

}  // namespace tendril::gpu
