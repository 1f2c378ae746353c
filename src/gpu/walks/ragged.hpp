// Ragged walks from whatever makes walks on the GPU. CPU twin: src/cpu/walks/ragged.hpp.

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "gpu/device/workspace.hpp"
#include "samplers/walks/ragged.hpp"

namespace tendril::gpu {

/// Walks of a slice before they are joined, in device memory: position t of walk i is
/// vertices[i * walk_stride + t * step_stride]. Nothing behind a walk's end is read.
struct staged_walks {
  vertex_id* vertices;
  std::int64_t walk_stride, step_stride;
  std::int32_t* lengths;  ///< Steps taken.
};

/// Enqueues the walks of a slice; it may also synchronise. A bad start is reported in space.status().
using staged_maker =
    std::function<void(samplers::walk_slice const& slice, staged_walks const& out, workspace const& space)>;

struct ragged_job : samplers::ragged_job {
  std::span<vertex_id const> starts;  ///< Of all walks, in device memory; read again for the message about a bad one.
  std::int64_t num_vertices;
  bool by_steps;  ///< Stage one step of all walks after another: a thread a walker writes less that way.
};

/// What makes slices of planned walks. The walker and the starts outlive it.
/// @param starts  In device memory; slice.first counts from the first of them, whose logical id is first_walk.
/// @throws argument_error as walker::run_ragged, but for bad starts.
[[nodiscard]] staged_maker stages_of(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk,
                                     gpu_exec const& exec);

/// ragged_job::by_steps of planned walks.
[[nodiscard]] bool staged_by_steps(walker const& walk);

/// Slices of walks, one after another: each is staged in memory that is kept, and joined. Its device is current whenever
/// a member is called.
class staged_slices {
 public:
  staged_slices(bool by_steps, gpu_exec const& exec);

  /// What became of a slice.
  struct outcome {
    bool fits;         ///< Each walk has had room enough; if not, the slice has to be made again.
    bool bad_start;    ///< Some start is no vertex of the graph.
    std::int64_t end;  ///< offsets[slice.size]
  };

  /// Makes a slice, and fills offsets[0, slice.size] in device memory, from `begin` on. Synchronises.
  /// @param length  Steps of a whole walk.
  [[nodiscard]] outcome make(staged_maker const& maker, samplers::walk_slice const& slice, std::int64_t length,
                             std::int64_t* offsets, std::int64_t begin);

  /// Enqueues the copy of the slice that was made last: `out` is where its first walk begins.
  void join(samplers::walk_slice const& slice, std::int64_t const* offsets, vertex_id* out) const;

 private:
  [[nodiscard]] staged_walks room_for(samplers::walk_slice const& slice);

  gpu_exec exec_;  // of scratch memory
  bool by_steps_;
  buffer<vertex_id> vertices_;
  buffer<std::int32_t> lengths_;  // behind one more number
  staged_walks staged_{};
};

/// Takes up to about a GiB beside the result, more if 2^18 walks need it and the GPU has it, and for a moment the result
/// twice. The result is ordered on the stream. Synchronises once per slice.
/// @throws argument_error naming the first bad start; memory_error; device_error; what `make` throws.
[[nodiscard]] ragged_walks make_ragged(ragged_job const& job, staged_maker const& make, gpu_exec const& exec);

}  // namespace tendril::gpu
