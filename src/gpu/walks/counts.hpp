// How often walks come to vertices, and end there, counted where they are made. CPU twin: src/cpu/walks/counts.hpp.
//
// Kernels add to counters of a byte, so that the second-level cache holds them all, or more of them, and a part of the cache is set
// aside for them.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>
#include <tendril/walk_stream.hpp>

#include "gpu/device/persisting_cache.hpp"

namespace tendril::gpu {

/// Counters in the GPU's memory, by place: how often is the sum of a byte of `words` and of `counts`. Null where nobody counts.
struct byte_counters {
  std::uint32_t* words = nullptr;
  std::int64_t* counts = nullptr;
};

/// Counters of vertices from `first` on.
struct vertex_counters {
  byte_counters visits, ends;
  vertex_id first = 0;
};

/// What one GPU counts of the walks of a call.
class vertex_counts {
 public:
  /// Zeros for what `wanted` asks for, of the vertices [first, first + num_vertices): there before anything that is enqueued later on
  /// any stream. @throws memory_error; device_error.
  vertex_counts(walk_counts const& wanted, vertex_id first, std::int64_t num_vertices, gpu_exec const& exec);

  /// For kernels, on any stream.
  [[nodiscard]] vertex_counters view();

  /// Enqueues the counting of walks whose rows of `row` lie in the GPU's memory.
  void add_rows(vertex_id const* vertices, std::int32_t const* lengths, std::int64_t num_walks, std::int64_t row);

  /// Adds what was counted to what the caller has, once all is counted. Synchronises. @return the steps of walks in add_rows.
  std::int64_t add_to(walk_counts const& wanted);

 private:
  /// Counts of one kind.
  struct tally {
    buffer<std::uint32_t> words;
    buffer<std::int64_t> counts;  // four for each word

    [[nodiscard]] byte_counters view() { return {words.data(), counts.data()}; }
  };
  [[nodiscard]] tally zeros(std::int64_t size) const;
  void empty(tally& from) const;
  void add_to(std::span<std::int64_t> wanted, tally& from) const;

  gpu_exec exec_;
  vertex_id first_;
  tally visits_, ends_;
  buffer<std::int64_t> steps_;
  persisting_cache kept_;  // the bytes of visits, which every step adds to
};

}  // namespace tendril::gpu
