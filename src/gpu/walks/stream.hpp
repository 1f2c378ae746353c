// What the streams of rows and of ragged walks share on the GPU.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tendril/walk_stream.hpp>

namespace tendril::gpu {

// Of rows in a batch: large enough that launches and the ends of kernels don't count, small enough that page-locking
// the memory of all slots doesn't either.
inline constexpr std::int64_t most_batch_bytes = std::int64_t{128} << 20;
inline constexpr std::int64_t least_batch_bytes = std::int64_t{8} << 20;
inline constexpr std::int64_t least_num_batches =
    16;  // of a job that is large enough: a stage alone at the ends costs 3/16

/// Walks that a GPU should make together, of a job that has so many, with rows of so many vertices; may be 0.
/// @param num_gpus  That share the job: together they have no more page-locked memory than one, which takes long to get.
inline std::int64_t wanted_batch(std::int64_t num_walks, std::int64_t row, int num_gpus)
{
  std::int64_t const most = std::max(most_batch_bytes / num_gpus, least_batch_bytes);
  return std::clamp(num_walks / (least_num_batches * num_gpus), least_batch_bytes / (4 * row), most / (4 * row));
}

/// stream_walks for a job with a ragged_sink. @param walks  The same walk on each GPU of `execs`.
[[nodiscard]] walk_stream_report stream_ragged_walks(std::vector<walker const*> const& walks,
                                                     walk_stream_job const& job, std::vector<gpu_exec> const& execs);

}  // namespace tendril::gpu
