// A walk's row in the output, and how it ends.

#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/walks/job.hpp"

namespace tendril::cpu {

/// Completes the row of a walk that took `steps` steps. `at_dead_end`: it could not go on (else it was told to stop).
inline void close_row(walk_job const& job, walk_batch const& batch, vertex_id* row, std::int32_t steps,
                      bool at_dead_end)
{
  if (!batch.completes_rows) { return; }
  bool const repeat = at_dead_end && job.params->dead_ends == dead_end::repeat;
  std::int32_t const last = steps - batch.first_step;
  std::fill(row + last + 1, row + (job.length() - batch.first_step) + 1, repeat ? row[last] : no_vertex);
}

}  // namespace tendril::cpu
