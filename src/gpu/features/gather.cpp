// Gathers of features on a GPU: in its own memory by one kernel; of host memory by the GPU, the CPU, or both.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_features.hpp>
#include <tendril/types.hpp>

#include "base/expects.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/copy_value.hpp"
#include "gpu/device/ids.hpp"
#include "gpu/features/row_ids.hpp"
#include "gpu/features/row_memory.hpp"
#include "gpu/features/rows.hpp"
#include "gpu/features/spread_rows.hpp"
#include "gpu/together/together.hpp"

namespace tendril {
namespace {

constexpr std::int64_t worth_sorting = 1024;
constexpr double bytes_of_a_read = 128;
constexpr std::int64_t whole_lines = 32;             // rows that end where a line of memory does, whatever their width
constexpr std::int64_t turn_bytes = 256 << 10;       // of a thread: so many that all end at about the same time
constexpr std::int64_t mapped_turn_bytes = 2 << 20;  // of a file, whose pages are asked for together
constexpr std::int64_t most_row_bytes = (std::int64_t{1} << 30) - 1;

bool overlap(std::span<std::byte const> a, std::span<std::byte const> b)
{
  std::less<> const before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

/// From the first id to the last one, of one column and strides that are not negative.
std::span<std::byte const> bytes_of(id_matrix const& ids)
{
  if (ids.num_rows == 0) { return {}; }
  std::int64_t const width = ids.type == id_type::int32 || ids.type == id_type::uint32 ? 4 : 8;
  std::int64_t const extent = (ids.num_rows - 1) * ids.row_stride + 1;
  return {static_cast<std::byte const*>(ids.data), static_cast<std::size_t>(extent * width)};
}

std::int64_t part_of(std::int64_t size, double part)
{
  auto const items = static_cast<std::int64_t>(static_cast<double>(size) * part);
  return std::min(size, (items + whole_lines - 1) / whole_lines * whole_lines);
}

void tell(gather_meter* meter, gather_meter::reading const& done)
{
  if (meter != nullptr) { meter->add(done); }
}

/// A gather of rows in host memory.
class host_gather {
 public:
  host_gather(feature_table const& table, vertex_id const* ids, std::span<std::byte> out, gpu_exec const& exec)
      : table_(table), ids_(ids), out_(out), exec_(exec)
  {
  }

  /// The GPU sorts the ids of a turn: neighbours in the table then share a translation of their addresses. Enqueues.
  void enqueue(base::item_range turn) const
  {
    if (turn.empty()) { return; }
    gpu::row_copies job = gpu::copies_of(table_, exec_.device);
    job.ids = ids_ + turn.first;
    job.size = turn.size;
    job.out = out_.data() + turn.first * table_.row_bytes();
    gpu::sorted_ids sorted;
    if (turn.size >= worth_sorting) {
      sorted = gpu::sort_ids(job.ids, turn.size, table_.num_rows(), exec_);
      job.ids = sorted.ids.data();
      job.places = sorted.places.data();
    }
    gpu::copy_rows(job, nullptr, true, exec_);
  }

  void on_gpu(base::item_range turn) const
  {
    enqueue(turn);
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec_.stream));
  }

  /// The CPU's part: threads copy rows to page-locked memory.
  [[nodiscard]] gpu::staged_work by_cpu()
  {
    return {
        .out = out_.data(),
        .turn_bytes = table_.misses_pages() != nullptr ? mapped_turn_bytes : turn_bytes,
        .begin =
            [this](base::item_range rows, gpu::staged_results& results) {
              first_fetched_ = rows.first;
              fetched_ = results.fetch(std::span(ids_ + rows.first, static_cast<std::size_t>(rows.size)));
            },
        .write = [this](base::item_range rows, std::byte* to) { write(rows, to); },
    };
  }

 private:
  void write(base::item_range rows, std::byte* to) const
  {
    auto const narrow =
        fetched_.subspan(static_cast<std::size_t>(rows.first - first_fetched_), static_cast<std::size_t>(rows.size));
    std::vector<std::int64_t> const ids(narrow.begin(), narrow.end());
    std::span<std::byte> const out(to, static_cast<std::size_t>(rows.size * table_.row_bytes()));
    tendril::gather(table_, std::span<std::int64_t const>(ids), out, cpu_exec{1});
  }

  feature_table const& table_;
  vertex_id const* ids_;
  std::span<std::byte> out_;
  gpu_exec const& exec_;
  std::span<vertex_id const> fetched_;  // ids in host memory, from this one on:
  std::int64_t first_fetched_ = 0;
};

}  // namespace

void gpu::expect_rows(id_matrix const& ids, std::int64_t num_rows, gpu_exec const& exec)
{
  bad_id const bad = first_bad_id(ids, num_rows, exec);
  if (bad.index < 0) { return; }
  throw argument_error(
      fmt::format("ids[{}] is {}, expected {}", bad.index, bad.value,
                  num_rows == 0 ? "none: the table has no rows" : fmt::format("0 to {}", num_rows - 1)));
}

struct gpu_features::history {
  gpu::known_rates rates;
};

