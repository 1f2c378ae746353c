// Tables on the way between host and GPU memory, and pages that are locked so that a GPU reads them where they are.

#include "gpu/features/row_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/buffer.hpp>
#include <tendril/gpu.hpp>

#include "base/expects.hpp"
#include "base/parallel.hpp"
#include "gpu/device/check.hpp"

namespace tendril {
namespace {

constexpr std::int64_t copied_at_once = 1 << 22;

cudaPointerAttributes attributes_of(void const* pointer)
{
  cudaPointerAttributes attributes{};
  TENDRIL_CUDA_TRY(cudaPointerGetAttributes(&attributes, pointer));
  return attributes;
}

bool is_page_locked(std::span<std::byte const> bytes)
{
  return !bytes.empty() && attributes_of(bytes.data()).type == cudaMemoryTypeHost &&
         attributes_of(&bytes.back()).type == cudaMemoryTypeHost;
}

/// Keeps pages locked, and alive what they belong to.
class locked_pages {
 public:
  /// @throws memory_error.
  locked_pages(std::span<std::byte const> bytes, std::shared_ptr<void const> owner)
      : first_(const_cast<std::byte*>(bytes.data())), owner_(std::move(owner))
  {
    cudaError_t const status = cudaHostRegister(first_, bytes.size(), cudaHostRegisterPortable);
    if (status != cudaSuccess) { (void)cudaGetLastError(); }
    done_ = status == cudaSuccess;
  }
  ~locked_pages()
  {
    if (done_) { (void)cudaHostUnregister(first_); }
  }
  locked_pages(locked_pages const&) = delete;
  locked_pages& operator=(locked_pages const&) = delete;

  [[nodiscard]] bool done() const { return done_; }

 private:
  std::byte* first_;
  std::shared_ptr<void const> owner_;
  bool done_ = false;
};

/// The pages that this process keeps locked, so that tables over the same memory share the lock.
class known_locks {
 public:
  void add(std::shared_ptr<locked_pages> const& pages, std::span<std::byte const> bytes)
  {
    std::lock_guard const lock(mutex_);
    std::erase_if(locks_, [](auto const& one) { return one.second.pages.expired(); });
    locks_[bytes.data()] = {bytes.data() + bytes.size(), pages};
  }

  /// The lock on the pages of all these bytes; null if no table keeps them locked.
  [[nodiscard]] std::shared_ptr<locked_pages> find(std::span<std::byte const> bytes)
  {
    std::lock_guard const lock(mutex_);
    auto const after = locks_.upper_bound(bytes.data());
    if (after == locks_.begin()) { return {}; }
    auto const& [first, known] = *std::prev(after);
    return std::less_equal<>()(bytes.data() + bytes.size(), known.end) ? known.pages.lock() : nullptr;
  }

 private:
  struct known_lock {
    std::byte const* end;
    std::weak_ptr<locked_pages> pages;
  };

  std::mutex mutex_;
  std::map<std::byte const*, known_lock, std::less<>> locks_;  // by the first byte
};

known_locks& locks()
{
  static auto& all = *new known_locks;  // never destroyed: tables may go later
  return all;
}

feature_rows without_gaps(feature_table const& table) { return {table.type(), table.shape()}; }

/// The rows in memory of `memory`, without gaps.
feature_table host_copy(feature_table const& table, memory_resource& memory, cpu_exec const& exec)
{
  auto copy = std::make_shared<buffer<std::byte>>(table.num_bytes(), memory);
  std::int64_t const width = table.row_bytes();
  if (width > 0) {
    base::parallel_ranges(exec, table.num_rows(), std::max<std::int64_t>(1, copied_at_once / width),
                          [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t row = begin; row < end; ++row) {
                              std::memcpy(copy->data() + row * width, table.data() + row * table.row_stride(),
                                          static_cast<std::size_t>(width));
                            }
                          });
  }
  std::span<std::byte const> const bytes = copy->span();
  return {bytes, without_gaps(table), std::move(copy)};
}

/// Rows at `from` to rows without gaps.
void copy_without_gaps(feature_table const& from, std::byte* to)
{
  auto const width = static_cast<std::size_t>(from.row_bytes());
  if (from.num_bytes() == 0) { return; }
  if (from.row_stride() == from.row_bytes()) {
    TENDRIL_CUDA_TRY(cudaMemcpy(to, from.data(), static_cast<std::size_t>(from.num_bytes()), cudaMemcpyDefault));
  } else {
    TENDRIL_CUDA_TRY(cudaMemcpy2D(to, width, from.data(), static_cast<std::size_t>(from.row_stride()), width,
                                  static_cast<std::size_t>(from.num_rows()), cudaMemcpyDefault));
  }
}

/// The same rows, locked, or a table without rows if these pages can't be.
feature_table locked(feature_table const& table)
{
  auto pages = std::make_shared<locked_pages>(table.bytes(), table.owner());
  if (!pages->done()) { return {}; }
  locks().add(pages, table.bytes());
  return {table.bytes(), {table.type(), table.shape(), table.row_stride()}, std::move(pages)};
}

}  // namespace

