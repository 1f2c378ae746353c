#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/multidim.hpp>
#include <tendril/names.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

namespace tendril {

/// Consecutive walks of a stream, in host memory (page-locked where a GPU made them). The data stays valid until the sink
/// returns.
struct walk_rows {
  std::int64_t first;                     ///< Number of the first walk, in [0, num_walks).
  std::span<vertex_id const> vertices;    ///< [n, row], row-major; `no_vertex` after a walk's end.
  std::span<std::int32_t const> lengths;  ///< [n]: number of steps taken.
};

/// Consecutive walks of a stream without the unused ends of rows, as in `ragged_walks`, in the same memory.
struct ragged_rows {
  std::int64_t first;                     ///< Number of the first walk, in [0, num_walks).
  std::span<std::int64_t const> offsets;  ///< [n + 1], from 0: walk first + i is vertices[offsets[i], offsets[i + 1]).
  std::span<vertex_id const> vertices;    ///< [offsets[n]]
};

/// What is counted of walks that nobody keeps, in host memory. Counts are added to what is there; an exception leaves some of the
/// walks in them. The vertices of a walk are its start and as many as it took steps: a dead end that a row repeats
/// counts once.
struct walk_counts {
  std::span<std::int64_t> visits = {};  ///< [num_vertices]: how often walks come to each vertex; empty: not counted.
  std::span<std::int64_t> ends = {};    ///< [num_vertices]: how many walks end at each vertex; empty: not counted.
};

/// What walk_counts can count.
enum class walk_count { visits, ends };

template <>
inline constexpr std::array<named<walk_count>, 2> enum_names<walk_count>{
    {{walk_count::visits, "visits"}, {walk_count::ends, "ends"}}};

/// Counts of one kind. @param counts  [num_vertices]
[[nodiscard]] constexpr walk_counts counts_of(walk_count what, std::span<std::int64_t> counts) noexcept
{
  return what == walk_count::visits ? walk_counts{.visits = counts} : walk_counts{.ends = counts};
}

/// A job whose walks need not fit in the memory of the host or of a GPU.
struct walk_stream_job {
  std::int64_t num_walks = 0;
  std::int64_t first_walk = 0;  ///< Logical id of walk 0.

  /// Source of the starts, for example starts_from a list: one vertex per walk; for multi-dimensional walks one set of
  /// roots per walk, [n, num_roots]. Called in order; on a GPU from its own thread, on the CPU from the calling thread.
  start_source starts;

  /// Receives all walks, in order. Called on another thread of its own.
  std::function<void(walk_rows const& rows)> sink = {};

  /// Instead of `sink`: receives the same walks without the unused ends of rows. Memory and copies are those of the
  /// vertices that walks visit, so `length` may be as large as it can be.
  std::function<void(ragged_rows const& rows)> ragged_sink = {};

  /// Instead of a sink: walks are counted where they are made, and go nowhere. Rows take the memory of one batch.
  std::optional<walk_counts> counts = {};

  /// Maximum memory of all batches together. On a GPU it is GPU memory, and 0 means half of the free memory; more than
  /// about 0.5 GB is not used, since larger batches are no faster; the same amount of page-locked host memory is
  /// used. Many walks on a placed graph are the exception: the larger a batch, the fewer times the lists in host memory
  /// pass through the GPU, so two batches take as much as is allowed, with what the lists pass through; the host's memory
  /// stays what it is. On the CPU it is host memory, and 0 means batches of 64 MB. Ragged batches are sized by the steps that walks
  /// are expected to take, and become smaller when walks turn out to be longer; on the CPU a batch may then take up to
  /// 1 GiB, since fewer walks would leave threads without work.
  std::int64_t batch_bytes = 0;

  /// For a graph in a mapped file that memory does not hold: memory for the pages of its arrays. Then the walks of a batch
  /// go region by region: stretches of the arrays of half of these bytes are read in order, and each walker goes on as
  /// long as it stays within one (as in FlashMob, SOSP'21, and GraphWalker, ATC'20). More walks a batch (`batch_bytes`)
  /// mean fewer readings. 0: pages are read where walkers are. Only on the CPU, and not of multi-dimensional walks.
  std::int64_t graph_bytes = 0;

