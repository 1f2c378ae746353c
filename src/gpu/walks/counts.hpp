// How often walks come to vertices, and end there, counted where they are made. CPU twin: src/cpu/walks/counts.hpp.

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
  std::int64_t* visits = nullptr;
  std::int64_t* ends = nullptr;
  vertex_id first = 0;
};

/// What one GPU counts of the walks of a call.
class vertex_counts {
 public:
  /// Zeros for what `wanted` asks for, of the vertices [first, first + num_vertices): there before anything that is enqueued later on
  /// any stream. @throws memory_error; device_error.
  vertex_counts(walk_counts const& wanted, vertex_id first, std::int64_t num_vertices, gpu_exec const& exec);

  [[nodiscard]] vertex_counters view();

  /// Enqueues the counting of walks whose rows of `row` lie in the GPU's memory.
  void add_rows(vertex_id const* vertices, std::int32_t const* lengths, std::int64_t num_walks, std::int64_t row);

  /// Adds what was counted to what the caller has. Synchronises. @return the steps of walks in add_rows.
  std::int64_t add_to(walk_counts const& wanted);

 private:
  void add_to(std::span<std::int64_t> wanted, buffer<std::int64_t> const& counted) const;

  gpu_exec exec_;
  vertex_id first_;
  buffer<std::int64_t> visits_, ends_, steps_;
};

}  // namespace tendril::gpu
