// What a graph takes in each form, and how much of it a GPU would hold: numbers for `tendril info` and its page.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <tendril/graph.hpp>
#include <tendril/profile.hpp>

namespace tendril::cli {

/// Memory of GPUs that many have, in bytes.
inline constexpr std::array<std::int64_t, 3> gpu_sizes{24'000'000'000, 80'000'000'000, 141'000'000'000};

/// A graph, its profile and what is asked about a GPU.
struct graph_sizes {
  graph_profile profile;
  std::int64_t num_edges = 0;
  std::int64_t other_bytes = 0;  ///< Weights, labels, types and ids: the same in every form.
  int fanout = profile_params{}.fanout;
  std::optional<std::int64_t> gpu_memory;  ///< --graph-memory

  /// Neighbours, directory and all else.
  [[nodiscard]] std::int64_t total_bytes(form_size const& size) const { return size.bytes() + other_bytes; }
  /// As graph::bits_per_edge.
  [[nodiscard]] double bits_per_edge(form_size const& size) const;
  [[nodiscard]] form_size const& placed() const { return profile.size_of(profile.placed_form); }
};

/// Whether a GPU with so much memory can hold it and has a tenth left for samples.
[[nodiscard]] bool fits(std::int64_t bytes, std::int64_t gpu_bytes);

/// What lies in `bytes` of GPU memory: the directory; then lists, and weights and what else there is, in proportion.
struct gpu_part {
  double lists = 0, walk_reads = 0, batch_reads = 0;  ///< Shares in [0, 1].
  bool has_directory = false;                         ///< There is room for that.
};
[[nodiscard]] gpu_part part_on_gpu(graph_sizes const& sizes, std::int64_t bytes);

/// Measures `g`. @param gpu_memory  Bytes, or nothing.
[[nodiscard]] graph_sizes measure_sizes(graph const& g, std::optional<std::int64_t> gpu_memory, cpu_exec const& exec);

/// Lines for people.
[[nodiscard]] std::string size_lines(graph_sizes const& sizes);

}  // namespace tendril::cli
