// Where the rows of a conversion's result come from: ranges of vertices, which threads read at the same time.

#pragma once

#include <cstdint>
#include <vector>

#include <tendril/graph.hpp>

namespace tendril::convert {

/// The rows of vertices that follow each other.
struct row_batch {
  std::vector<edge_id> offsets;  ///< From 0 on; one more than vertices.
  std::vector<vertex_id> targets;
  std::vector<float> weights;  ///< And the others, as many as targets or none.
  std::vector<std::uint16_t> labels;
  std::vector<edge_id> ids;
};

/// A place between two vertices.
struct row_cut {
  std::int64_t vertex = 0;
  edge_id num_arcs = 0;            ///< Before it; arcs that will be dropped count.
  std::vector<std::int64_t> rows;  ///< What the source needs to find it.
};

class row_source {
 public:
  row_source() = default;
  row_source(row_source const&) = delete;
  row_source& operator=(row_source const&) = delete;
  virtual ~row_source() = default;

  [[nodiscard]] virtual std::int64_t num_vertices() const = 0;
  [[nodiscard]] virtual row_cut first_cut() const = 0;

  /// The place at `vertex`, which is not before `from`. Thread-safe.
  [[nodiscard]] virtual row_cut cut_at(row_cut const& from, std::int64_t vertex) const = 0;

  /// The rows between two places. Thread-safe.
  virtual void read(row_cut const& from, row_cut const& to, row_batch& out) const = 0;

  /// Gives back what was read of files.
  virtual void release_pages() const = 0;
};

}  // namespace tendril::convert
