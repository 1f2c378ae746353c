// What LABOR's kernels are given: one hop through one edge type, of any number of batches at once. A vertex's picks are
// counted and staged while its row is read; the counts add up to where picks go; then they are copied there. No call
// synchronises. The rule: src/core/labor.hpp.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "gpu/batches/expand.hpp"

namespace tendril::gpu {

/// A row that is read in parts of `labor_part` edges.
struct labor_long_row {
  std::uint32_t vertex;      ///< Of the expansion.
  std::uint32_t first_part;  ///< How many parts the rows before it in the list have.
};
inline constexpr std::uint32_t labor_part = 1024;

/// How long a hop's lists are.
struct labor_lists {
  /// Rows of the list of long ones, times 2^32, and their parts: one number, so that one addition gives a row its place in
  /// the list and its first part. 2^32 parts would be 4 * 10^12 edges in one hop.
  unsigned long long long_rows;
  std::uint32_t spilled;
};

/// Memory of one hop, for `most_vertices` of the expansion.
struct labor_memory {
  std::uint32_t* staged = nullptr;      ///< [most_vertices * labor_job::stage]
  std::int64_t* counts = nullptr;       ///< [most_vertices] edges taken.
  std::int64_t* offsets = nullptr;      ///< [most_vertices + 1] where each vertex's picks begin.
  float* weights = nullptr;             ///< [most_vertices] of each of a vertex's edges.
  labor_long_row* long_rows = nullptr;  ///< [most_vertices] in any order; first_part ascends.
  std::uint32_t* spilled = nullptr;     ///< [most_vertices] vertices of more picks than are staged, in any order.
  labor_lists* lists = nullptr;         ///< [1]
};

/// A hop. expansion::step is that of the neighbours' numbers (core::labor_step); expansion::fanout is not read.
struct labor_job {
  labor_memory memory;
  std::uint64_t seed = 0;  ///< The user's.
  std::uint64_t dependency = 1;
  std::int64_t fanout = 1;       ///< -1: all.
  std::int64_t most_degree = 0;  ///< Of all vertices.
  std::uint32_t stage = 0;       ///< labor_stage of the fan-out.
  bool normalize = true;
};

/// Picks of a vertex that are staged; a vertex of more, about one in a thousand, has its row read again. 0 for a fan-out
/// of -1, whose picks need no staging; else at least the fan-out, so that vertices which take all edges fit.
/// @param fanout, most_degree  fanout <= most_degree.
[[nodiscard]] inline std::uint32_t labor_stage(std::int64_t fanout, std::int64_t most_degree)
{
  if (fanout <= 0) { return 0; }
  auto const spread = static_cast<std::int64_t>(3 * std::sqrt(static_cast<double>(fanout)));
  return static_cast<std::uint32_t>(std::min(fanout + spread + 4, most_degree));
}

/// Counts and stages the picks of every vertex, and works out the weights of their edges. One launch, or, where rows may be
/// long, up to three.
void stage_labor(expansion const& what, labor_job const& job, gpu_exec const& exec);

/// Memory that place_labor needs.
[[nodiscard]] std::size_t labor_scan_bytes(std::int64_t most_vertices);

/// Adds counts up to offsets, which stop at `most`: picks beyond it have no place.
void place_labor(labor_job const& job, std::int64_t most_vertices, std::int64_t most, void* scratch, std::size_t bytes,
                 gpu_exec const& exec);

/// Writes the picks to expansion::picked, and puts the neighbours into the table, which is told to be full if offsets reach
/// `most`. Two launches.
void pick_labor(expansion const& what, labor_job const& job, std::int64_t most, gpu_exec const& exec);

}  // namespace tendril::gpu
