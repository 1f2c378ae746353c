// Events, copies and refusals, for arrays that are exchanged with other libraries.

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>

#include <fmt/format.h>

#include "gpu/device/check.hpp"
#include "gpu/device/ids.hpp"
#include "graph/places.hpp"

namespace tendril {

gpu_event::gpu_event(gpu_exec const& exec) : device_(exec.device)
{
  gpu::device_guard const guard(device_);
  TENDRIL_CUDA_TRY(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  cudaError_t const recorded = cudaEventRecord(event_, exec.stream);
  if (recorded != cudaSuccess) { (void)cudaEventDestroy(event_); }
  TENDRIL_CUDA_TRY(recorded);
}

gpu_event::~gpu_event() { (void)cudaEventDestroy(event_); }

void gpu_event::wait_on(cuda_stream stream) const
{
  gpu::device_guard const guard(device_);  // null is the default stream of this GPU
  TENDRIL_CUDA_TRY(cudaStreamWaitEvent(stream, event_));
}

void gpu_event::synchronize() const { TENDRIL_CUDA_TRY(cudaEventSynchronize(event_)); }

gpu_stream::gpu_stream(int device)
{
  gpu::device_guard const guard(device);
  int least = 0, most = 0;
  TENDRIL_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&least, &most));
  TENDRIL_CUDA_TRY(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, most));
}

gpu_stream::~gpu_stream() { (void)cudaStreamDestroy(stream_); }

int gpu_of(void const* pointer)
{
  cudaPointerAttributes attributes{};
  TENDRIL_CUDA_TRY(cudaPointerGetAttributes(&attributes, pointer));
  bool const on_gpu = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return on_gpu ? attributes.device : -1;
}

buffer<vertex_id> copy_to_gpu(std::span<vertex_id const> from, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  buffer<vertex_id> to(static_cast<std::int64_t>(from.size()), memory_of(exec));
  if (!from.empty()) {
    // Of pageable memory CUDA has a copy of its own when this returns; of pinned memory it has not.
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice, exec.stream));
    cudaPointerAttributes attributes{};
    TENDRIL_CUDA_TRY(cudaPointerGetAttributes(&attributes, from.data()));
    if (attributes.type != cudaMemoryTypeUnregistered) { TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream)); }
  }
  return to;
}

void copy_to_host(void const* from, void* to, std::size_t bytes, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  if (bytes > 0) { TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, exec.stream)); }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

void copy_on_gpu(void const* from, void* to, std::size_t bytes, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  if (bytes > 0) { TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, exec.stream)); }
}

void expect_ids(id_matrix const& ids, std::string_view what, gpu_exec const& exec)
{
  gpu::bad_id const bad = gpu::first_bad_id(ids, std::int64_t{no_vertex}, exec);
  if (bad.index < 0) { return; }
  throw argument_error(
      fmt::format("{}[{}] is {}, expected a vertex id in [0, {}]", what, bad.index, bad.value, no_vertex - 1));
}

void expect_vertices(std::span<vertex_id const> ids, std::string_view what, std::int64_t num_vertices,
                     gpu_exec const& exec)
{
  id_matrix const all{ids.data(), id_type::uint32, static_cast<std::int64_t>(ids.size())};
  gpu::bad_id const bad = gpu::first_bad_id(all, num_vertices, exec);
  if (bad.index < 0) { return; }
  validation::refuse_vertex(what, bad.index, bad.value, num_vertices);
}

}  // namespace tendril
