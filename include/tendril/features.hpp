#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <tendril/exec.hpp>

namespace tendril {

struct spread_rows;  // <tendril/several_gpus.hpp>

/// What the rows of a feature_table are made of.
struct feature_rows {
  /// The elements, as NumPy calls them: bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 or float64.
  std::string type;
  std::vector<std::int64_t> shape;  ///< Of the whole table: rows first, then the shape of a row.
  std::int64_t row_stride = 0;      ///< Bytes from one row to the next; 0: rows follow each other without a gap.
};

/// Rows of features, all of one size, in host memory, in a mapped file or in the memory of a GPU. Immutable; copies refer
/// to the same rows.
class feature_table {
 public:
  /// No rows.
  feature_table() = default;

  /// Refers to memory of the caller's, wherever it is aligned.
  /// @param bytes   The rows, from the first byte of the first one to the last byte of the last one at least.
  /// @param owner   Keeps `bytes` alive; null: the caller does, as long as a copy of the table is there.
  /// @param mapped  Whether `bytes` lie in a mapped file, so that parts of them may not be in memory.
  /// @throws argument_error for an unknown type, a shape without dimensions or with negative ones, a stride that is
  ///         shorter than a row, and rows that `bytes` do not hold; memory_error for rows of 2^63 bytes and more.
  feature_table(std::span<std::byte const> bytes, feature_rows rows, std::shared_ptr<void const> owner = {},
                bool mapped = false);

  /// The same in the memory of GPU number `device`.
  [[nodiscard]] static feature_table on_gpu(int device, std::span<std::byte const> bytes, feature_rows rows,
                                            std::shared_ptr<void const> owner = {});

  /// The same over the memory of several GPUs, of which the first is its `device`. spread_over_gpus makes such tables.
  /// @param spread  Keeps `bytes` alive.
  [[nodiscard]] static feature_table over_gpus(std::shared_ptr<spread_rows const> spread,
                                               std::span<std::byte const> bytes, feature_rows rows);

  [[nodiscard]] std::byte const* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t num_rows() const noexcept { return rows_.shape[0]; }
  [[nodiscard]] std::int64_t row_bytes() const noexcept { return row_bytes_; }
  [[nodiscard]] std::int64_t row_stride() const noexcept { return rows_.row_stride; }
  [[nodiscard]] std::string const& type() const noexcept { return rows_.type; }
  [[nodiscard]] std::vector<std::int64_t> const& shape() const noexcept { return rows_.shape; }
  [[nodiscard]] std::shared_ptr<void const> const& owner() const noexcept { return owner_; }

  /// The GPU in whose memory the rows lie; -1: host memory, or a mapped file.
  [[nodiscard]] int device() const noexcept { return device_; }

  /// How the rows lie over several GPUs (<tendril/several_gpus.hpp>); null for every other table.
  [[nodiscard]] spread_rows const* spread() const noexcept { return spread_.get(); }

  /// Whether the rows lie in memory that GPU number `device` reads as its own.
  [[nodiscard]] bool is_on_gpu(int device) const noexcept;

  /// From the first byte of the first row to the last byte of the last one.
  [[nodiscard]] std::span<std::byte const> bytes() const noexcept;

  /// Bytes of all rows, without gaps between them.
  [[nodiscard]] std::int64_t num_bytes() const noexcept { return rows_.shape[0] * row_bytes_; }

  /// Of a mapped table, whether pages of it were missing lately: gather keeps this up to date, and asks the system for
  /// pages ahead while it is true. Null for tables in memory.
  [[nodiscard]] std::atomic<bool>* misses_pages() const noexcept { return misses_pages_.get(); }

 private:
  std::byte const* data_ = nullptr;
  std::int64_t row_bytes_ = 1;
  feature_rows rows_{"uint8", {0}, 1};
  std::shared_ptr<void const> owner_;
  std::shared_ptr<std::atomic<bool>> misses_pages_;
  std::shared_ptr<spread_rows const> spread_;
  int device_ = -1;
};

/// Maps a file of features: a .npy (format 1, 2 or 3, row-major) or a .safetensors. Nothing of the rows is read, so
/// the file may be larger than memory. Do not overwrite or shorten the file while the table is in use: a read past the
/// end of a file that was made shorter raises SIGBUS (see `mapped_file_at` in file.hpp). Replacing it by a rename is
/// safe.
/// @param name  The tensor of a .safetensors; empty: its only one.
/// @throws io_error      a file that can't be opened or mapped, a directory.
/// @throws format_error  "path: what, expected what": malformed files, types that a feature_table does not have
///                       (big-endian, objects, records, strings), column-major order, an array without dimensions.
/// @throws argument_error a name that the file does not have, or none where it has several tensors.
[[nodiscard]] feature_table read_features(std::string const& path, std::string const& name = "");

/// One of several gathers: row i of `out` becomes row ids[i] of the table.
struct gather_request {
  feature_table table;
  std::variant<std::span<std::int32_t const>, std::span<std::int64_t const>> ids;  ///< Each in [0, table.num_rows()).
  std::span<std::byte> out;  ///< [ids] rows of table.row_bytes() bytes without gaps, at any alignment.
};

/// Gathers rows: row i of `out` becomes row ids[i] of the table. An id may occur many times. The executor's threads
/// share the rows. Of a mapped table, pages that are not in memory are read many at a time.
/// @param ids  Each in [0, table.num_rows()).
/// @param out  ids.size() * table.row_bytes() bytes, at any alignment; overlaps neither the table nor `ids`.
/// @throws argument_error for a table on a GPU, an `out` of another size or that overlaps, and for the first id out of
///         range, whatever the number of threads: "ids[17] is 5000, expected 0 to 4999". Then the content of `out` is unspecified.
void gather(feature_table const& table, std::span<std::int32_t const> ids, std::span<std::byte> out,
            cpu_exec const& exec = {});
void gather(feature_table const& table, std::span<std::int64_t const> ids, std::span<std::byte> out,
            cpu_exec const& exec = {});

/// The same for several tables in one go, so that small gathers share the threads.
/// @throws argument_error as above, for the first request that is wrong, whose number begins the message:
///         "request 2: ids[17] is 5000, expected 0 to 4999".
void gather(std::span<gather_request const> requests, cpu_exec const& exec = {});

}  // namespace tendril