gpu_features::gpu_features(feature_table table, gpu_exec const& exec, work_share share)
    : table_(std::move(table)), share_(share), device_(exec.device), history_(std::make_shared<history const>())
{
  TENDRIL_EXPECTS(table_.device() < 0 || table_.is_on_gpu(device_), "the table lies on GPU {}, expected GPU {}",
                  table_.device(), device_);
  TENDRIL_EXPECTS(table_.num_rows() < std::int64_t{no_vertex},
                  "a table of {} rows, expected less than 2^32 - 1 on a GPU", table_.num_rows());
  TENDRIL_EXPECTS(table_.row_bytes() <= most_row_bytes, "rows of {} bytes, expected less than 2^30 on a GPU",
                  table_.row_bytes());
  gpu::device_guard const guard(device_);
  memory_ = gpu::memory_of_rows(table_);
}

void gpu_features::gather(id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec) const
{
  gather_rows(ids, out, true, {}, exec);
}

void gpu_features::gather_unchecked(id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec,
                                    gather_way way) const
{
  gather_rows(ids, out, false, way, exec);
}

void gpu_features::gather_rows(id_matrix const& ids, std::span<std::byte> out, bool checked, gather_way way,
                               gpu_exec const& exec) const
{
  TENDRIL_EXPECTS(exec.device == device_, "a call on GPU {}, expected GPU {}: the table was made for it", exec.device,
                  device_);
  std::int64_t const size = ids.num_rows;
  std::int64_t const row_bytes = table_.row_bytes();
  std::int64_t const expected = checked_product("bytes of gathered rows", size, row_bytes);
  TENDRIL_EXPECTS(std::ssize(out) == expected, "out has {} bytes, expected {} for {} rows of {}", out.size(), expected,
                  size, row_bytes);
  TENDRIL_EXPECTS(way.gpu_part >= 0 && way.gpu_part <= 1, "gpu_part is {}, expected 0 to 1", way.gpu_part);
  TENDRIL_EXPECTS(size <= std::numeric_limits<std::int32_t>::max(), "{} ids, expected less than 2^31", size);
  TENDRIL_EXPECTS(!overlap(out, table_.bytes()), "out overlaps the table, expected memory of its own");
  TENDRIL_EXPECTS(!overlap(out, bytes_of(ids)), "out overlaps ids, expected memory of its own");
  if (size == 0) { return; }
  gpu::device_guard const guard(device_);
  gpu::row_ids const narrow(ids, table_.num_rows(), exec);
  if (gpu::has_copies(table_)) {
    if (checked) { gpu::expect_rows(ids, table_.num_rows(), exec); }
    gpu::read_spread_rows(table_, narrow, out, exec);
    if (checked) { TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream)); }
    return;
  }
  if (memory_ == row_memory::gpu && row_bytes > 0) {
    gpu::row_copies job = gpu::copies_of(table_, device_);
    job.ids = narrow.data();
    job.size = size;
    job.out = out.data();
    if (!checked) { return gpu::copy_rows(job, nullptr, false, exec); }
    buffer<unsigned long long> first_bad(1, memory_of(exec));
    TENDRIL_CUDA_TRY(cudaMemsetAsync(first_bad.data(), 0xff, sizeof(unsigned long long), exec.stream));
    gpu::copy_rows(job, first_bad.data(), false, exec);
    if (static_cast<std::int64_t>(gpu::value_at(first_bad.data(), exec)) < 0) { return; }  // nothing lowered it
  }
  if (checked) { gpu::expect_rows(ids, table_.num_rows(), exec); }
  if (memory_ == row_memory::gpu || row_bytes == 0) { return; }
  work_share const who = memory_ == row_memory::pageable ? work_share::cpu : way.share.value_or(share_);
  host_gather rows(table_, narrow.data(), out, exec);
  if (who == work_share::gpu) {
    rows.enqueue({0, size});
    tell(way.meter, {.by_gpu = size});
    if (checked) { TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream)); }
    return;
  }
  gpu::shared_job job;
  job.num_items = size;
  job.reads = std::max(1.0, static_cast<double>(row_bytes) / bytes_of_a_read);
  job.item_bytes = row_bytes;
  job.gains_by_size = true;
  job.num_threads = way.num_threads;
  job.on_gpu = [&](base::item_range turn) { rows.on_gpu(turn); };
  job.on_cpu = rows.by_cpu();
  try {
    if (who == work_share::cpu) {
      std::int64_t const by_gpu = memory_ == row_memory::pageable ? 0 : part_of(size, way.gpu_part);
      auto const of_cpu = gpu::stage_beside(
          job, by_gpu,
          [&] {
            rows.enqueue({0, by_gpu});
          },
          exec);
      tell(way.meter, {of_cpu, size - by_gpu, by_gpu});
      if (checked) { TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream)); }
    } else {
      gpu::work_together(history_->rates, who, job, exec);
    }
  } catch (argument_error const&) {  // about an id, by its number in a turn
    gpu::expect_rows(ids, table_.num_rows(), exec);
    throw;
  }
}

}  // namespace tendril