row_memory gpu::memory_of_rows(feature_table const& table)
{
  if (table.device() >= 0) { return row_memory::gpu; }
  return is_page_locked(table.bytes()) ? row_memory::page_locked : row_memory::pageable;
}

gpu::row_copies gpu::copies_of(feature_table const& table, int device)
{
  row_copies job;
  job.rows = table.data();
  job.stride = table.row_stride();
  job.num_rows = table.num_rows();
  job.row_bytes = table.row_bytes();
  if (table.device() < 0 && job.rows != nullptr) {
    device_guard const guard(device);
    job.rows = static_cast<std::byte const*>(attributes_of(job.rows).devicePointer);
  }
  return job;
}

feature_table to_gpu(feature_table const& table, gpu_exec const& exec)
{
  if (table.is_on_gpu(exec.device)) { return table; }
  TENDRIL_EXPECTS(table.device() < 0, "the table lies on GPU {}, expected GPU {} or host memory", table.device(),
                  exec.device);
  gpu::device_guard const guard(exec.device);
  auto rows = std::make_shared<buffer<std::byte>>(table.num_bytes(), memory_of(exec));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));  // the memory is there, and of no one else
  copy_without_gaps(table, rows->data());
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(nullptr));  // what was copied from pageable memory has arrived, for any stream
  std::span<std::byte const> const bytes = rows->span();
  return feature_table::on_gpu(exec.device, bytes, without_gaps(table), std::move(rows));
}

feature_table to_host(feature_table const& table)
{
  if (table.device() < 0) { return table; }
  gpu::device_guard const guard(table.device());
  auto rows = std::make_shared<buffer<std::byte>>(table.num_bytes());
  copy_without_gaps(table, rows->data());
  std::span<std::byte const> const bytes = rows->span();
  return {bytes, without_gaps(table), std::move(rows)};
}

feature_table pin_memory(feature_table const& table, cpu_exec const& exec)
{
  if (table.device() >= 0 || table.num_bytes() == 0) { return table; }
  if (num_gpus() == 0) { (void)describe_gpu(); }  // says why
  if (is_page_locked(table.bytes())) {
    auto pages = locks().find(table.bytes());
    if (pages == nullptr) { return table; }
    using owners = std::pair<std::shared_ptr<void const>, std::shared_ptr<void const>>;
    return {table.bytes(),
            {table.type(), table.shape(), table.row_stride()},
            std::make_shared<owners>(table.owner(), std::move(pages))};
  }
  if (table.misses_pages() == nullptr) {
    feature_table in_place = locked(table);
    if (in_place.num_rows() > 0) { return in_place; }
  }
  feature_table const copied = host_copy(table, host_memory(), exec);
  feature_table in_place = locked(copied);
  // What shares its pages with other memory, a few kilobytes, goes to pages that were made to be locked.
  return in_place.num_rows() > 0 ? in_place : host_copy(table, pinned_memory(), exec);
}

}  // namespace tendril
