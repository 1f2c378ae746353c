#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/multidim.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

namespace tendril {

/// Consecutive walks of a stream, in page-locked host memory. They stay there until the sink returns.
struct walk_rows {
  std::int64_t first;                     ///< Number of the first one, in [0, num_walks).
  std::span<vertex_id const> vertices;    ///< [n, row], row-major; `no_vertex` after a walk's end.
  std::span<std::int32_t const> lengths;  ///< [n]: steps taken.
};

/// A job whose walks needn't fit the memory of the GPU, nor that of the host.
struct walk_stream_job {
  std::int64_t num_walks = 0;
  std::int64_t first_walk = 0;  ///< Logical id of walk 0.

  /// Where walks start, for example starts_from a list: a vertex each; for multi-dimensional walks a set of roots each,
  /// [n, num_roots]. Called in order, on a thread of its own.
  start_source starts;

  /// Where walks go: called with all of them, in order, on another thread of its own.
  std::function<void(walk_rows const& rows)> sink;

  /// The most GPU memory that the batches take together; 0: half of what is free. More than about 0.5 GB is never
  /// taken, since larger batches are no faster. As much page-locked host memory is taken.
  std::int64_t gpu_bytes = 0;

  /// Called from the calling thread, with the walks that went through the sink; what it throws cancels the job.
  std::function<void(progress const&)> on_progress = {};
};

/// What a stream did. Stages work at the same time: their seconds add up to more than `seconds`.
struct walk_stream_report {
  std::int64_t num_walks = 0;
  std::int64_t steps = 0;  ///< Of all walks.
  std::int64_t num_batches = 0;
  std::int64_t batch_walks = 0;   ///< Walks of a batch.
  std::int64_t gpu_bytes = 0;     ///< Taken for batches.
  std::int64_t copied_bytes = 0;  ///< From the GPU to the host.
  double starts_seconds = 0;      ///< Making starts and copying them to the GPU.
  double walk_seconds = 0;
  double copy_seconds = 0;  ///< Copying walks to the host.
  double sink_seconds = 0;
  double seconds = 0;  ///< In all, as a clock on the wall says.
};

/// Makes walks on a GPU and hands them to the host, batch by batch: while one batch is walked, the starts of the next are
/// made and uploaded, the one before is copied into page-locked memory, and the one before that is in the sink. A stream
/// runs at the rate of its slowest stage: per walk of `length` steps, 4 (length + 1) + 4 bytes are copied, at 55 GB/s
/// over PCIe 5, and a sink that writes an int32 .npy writes 4 (length + 1) bytes.
///
/// The walks are those of walker::run, bit for bit, however they are cut into batches. Kernels are ordered on
/// `exec.stream`. Synchronous.
///
/// @throws argument_error  naming the first start out of range; gpu_bytes too small for one walk a batch; a walker made
///         for another place. device_error; memory_error, of the GPU or of page-locked memory. What `starts`, `sink` and
///         `on_progress` throw comes out as it is, after every stage has finished what it was at.
walk_stream_report stream_walks(walker const& walk, walk_stream_job const& job, gpu_exec const& exec);

/// The same for multi-dimensional walks: a row is [num_roots + length], as in multidim_walks::vertices.
/// @param graph  In the memory of the GPU of `exec`.
/// @throws as above, and what multidim_walk throws.
walk_stream_report stream_multidim_walks(graph const& graph, std::int64_t num_roots, multidim_params const& params,
                                         walk_stream_job const& job, gpu_exec const& exec);

}  // namespace tendril
