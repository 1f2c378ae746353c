#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/features.hpp>
#include <tendril/gpu_array.hpp>  // id_matrix
#include <tendril/work_share.hpp>

namespace tendril {

/// Where a GPU finds the rows of a table.
enum class row_memory {
  gpu,          ///< In its own memory.
  page_locked,  ///< In host memory that it reads over the bus, and so may the CPU.
  pageable,     ///< In other host memory, or a mapped file, which only the CPU reads.
};

/// Who gathered rows of host memory, and how long it took the CPU. Several gathers may add to it, of any threads.
class gather_meter {
 public:
  struct reading {
    /// Of the CPU's threads, on average: at work, without waiting for the GPU or for copies.
    std::chrono::nanoseconds of_cpu{0};
    std::int64_t by_cpu = 0;  ///< Rows.
    std::int64_t by_gpu = 0;
  };

  void add(reading const& done) noexcept
  {
    of_cpu_ += done.of_cpu.count();
    by_cpu_ += done.by_cpu;
    by_gpu_ += done.by_gpu;
  }

  /// What was added since the last call.
  [[nodiscard]] reading take() noexcept
  {
    return {std::chrono::nanoseconds(of_cpu_.exchange(0)), by_cpu_.exchange(0), by_gpu_.exchange(0)};
  }

 private:
  std::atomic<std::int64_t> of_cpu_{0}, by_cpu_{0}, by_gpu_{0};
};

/// Who gathers rows of page-locked memory, and with how many threads.
struct gather_way {
  std::optional<work_share> share = {};  ///< Default: as the constructor of gpu_features was told.
  int num_threads = 0;  ///< Of the CPU, at most; 0: every core. Fewer leave room for what runs beside the gather.
  /// Where `share` is the CPU: of the rows, the part that the GPU reads meanwhile, in [0, 1], however long either takes. For who
  /// gathers often, and sees what disturbs him less.
  double gpu_part = 0;
  /// Told of rows of host memory that one side gathered, or the CPU beside a part of the GPU. Null: nobody is told.
  gather_meter* meter = nullptr;
};

/// A table as a GPU gathers from it, wherever its rows lie. Of host memory, each gather is made by the GPU, which sorts the
/// ids and reads the rows over the bus (as GraphBolt and WholeGraph do), by the CPU, whose threads copy rows to page-locked
/// memory, which copy engines read meanwhile, or by both at once (as TurboGNN balances its stages, section III-D): the way
/// that was measured to be the fastest at earlier gathers. Copies share what was measured.
class gpu_features {
 public:
  /// @param exec   Its device is the GPU.
  /// @param share  Who gathers rows of page-locked memory. Elsewhere only one side can.
  /// @throws argument_error for a table on another GPU, and of 2^32 - 1 rows and more; device_error.
  gpu_features(feature_table table, gpu_exec const& exec, work_share share = work_share::automatic);

  [[nodiscard]] feature_table const& table() const noexcept { return table_; }
  [[nodiscard]] row_memory memory() const noexcept { return memory_; }
  [[nodiscard]] int device() const noexcept { return device_; }

  /// Gathers rows: row i of `out` becomes row i of the ids' rows. Waits for the GPU.
  /// @param ids  In the memory of the GPU: [n, 1] of any of the types, each in [0, table().num_rows()).
  /// @param out  In the memory of the GPU: n * table().row_bytes() bytes, at any alignment; overlaps neither the table nor
  ///             the ids.
  /// @throws argument_error for an `out` of another size or that overlaps, and for the first id out of range: "ids[17] is
  ///         5000, expected 0 to 4999"; then the content of `out` is unspecified. device_error; memory_error.
  void gather(id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec) const;

  /// The same for ids that are known to be in range: of rows in the GPU's own memory, or if the GPU alone reads those of
  /// page-locked memory (`way`), it enqueues work and does not wait. Where the CPU alone gathers, it reads the table before it
  /// returns, and the stream waits for the last copies. An id out of range gives a row of zeros, or the error above.
  void gather_unchecked(id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec,
                        gather_way way = {}) const;

 private:
  struct history;  // what was measured

  /// @param checked  Whether ids must be in range, and may be not.
  void gather_rows(id_matrix const& ids, std::span<std::byte> out, bool checked, gather_way way,
                   gpu_exec const& exec) const;

  feature_table table_;
  row_memory memory_ = row_memory::gpu;
  work_share share_ = work_share::automatic;
  int device_ = 0;
  std::shared_ptr<history const> history_;
};

/// Memory of one GPU that CUDA lends to other processes of the machine (cudaMalloc's, of no pool), so that their GPUs read rows in
/// it (sharded_features.hpp). To allocate and to free may wait for the GPU. Never destroyed. @throws memory_error; device_error.
[[nodiscard]] memory_resource& lendable_gpu_memory(int device = 0);

/// Copies a table to the memory of a GPU, without gaps between rows; a table that is there already is returned as it is.
/// @throws argument_error for a table on another GPU; memory_error if it doesn't fit; device_error.
[[nodiscard]] feature_table to_gpu(feature_table const& table, gpu_exec const& exec);

/// Copies a table to host memory, without gaps between rows; a table that is there already is returned as it is.
/// @throws memory_error; device_error.
[[nodiscard]] feature_table to_host(feature_table const& table);

/// Page-locks the memory of a table, so that GPUs read its rows over the bus: the result refers to the same rows, and when
/// it and its copies are gone the memory is as before. The rows of a mapped file are copied to memory of large pages first.
/// Tables over the same memory share the lock. A table on a GPU, or in memory that others have page-locked, is returned as it
/// is: whoever locked it keeps it so.
/// @throws memory_error if the system locks no more pages or has no memory for the copy; device_error.
[[nodiscard]] feature_table pin_memory(feature_table const& table, cpu_exec const& exec = {});

}  // namespace tendril
