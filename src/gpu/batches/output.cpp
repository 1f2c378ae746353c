#include "gpu/batches/output.hpp"

#include <algorithm>
#include <atomic>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>

#include "gpu/batches/batch_arrays.hpp"
#include "gpu/batches/bounds.hpp"
#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t much = std::int64_t{64} << 20U;
constexpr std::int64_t part_elements = 32;  // parts begin at multiples of 128 bytes at least

std::int64_t rounded(std::int64_t size, std::int64_t to) { return (size + to - 1) / to * to; }

void enqueue(std::vector<word_copy> const& copies, gpu_exec const& exec)
{
  if (copies.empty()) { return; }
  std::int64_t most = 0;
  for (auto const& copy : copies) { most = std::max(most, copy.words); }
  buffer<word_copy> there(std::ssize(copies), gpu_memory(exec.device, exec.stream));
  // Of pageable memory CUDA has a copy of its own when this returns.
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(there.data(), copies.data(), copies.size() * sizeof(word_copy),
                                   cudaMemcpyHostToDevice, exec.stream));
  copy_words(there.data(), there.size(), most, exec);
}

}  // namespace

std::vector<batch_output::array> batch_output::arrays_of(slab_room const& room, std::int64_t num_batches,
                                                         std::int64_t& bytes)
{
  std::vector<array> out;
  bytes = 0;
  auto const add = [&](std::int64_t size, std::int64_t element_bytes) {
    std::int64_t const stride = rounded(size, part_elements);
    out.push_back({bytes, stride, element_bytes});
    bytes = std::min(bytes + bounded_product(num_batches, bounded_product(stride, element_bytes)), unbounded);
  };
  for (std::int64_t const nodes : room.nodes) {
    add(std::max<std::int64_t>(nodes, 1), sizeof(vertex_id));
    add(room.disjoint ? std::max<std::int64_t>(nodes, 1) : 0, sizeof(std::int64_t));
  }
  for (auto const& type : room.edges) {
    for (int i = 0; i < 3; ++i) { add(type.edges, sizeof(std::int64_t)); }
    add(type.indptr, sizeof(std::int64_t));
    add(type.weights ? type.edges : 0, sizeof(float));
  }
  return out;
}

std::int64_t batch_output::bytes_a_batch(slab_room const& room)
{
  std::int64_t bytes = 0;
  (void)arrays_of(room, 1, bytes);
  return bytes;
}

std::shared_ptr<buffer<std::byte>> kept_outputs::take(std::int64_t bytes, memory_resource& memory)
{
  if (bytes > much) { return std::make_shared<buffer<std::byte>>(bytes, memory); }
  for (auto const& kept : kept_) {
    if (kept == nullptr || kept.use_count() > 1 || kept->size() < bytes || kept->size() > 4 * bytes) { continue; }
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever dropped the last batch in it is done with it
    return kept;
  }
  auto made = std::make_shared<buffer<std::byte>>(bytes, memory);
  kept_[next_++ % kept_.size()] = made;
  return made;
}

batch_output::batch_output(slab_room const& room, std::int64_t num_batches, memory_resource& memory, kept_outputs* kept)
    : first_edge_array_(2 * room.nodes.size()), num_batches_(num_batches)
{
  std::int64_t bytes = 0;
  arrays_ = arrays_of(room, num_batches, bytes);
  memory_ = kept != nullptr ? kept->take(bytes, memory) : std::make_shared<buffer<std::byte>>(bytes, memory);
}

void batch_output::describe(vertex_call* vertices, edge_call* edges) const
{
  for (std::size_t i = 0; i < first_edge_array_; i += 2, ++vertices) {
    vertices->node = reinterpret_cast<vertex_id*>(at(arrays_[i], 0));
    vertices->batch = reinterpret_cast<std::int64_t*>(at(arrays_[i + 1], 0));
    vertices->stride = arrays_[i].stride;
  }
  for (std::size_t i = first_edge_array_; i < arrays_.size(); i += edge_arrays, ++edges) {
    edges->row = reinterpret_cast<std::int64_t*>(at(arrays_[i], 0));
    edges->col = reinterpret_cast<std::int64_t*>(at(arrays_[i + 1], 0));
    edges->edge = reinterpret_cast<edge_id*>(at(arrays_[i + 2], 0));
    edges->indptr = reinterpret_cast<std::int64_t*>(at(arrays_[i + 3], 0));
    edges->weights = reinterpret_cast<float*>(at(arrays_[i + 4], 0));
    edges->edge_stride = arrays_[i].stride;
    edges->indptr_stride = arrays_[i + 3].stride;
  }
}

void batch_output::take_over(batch_output const& from, gpu_exec const& exec)
{
  std::vector<word_copy> copies;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (from.arrays_[i].stride == 0 || arrays_[i].stride == 0) { continue; }
    std::int64_t const elements = std::min(arrays_[i].stride, from.arrays_[i].stride);
    for (std::int64_t b = 0; b < num_batches_; ++b) {
      copies.push_back({reinterpret_cast<std::uint32_t const*>(from.at(from.arrays_[i], b)),
                        reinterpret_cast<std::uint32_t*>(at(arrays_[i], b)), elements * arrays_[i].element_bytes / 4});
    }
  }
  enqueue(copies, exec);
}

std::int64_t bytes_together(std::vector<minibatch>& batches)
{
  std::int64_t used = 0;
  for (auto& batch : batches) {
    for_each_array(batch, [&](auto const& array) { used += room_of(array); });
  }
  return used;
}

void fit_memory(std::vector<minibatch>& batches, std::int64_t slab_bytes, gpu_exec const& exec)
{
  std::int64_t const used = bytes_together(batches);
  if (slab_bytes <= much || slab_bytes <= 2 * used) { return; }
  move_together(batches, std::make_shared<buffer<std::byte>>(std::max<std::int64_t>(used, 1), memory_of(exec)), exec);
}

void move_together(std::vector<minibatch>& batches, std::shared_ptr<buffer<std::byte>> const& memory,
                   gpu_exec const& exec)
{
  std::vector<word_copy> copies;
  std::byte* to = memory->data();
  auto const move = [&]<class T>(shared_array<T>& array) {
    if (array.data() == nullptr) { return; }
    if (!array.empty()) {
      copies.push_back({reinterpret_cast<std::uint32_t const*>(array.data()), reinterpret_cast<std::uint32_t*>(to),
                        bytes_of(array) / 4});
    }
    std::int64_t const room = room_of(array);
    array = shared_array<T>({reinterpret_cast<T const*>(to), static_cast<std::size_t>(array.size())}, memory);
    to += room;
  };
  for (auto& batch : batches) { for_each_array(batch, move); }
  enqueue(copies, exec);
}

}  // namespace tendril::gpu
