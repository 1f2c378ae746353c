// Rows of moving walks, which grow by steps: vertices that arrive go into columns, and finished columns become rows. A column
// of a step is written all over, 4 bytes here and there, while it lies in the second-level cache; rows then leave in order.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>

#include "core/draws.hpp"  // walk_ends
#include "gpu/walks/moving/superstep.hpp"

namespace tendril::gpu {

/// Columns of the walks of one home.
struct walk_columns {
  vertex_id* vertices;     ///< [length + 1, stride]; no_vertex where a walk has ended.
  std::int64_t num_walks;  ///< That are used of each column.
  std::int64_t stride;
  std::int32_t length;    ///< Steps.
  bool repeat_dead_ends;  ///< Rows repeat the last vertex, but of walks that
  bool may_stop;          ///< were told to end.
  core::walk_ends ends;
  std::uint64_t first_walk;            ///< Logical id.
  std::uint8_t const* dead = nullptr;  ///< [num_walks] Whether a walk's end is dead, where `ends` can't tell. Or null.
};

/// Enqueues the writing of vertices that came to their home. What a step does with those of the step before.
/// @param first_walk  Of the home.
void deliver_vertices(inbox<moved_vertex const> const& told, vertex_id* column, std::uint32_t first_walk,
                      gpu_exec const& exec);

/// Enqueues rows [num_walks, length + 1] and lengths [num_walks] from columns. 8 bytes a vertex.
/// @param lengths  May be null.
void write_rows(walk_columns const& columns, vertex_id* rows, std::int32_t* lengths, gpu_exec const& exec);

}  // namespace tendril::gpu
