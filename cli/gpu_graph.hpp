// The graph of a job in a GPU's memory, or, where it has no room there, in part.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser_fwd.hpp"

#include <tendril/graph.hpp>
#include <tendril/place.hpp>

#include "common.hpp"

namespace tendril::cli {

/// --graph-memory and --spread
struct graph_memory {
  std::string text;
  bool spread = false;  ///< One copy over several GPUs, also where each has room for its own.

  void add_to(CLI::App& verb, char const* group);

  /// What --graph-memory says; 0 without it. @throws argument_error, also for a job that runs on the CPU, and for options that
  /// don't fit the device.
  [[nodiscard]] std::int64_t bytes(gpu_set const& gpus) const;
};

/// The graph of a job: on the GPU as a whole, or placed there and in host memory, by the visits of `job`, if `bytes` are
/// given or the whole has no room. @throws what to_gpu and place_graph throw.
[[nodiscard]] graph graph_on_gpu(graph const& g, int device, std::int64_t bytes, placement_job const& job);

/// A copy on each GPU, all made at once; or, where it has no room on one of them and `bytes` are not given, or if `spread` is,
/// one copy over all. @throws as graph_on_gpu.
[[nodiscard]] std::vector<graph> graph_on_gpus(graph const& g, gpu_set const& gpus, std::int64_t bytes, bool spread,
                                               placement_job const& job);

/// A line about where a placed graph lies, for people, and the same for programs; empty for any other graph.
[[nodiscard]] std::string placement_line(graph const& g);
[[nodiscard]] std::optional<json> placement_json(graph const& g);

}  // namespace tendril::cli
