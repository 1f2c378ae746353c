// What a job of ranks samples from: a graph that each has, or a part for each. One process has a whole graph.

#pragma once

#include <optional>
#include <string>

#include <tendril/graph.hpp>
#include <tendril/partition.hpp>

#include "common.hpp"

namespace tendril::cli {

struct graph_of_ranks {
  graph_facts facts;
  std::optional<graph> whole;
  std::optional<graph_part> part;

  /// Tells graphs apart that ranks would mix up: parts by a digest of the whole graph, whole graphs by a hash of a small
  /// graph, or of 8,192 lists of neighbours of a large one, 1,024 edges of each at most.
  [[nodiscard]] std::string digest() const;
};

/// Reads a graph, or, of a folder of parts on ranks, this rank's part.
/// @throws argument_error if there are not as many parts as ranks; as graph_source::read_for and read_part.
[[nodiscard]] graph_of_ranks read_for_ranks(graph_source const& source, std::string const& device,
                                            cpu_exec const& exec);

}  // namespace tendril::cli
