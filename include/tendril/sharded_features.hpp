#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/features.hpp>
#include <tendril/gpu_array.hpp>  // id_matrix
#include <tendril/partition.hpp>
#include <tendril/rank_service.hpp>
#include <tendril/transport.hpp>

// Rows of features that no rank holds as a whole: each rank has those of a range of ids, such as the vertices of its part of a
// graph, and asks the others for theirs.

namespace tendril {

/// The rows of a range of ids: row i of the result is row first + i of the table. Shares its memory, and of a mapped file only
/// the rows that are read come into memory. @throws argument_error for a range that the table does not have.
[[nodiscard]] feature_table slice_rows(feature_table const& table, std::int64_t first, std::int64_t count);

/// The rows of a part's vertices out of a table of the whole graph: a slice, or, where the graph was renumbered (`metis`) and
/// the table has the old numbers, a copy of the rows in the part's order.
/// @throws argument_error  unless the table is in host memory and has a row for each vertex of the whole graph; memory_error.
[[nodiscard]] feature_table rows_of_part(feature_table const& whole, graph_part const& part, cpu_exec const& exec = {});

/// The vertices that most edges of the whole graph lead to, and so those that samplers reach most often: up to `count`, most
/// edges first, and of as many the smaller number first. No others than those that an edge leads to. A call of all ranks, with
/// the same result on each; takes 8 bytes a vertex of the whole graph. @throws argument_error; rank_error.
[[nodiscard]] std::vector<std::int64_t> hot_vertices(graph_part const& part, std::int64_t count, transport& ranks);

/// What ranks did, as this rank saw it.
struct sharded_features_report {
  std::int64_t rows = 0;       ///< That this rank asked for,
  std::int64_t rows_away = 0;  ///< of which other ranks had so many,
  std::int64_t rows_kept = 0;  ///< and of these this rank had copies of so many.
  std::int64_t sent_bytes = 0;
};

/// A table of all ranks' rows. Over a transport the constructor and gather are calls of all ranks; over a rank_service only the
/// constructor is.
class sharded_features {
 public:
  /// @param here   This rank's rows, in host memory or a mapped file.
  /// @param bounds [ranks + 1] rank r has the rows of ids [bounds[r], bounds[r + 1]): partition_info::bounds.
  /// @param ranks  Outlives this object.
  /// @throws argument_error  rows on a GPU, bounds that don't fit the ranks or the rows; rank_error, also where ranks have rows of
  ///                         other types or shapes.
  sharded_features(feature_table here, std::vector<std::int64_t> bounds, transport& ranks);
  sharded_features(feature_table here, std::vector<std::int64_t> bounds, rank_service& ranks,
                   cpu_exec const& exec = {});
  /// The same for a GPU of each rank, which gathers. Where these reach each other's memory (as in sharded_walk.hpp), a GPU reads each row
  /// where it lies; ranks that are processes must have theirs in lendable_gpu_memory, or other memory of cudaMalloc. Else rows go from GPU to
  /// GPU as walkers do. Up to 32 ranks, and less than 2^32 - 1 rows.
  /// @param here  In the memory of that GPU, or of the host, where it reads them over the bus. May be written between gathers.
  /// @throws argument_error, rank_error  as above; device_error; memory_error.
  sharded_features(feature_table here, std::vector<std::int64_t> bounds, transport& ranks, gpu_exec const& exec);
  ~sharded_features();
  sharded_features(sharded_features&&) noexcept;
  sharded_features& operator=(sharded_features&&) noexcept;

  /// This rank's rows.
  [[nodiscard]] feature_table const& here() const noexcept;
  [[nodiscard]] std::int64_t num_rows() const noexcept { return shape()[0]; }
  [[nodiscard]] std::int64_t row_bytes() const noexcept { return here().row_bytes(); }
  [[nodiscard]] std::string const& type() const noexcept { return here().type(); }
  /// Of all ranks' rows together.
  [[nodiscard]] std::vector<std::int64_t> const& shape() const noexcept;

  /// Gathers rows: row i of `out` becomes row ids[i]. Where this is a call of all ranks, each has ids of its own, maybe none.
  /// One call at a time.
  /// @param out  ids.size() * row_bytes() bytes.
  /// @throws argument_error for the first id out of range, as tendril::gather, or an `out` of another size; rank_error.
  void gather(std::span<std::int64_t const> ids, std::span<std::byte> out, cpu_exec const& exec = {});

  /// Copies rows that other ranks have, so that later gathers find them here; copies of before go. Whoever has all in one place
  /// copies nothing. Where gather is a call of all ranks, so is this: each has ids of its own, maybe none.
  /// @throws as gather; memory_error.
  void keep(std::span<std::int64_t const> ids, cpu_exec const& exec = {});

  /// The same of a table that was made for GPUs: ids and rows are in the memory of this rank's. A call of all ranks.
  /// Synchronises.
  void gather(id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec);

  /// Copies rows to the memory of the GPU likewise, with 4 bytes for each row of all ranks. @param ids  In host memory.
  void keep(std::span<std::int64_t const> ids, gpu_exec const& exec);

  /// Of all gathers so far.
  [[nodiscard]] sharded_features_report const& report() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tendril
