// How often walks come to vertices, and end there, counted where they are made. CPU twin: src/cpu/walks/counts.hpp.
//
// Kernels add to counters of 4 bytes, which the second-level cache holds more of than of 8; before these can run over, they are
// emptied into counts of 8 bytes.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>
#include <tendril/walk_stream.hpp>

namespace tendril::gpu {

/// Counters in the GPU's memory of vertices from `first` on; null where nobody counts.
struct vertex_counters {
  std::uint32_t* visits = nullptr;
  std::uint32_t* ends = nullptr;
  vertex_id first = 0;
};

/// What one GPU counts of the walks of a call.
class vertex_counts {
 public:
  /// Zeros for what `wanted` asks for, of the vertices [first, first + num_vertices): there before anything that is enqueued later on
  /// any stream. @param room  What counters hold; less than that of 32 bits for tests. @throws memory_error; device_error.
  vertex_counts(walk_counts const& wanted, vertex_id first, std::int64_t num_vertices, gpu_exec const& exec,
                std::int64_t room = (std::int64_t{1} << 32U) - 1);

  /// For work that is enqueued on `stream` next, and counts up to `more` times. What was enqueued for the call before this one may still
  /// be at work on another stream; everything earlier is done, or on `stream`.
  [[nodiscard]] vertex_counters view(std::int64_t more, cuda_stream stream);

  /// Enqueues the counting of walks whose rows of `row` lie in the GPU's memory.
  void add_rows(vertex_id const* vertices, std::int32_t const* lengths, std::int64_t num_walks, std::int64_t row);

  /// Adds what was counted to what the caller has. Synchronises. @return the steps of walks in add_rows.
  std::int64_t add_to(walk_counts const& wanted);

 private:
  /// Counts of one kind.
  struct tally {
    buffer<std::uint32_t> counters;
    buffer<std::int64_t> counts;
  };
  [[nodiscard]] tally zeros(std::int64_t size) const;
  void empty(tally& from, cuda_stream stream) const;
  void add_to(std::span<std::int64_t> wanted, tally& from) const;

  gpu_exec exec_;
  vertex_id first_;
  std::int64_t room_;
  std::int64_t counted_ = 0;  // at most, since counters were emptied
  std::int64_t last_ = 0;     // of the call before
  tally visits_, ends_;
  buffer<std::int64_t> steps_;
};

}  // namespace tendril::gpu
