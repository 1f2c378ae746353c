// What a trial of a walker came to.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::gpu {

enum class trial_outcome : std::uint8_t { moved, rejected, dead, exhausted };

/// `next` counts for moves.
struct outcome {
  trial_outcome what;
  vertex_id next;
};

}  // namespace tendril::gpu
