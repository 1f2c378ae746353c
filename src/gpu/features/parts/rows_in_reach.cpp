#include "gpu/features/parts/rows_in_reach.hpp"

#include <cstring>
#include <string>
#include <utility>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"
#include "gpu/device/driver.hpp"
#include "gpu/device/peer_copy.hpp"

namespace tendril::gpu {
namespace {

/// What a rank tells the others of its rows.
struct rows_told {
  bool is_there;
  bool is_empty;
  bool is_lent;  ///< To other processes, by `memory`.
  std::int64_t process;
  int device;                  ///< In that process.
  feature_table const* table;  ///< For threads of that process.
  cudaIpcMemHandle_t memory;
  std::int64_t offset;  ///< Of the rows in that memory.
  std::int64_t stride;
};

/// The driver's functions that tell where an address comes from.
struct address_functions {
  decltype(&cuPointerGetAttribute) attribute = nullptr;
  decltype(&cuMemGetAddressRange) range = nullptr;

  address_functions()
  {
    load_driver_function("cuPointerGetAttribute", attribute);
    load_driver_function("cuMemGetAddressRange", range);
  }
};

/// What others need to read this rank's rows. Not there: memory whose ways to other GPUs are not known.
rows_told told_of(feature_table const& here, int device)
{
  rows_told out{};
  out.process = number_of_process();
  out.device = device;
  out.table = &here;
  out.stride = here.row_stride();
  if (here.num_rows() == 0) {
    out.is_there = out.is_empty = true;
    return out;
  }
  if (here.device() != device) { return out; }
  static address_functions const functions;
  auto const at = reinterpret_cast<CUdeviceptr>(here.data());
  int is_plain = 0;  // of cudaMalloc
  check_driver(functions.attribute(&is_plain, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, at),
               "cuPointerGetAttribute");
  CUmemoryPool pool{};
  check_driver(functions.attribute(static_cast<void*>(&pool), CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at),
               "cuPointerGetAttribute");
  cudaMemPool_t usual{};
  TENDRIL_CUDA_TRY(cudaDeviceGetDefaultMemPool(&usual, device));
  out.is_there = is_plain != 0 || pool == usual;
  if (is_plain == 0) { return out; }
  CUdeviceptr base = 0;
  std::size_t size = 0;
  check_driver(functions.range(&base, &size, at), "cuMemGetAddressRange");
  out.offset = static_cast<std::int64_t>(at - base);
  void* const whole = reinterpret_cast<void*>(base);  // NOLINT(performance-no-int-to-ptr): so the driver tells it
  out.is_lent = cudaIpcGetMemHandle(&out.memory, whole) == cudaSuccess;
  if (!out.is_lent) { (void)cudaGetLastError(); }
  return out;
}

/// Memory of another process; null where it can't be had.
std::shared_ptr<std::byte> borrowed(cudaIpcMemHandle_t const& memory)
{
  void* data = nullptr;
  if (cudaIpcOpenMemHandle(&data, memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return {static_cast<std::byte*>(data), [](std::byte* p) { (void)cudaIpcCloseMemHandle(p); }};
}

}  // namespace

std::unique_ptr<rows_in_reach> rows_in_reach::open(transport& ranks, gpu_messages const& messages,
                                                   feature_table const& here, int device)
{
  if (!messages.reach_memory() || here.row_bytes() == 0) { return nullptr; }  // so on all of them
  rows_told const mine = told_of(here, device);
  std::unique_ptr<rows_in_reach> out(new rows_in_reach);
  bool done = mine.is_there;
  std::string_view const bytes{reinterpret_cast<char const*>(&mine), sizeof mine};
  for (std::string const& told : ranks.all_gather("rows of features", bytes)) {
    rows_told theirs{};
    std::memcpy(&theirs, told.data(), sizeof theirs);
    done = done && theirs.is_there;
    if (!done) { break; }
    reached_rows& rows = out->tables_.emplace_back(reached_rows{nullptr, theirs.stride});
    if (theirs.is_empty) { continue; }
    if (theirs.process == mine.process) {
      done = theirs.device == device || reaches_pool(device, theirs.device);
      rows.rows = theirs.table->data();
      out->owners_.push_back(theirs.table->owner());
      continue;
    }
    auto const memory = theirs.is_lent ? borrowed(theirs.memory) : nullptr;
    done = memory != nullptr;
    rows.rows = memory.get() + theirs.offset;
    out->owners_.push_back(memory);
  }
  return ranks.all_reduce("rows of features", done ? 1 : 0, reduction::min) != 0 ? std::move(out) : nullptr;
}

}  // namespace tendril::gpu
