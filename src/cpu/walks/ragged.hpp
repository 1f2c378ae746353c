// Ragged walks from whatever makes rows of walks on the CPU. GPU twin: src/gpu/walks/ragged.hpp.

#pragma once

#include <functional>
#include <span>

#include "samplers/walks/ragged.hpp"

namespace tendril::cpu {

/// Makes the walks of a slice: `vertices` [slice.size, slice.length + 1], of which only the first lengths[i] + 1 of a row
/// matter, and `lengths` [slice.size].
using row_maker = std::function<void(samplers::walk_slice const& slice, vertex_id* vertices, std::int32_t* lengths,
                                     cpu_exec const& exec)>;

/// What makes slices of planned walks. The walker and the starts outlive it.
/// @param starts  slice.first counts from the first of them, whose logical id is first_walk.
/// @throws argument_error as walker::run_ragged.
[[nodiscard]] row_maker rows_of(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk);

/// Slices of walks, one after another: each is made in rows, which are kept, and cut.
class row_slices {
 public:
  explicit row_slices(memory_resource& memory) : memory_(memory) {}

  /// Walks of a slice that each have room for so many steps: 64 MB of rows, or 1 GiB if that is few walks.
  [[nodiscard]] static std::int64_t size_for(std::int64_t room);

  /// Makes a slice, and fills offsets[0, slice.size], from `begin` on.
  /// @param length  Steps of a whole walk.
  /// @return        Whether each walk has had room enough; if not, the slice has to be made again.
  [[nodiscard]] bool make(row_maker const& maker, samplers::walk_slice const& slice, std::int64_t length,
                          std::int64_t* offsets, std::int64_t begin, cpu_exec const& exec);

  /// Copies the vertices of the slice that was made last: `out` is where the first begins.
  void cut(samplers::walk_slice const& slice, std::int64_t const* offsets, vertex_id* out, cpu_exec const& exec) const;

 private:
  memory_resource& memory_;
  buffer<vertex_id> rows_;
  buffer<std::int32_t> lengths_;
};

/// Takes row_slices beside the result, and for a moment the result twice. Calls exec.on_progress with walks of the whole
/// job.
[[nodiscard]] ragged_walks make_ragged(samplers::ragged_job const& job, row_maker const& make, cpu_exec const& exec);

}  // namespace tendril::cpu
