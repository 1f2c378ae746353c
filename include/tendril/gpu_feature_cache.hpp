#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/feature_cache.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/gpu_features.hpp>

namespace tendril {

/// What a cache on a GPU has of a batch, and what it takes from it: a cache_step in the GPU's memory. Copies share it.
class gpu_cache_step {
 public:
  struct state;
  struct counts {
    std::int64_t missed = 0;
    std::int64_t kept = 0;
    std::int64_t first_bad = -1;  ///< The first id that is no row; -1: there is none.
  };

  gpu_cache_step() = default;

  [[nodiscard]] std::int64_t num_ids() const noexcept;

  /// Waits until the GPU has made the step; steps of later batches may still be in the making. @throws device_error.
  [[nodiscard]] counts const& count() const;

  /// In the order of the stream on which it was made. What the ids that are no rows left over at the end is unspecified.
  [[nodiscard]] std::span<vertex_id const> missed() const noexcept;  ///< The first count().missed are cache_step's.
  [[nodiscard]] std::span<std::uint32_t const> sources() const noexcept;
  [[nodiscard]] std::span<std::uint32_t const> kept() const noexcept;  ///< The first count().kept are.
  [[nodiscard]] std::span<std::uint32_t const> kept_slots() const noexcept;

 private:
  friend class gpu_row_cache;
  friend class gpu_cached_features;
  std::shared_ptr<state> state_;
};

/// The bookkeeping of a cache on a GPU: row_cache's, slot by slot. It takes 8 bytes a row of the table (4 of a fixed cache)
/// and 8 a slot. Not thread-safe; all calls on one stream, or ordered by the caller.
class gpu_row_cache {
 public:
  /// An empty cache. @throws as validate; memory_error; device_error.
  gpu_row_cache(row_cache_params const& params, gpu_exec const& exec);
  ~gpu_row_cache();
  gpu_row_cache(gpu_row_cache&&) noexcept;
  gpu_row_cache& operator=(gpu_row_cache&&) noexcept;

  /// As row_cache's. Enqueues. @param rows  In the memory of the GPU; all different and below num_rows, which is not checked.
  void fill(std::span<vertex_id const> rows, gpu_exec const& exec);

  /// As row_cache's. Enqueues a copy. @param scores  [num_rows] in the memory of the GPU.
  void rank(std::span<std::uint8_t const> scores, gpu_exec const& exec);

  /// As row_cache's, but an id that is no row is found by the step's `count`. Enqueues; ids of another type than vertex_id's
  /// are copied, and those of it must stay as they are until the batch is served.
  void see(id_matrix const& ids, gpu_exec const& exec);

  /// As row_cache's. Enqueues. @throws argument_error; memory_error; device_error.
  [[nodiscard]] gpu_cache_step serve(gpu_exec const& exec);

  /// As row_cache's, on the GPU.
  [[nodiscard]] std::span<vertex_id const> content() const noexcept;
  [[nodiscard]] row_cache_params const& params() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Rows of a table in host memory, with a cache in the memory of a GPU whose bookkeeping a gpu_row_cache does. Several tables
/// can share the steps of one gpu_row_cache.
class gpu_cached_features {
 public:
  /// @param num_slots  As the gpu_row_cache's. @throws argument_error for a table on a GPU; memory_error; device_error.
  gpu_cached_features(gpu_features table, std::int64_t num_slots, gpu_exec const& exec);

  [[nodiscard]] gpu_features const& table() const noexcept { return table_; }
  [[nodiscard]] std::int64_t num_bytes() const noexcept { return slots_.size(); }

  /// Copies rows[i] to slot i. Waits for the GPU. @param rows  In the memory of the GPU, below the table's number of rows.
  void fill(std::span<vertex_id const> rows, gpu_exec const& exec);

  /// Gathers a batch's rows: hits from the cache, the missed rows from the table; then puts the rows that the step keeps
  /// into the cache. Steps of a cache that changes must come in the order in which the gpu_row_cache made them, each once.
  /// Waits for the GPU as gpu_features::gather_unchecked does.
  /// @param out  In the memory of the GPU: step.num_ids() rows.
  /// @param way  Of the missed rows.
  /// @throws argument_error for an `out` of another size, for steps out of order, and for the first id that is no row.
  void gather(gpu_cache_step const& step, std::span<std::byte> out, gpu_exec const& exec, gather_way way = {});

 private:
  void expect_next(gpu_cache_step const& step);

  gpu_features table_;
  buffer<std::byte> slots_;
  std::int64_t num_slots_ = 0;
  std::int64_t fill_ = 0;  // of the bookkeeping, to which the next step belongs
  std::int64_t next_step_ = 0;
};

/// Counts how often batches use each row: what `presample` (GNNLab, Yang et al., EuroSys 2022) and exact counts need.
class gpu_row_counts {
 public:
  /// All 0. @param num_rows  Below 2^32 - 1. @throws argument_error; memory_error; device_error.
  gpu_row_counts(std::int64_t num_rows, gpu_exec const& exec);

  /// Ids that are no rows are left out. Enqueues.
  void add(id_matrix const& ids, gpu_exec const& exec);

  [[nodiscard]] std::span<std::uint32_t const> counts() const noexcept { return counts_.span(); }

  /// The `count` rows of the greatest counts, as best_rows. Enqueues. @throws argument_error; memory_error.
  [[nodiscard]] buffer<vertex_id> best(std::int64_t count, gpu_exec const& exec) const;

  /// The counts as scores of lookahead: 255 and more are 255. Enqueues.
  [[nodiscard]] buffer<std::uint8_t> scores(gpu_exec const& exec) const;

 private:
  buffer<std::uint32_t> counts_;
};

}  // namespace tendril
