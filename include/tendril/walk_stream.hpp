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

/// Consecutive walks of a stream, in page-locked host memory. The data stays valid until the sink returns.
struct walk_rows {
  std::int64_t first;                     ///< Number of the first walk, in [0, num_walks).
  std::span<vertex_id const> vertices;    ///< [n, row], row-major; `no_vertex` after a walk's end.
  std::span<std::int32_t const> lengths;  ///< [n]: number of steps taken.
};

/// A job whose walks need not fit in the memory of the GPU or of the host.
struct walk_stream_job {
  std::int64_t num_walks = 0;
  std::int64_t first_walk = 0;  ///< Logical id of walk 0.

  /// Source of the starts, for example starts_from a list: one vertex per walk; for multi-dimensional walks one set of
  /// roots per walk, [n, num_roots]. Called in order, on its own thread.
  start_source starts;

  /// Receives all walks, in order. Called on another thread of its own.
  std::function<void(walk_rows const& rows)> sink;

  /// Maximum GPU memory of all batches together; 0: half of the free memory. More than about 0.5 GB is never used,
  /// since larger batches are no faster. The same amount of page-locked host memory is used.
  std::int64_t gpu_bytes = 0;

  /// Called from the calling thread, with the number of walks that went through the sink; an exception from it cancels
  /// the job.
  std::function<void(progress const&)> on_progress = {};
};

/// Statistics of a stream. Stages run concurrently, so the sum of their seconds exceeds `seconds`.
struct walk_stream_report {
  std::int64_t num_walks = 0;
  std::int64_t steps = 0;  ///< Total over all walks.
  std::int64_t num_batches = 0;
  std::int64_t batch_walks = 0;   ///< Walks per batch.
  std::int64_t gpu_bytes = 0;     ///< Memory used for batches.
  std::int64_t copied_bytes = 0;  ///< From the GPU to the host.
  double starts_seconds = 0;      ///< Time to make starts and to copy them to the GPU.
  double walk_seconds = 0;
  double copy_seconds = 0;  ///< Time to copy walks to the host.
  double sink_seconds = 0;
  double seconds = 0;  ///< Total elapsed (wall-clock) time.
};

/// Makes walks on a GPU and passes them to the host, batch by batch. Stages overlap: while the GPU walks one batch, the
/// starts of the next batch are made and uploaded, the previous batch is copied into page-locked memory, and the batch
/// before that is in the sink. A stream runs at the rate of its slowest stage. For each walk of `length` steps, 4
/// (length + 1) + 4 bytes are copied, at 55 GB/s over PCIe 5; a sink that writes an int32 .npy writes 4 (length + 1)
/// bytes.
///
/// The walks equal those of walker::run, bit for bit, for any split into batches. Kernels are ordered on
/// `exec.stream`. Synchronous.
///
/// @throws argument_error  naming the first start out of range; gpu_bytes too small for one walk per batch; a walker
///                         made for another place. device_error; memory_error, of the GPU or of page-locked memory. An
///                         exception from `starts`, `sink` or `on_progress` propagates unchanged, after every stage has
///                         finished its current work.
walk_stream_report stream_walks(walker const& walk, walk_stream_job const& job, gpu_exec const& exec);

/// Streams multi-dimensional walks in the same way: a row is [num_roots + length], as in multidim_walks::vertices.
/// @param graph  In the memory of the GPU of `exec`.
/// @throws as above, and what multidim_walk throws.
walk_stream_report stream_multidim_walks(graph const& graph, std::int64_t num_roots, multidim_params const& params,
                                         walk_stream_job const& job, gpu_exec const& exec);

}  // namespace tendril
