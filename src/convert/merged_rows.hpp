#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "build/ids.hpp"  // id_map
#include "convert/row_source.hpp"
#include "convert/sorted_runs.hpp"

namespace tendril::convert {

/// The rows of sorted runs, merged: arcs of equal ends in the order of the runs, which is that of the input. Each range of
/// vertices is merged by itself, so threads share the work without sharing anything else.
class merged_rows final : public row_source {
 public:
  /// @param num_ids  One more than the largest vertex.
  /// @throws argument_error if compact ids don't fit into `memory_bytes`.
  merged_rows(workspace const& space, arc_kinds const& kinds, build_options const& build, std::int64_t num_ids,
              std::int64_t memory_bytes, cpu_exec const& exec);

  [[nodiscard]] std::int64_t num_vertices() const override { return num_vertices_; }
  [[nodiscard]] row_cut first_cut() const override;
  [[nodiscard]] row_cut cut_at(row_cut const& from, std::int64_t vertex) const override;
  void read(row_cut const& from, row_cut const& to, row_batch& out) const override;
  void release_pages() const override;

  /// The ids that the vertices have in the input, if they are compact.
  [[nodiscard]] std::optional<build::id_map> const& ids() const { return ids_; }

 private:
  void number_ids(std::int64_t num_ids, std::int64_t memory_bytes, cpu_exec const& exec);
  /// The id that vertex v has in the runs.
  [[nodiscard]] std::uint64_t id_of(std::int64_t v) const
  {
    return ids_ ? std::uint64_t{ids_->ids()[v]} : static_cast<std::uint64_t>(v);
  }
  void merge_row(std::vector<std::int64_t>& parts, row_batch& rows, std::int64_t row) const;
  void drop_duplicates(row_batch& rows) const;

  arc_kinds kinds_;
  build_options build_;
  std::vector<mapped_run> runs_;
  std::optional<build::id_map> ids_;
  std::int64_t num_vertices_ = 0;
};

}  // namespace tendril::convert
