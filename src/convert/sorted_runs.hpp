// Sorted runs of arcs in temporary files: the first half of sorting more arcs than fit into memory (Knuth, The Art of
// Computer Programming 3, section 5.4).

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/exec.hpp>

#include "convert/edge_source.hpp"
#include "convert/workspace.hpp"
#include "formats/mapped_file.hpp"

namespace tendril::convert {

/// What each arc carries besides its ends.
struct arc_kinds {
  bool weights = false, labels = false, ids = false;

  [[nodiscard]] std::int64_t bytes_an_arc() const { return 4 * weights + 2 * labels + 8 * ids; }
  [[nodiscard]] bool any() const { return bytes_an_arc() > 0; }
};

[[nodiscard]] arc_kinds kinds_of(edge_source const& source);

/// A run, mapped: its rows, by source, and their arcs, by target; arcs of equal ends in the order of the input.
struct mapped_run {
  std::shared_ptr<formats::mapped_file const> file;
  std::span<vertex_id const> sources;  ///< Ascending.
  std::span<std::int64_t const> ends;  ///< Of each row's arcs.
  std::span<vertex_id const> targets;
  std::span<float const> weights;
  std::span<std::uint16_t const> labels;
  std::span<edge_id const> ids;

  mapped_run(workspace const& space, run_record const& record, arc_kinds const& kinds);

  /// Where the arcs of row i begin; i may be the number of rows.
  [[nodiscard]] std::int64_t begin_of(std::int64_t i) const
  {
    return i == 0 ? 0 : ends[static_cast<std::size_t>(i) - 1];
  }
};

/// Reads what is left of the input into runs. Each is a part of the input that fits into `memory_bytes` while it is sorted,
/// and what the options of building make of it: arcs both ways, no loops, no duplicates within the run. The record has
/// every run as soon as it is complete.
void write_runs(edge_source& source, workspace& space, std::int64_t memory_bytes, cpu_exec const& exec);

/// Edges that a run may hold.
[[nodiscard]] std::int64_t edges_a_run(build_options const& build, edge_columns const& columns,
                                       std::int64_t memory_bytes);

}  // namespace tendril::convert