  /// Called from the calling thread, with the number of walks that went through the sink (rows of a GPU) or that are
  /// made (all others); an exception from it cancels the job.
  std::function<void(progress const&)> on_progress = {};
};

/// Statistics of a stream. Stages run concurrently, so the sum of their seconds exceeds `seconds`.
struct walk_stream_report {
  std::int64_t num_walks = 0;
  std::int64_t steps = 0;  ///< Total over all walks.
  std::int64_t num_batches = 0;
  std::int64_t batch_walks = 0;   ///< Walks per batch; of ragged walks, in the largest.
  std::int64_t batch_bytes = 0;   ///< Memory used for batches: of the GPU, or of the host on the CPU.
  std::int64_t copied_bytes = 0;  ///< From the GPU to the host.
  std::int64_t read_bytes = 0;    ///< Of regions of the graph; pages that were in memory already count too.
  std::int64_t region_walks = 0;  ///< Made on a GPU through which the lists in host memory passed by regions.
  std::int64_t region_bytes = 0;  ///< Of lists that passed.
  double starts_seconds = 0;      ///< Time to make starts and to copy them to the GPU.
  double walk_seconds = 0;
  double copy_seconds = 0;  ///< Time to copy walks to the host; of ragged walks, that nothing else hid.
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
/// With `ragged_sink`, for each walk of s steps 4 (s + 1) + 8 bytes are copied.
///
/// @throws argument_error  naming the first start out of range; batch_bytes too small for one walk per batch; a walker
///                         made for another place; two sinks; counts of another size; ragged walks with dead_end::repeat. device_error; memory_error, of the GPU or of page-locked memory. An
///                         exception from `starts`, `sink` or `on_progress` propagates unchanged, after every stage has
///                         finished its current work.
walk_stream_report stream_walks(walker const& walk, walk_stream_job const& job, gpu_exec const& exec);

/// Makes the walks of one job on several GPUs: batches are dealt out in turn, each GPU has stages as above, and the sink gets
/// all walks in order. They equal those of one GPU, bit for bit. Kernels are ordered on the default streams. Of the times in the
/// report, those of walking and copying are the slowest GPU's.
/// @param copies  The same walk, planned for a copy of the graph on each GPU.
/// @throws argument_error  no copy, a copy in host memory, walks that differ; and all that is thrown above: what one GPU throws
///                         ends the work of all.
walk_stream_report stream_walks(std::span<walker const> copies, walk_stream_job const& job);

/// Makes walks on the CPU and passes them to the sink, batch by batch: while the sink has one batch, the threads of `exec`
/// walk the next. The walks equal those of walker::run, bit for bit, for any split into batches. `exec.on_progress` is
/// called with the same numbers as `job.on_progress`.
///
/// @throws as above, without device_error.
walk_stream_report stream_walks(walker const& walk, walk_stream_job const& job, cpu_exec const& exec);

/// Streams multi-dimensional walks in the same way, but not ragged: a row is [num_roots + length], as in
/// multidim_walks::vertices.
/// @param graph  In the memory of the GPU of `exec`.
/// @throws as above, and what multidim_walk throws.
walk_stream_report stream_multidim_walks(graph const& graph, std::int64_t num_roots, multidim_params const& params,
                                         walk_stream_job const& job, gpu_exec const& exec);

/// Streams multi-dimensional walks of several GPUs. @param copies  The graph, on each GPU. @throws as above.
walk_stream_report stream_multidim_walks(std::span<graph const> copies, std::int64_t num_roots,
                                         multidim_params const& params, walk_stream_job const& job);

/// Streams multi-dimensional walks of a graph in host memory. @throws as above.
walk_stream_report stream_multidim_walks(graph const& graph, std::int64_t num_roots, multidim_params const& params,
                                         walk_stream_job const& job, cpu_exec const& exec);

}  // namespace tendril
