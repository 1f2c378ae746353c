// Weights, labels and edge ids in fewer bits. What is chosen, and what is packed of an edge: src/place/narrow.hpp. CPU
// twin: src/place/narrow.cpp. The weights that differ are found by a hash table in device memory, which threads give up
// once it has too many; so random weights cost little.

#include "gpu/place/narrow.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <tendril/gpu.hpp>

#include "gpu/device/copy_value.hpp"
#include "gpu/device/launch.cuh"
#include "gpu/graph/array_copies.hpp"
#include "place/narrow.hpp"

namespace tendril::gpu {
namespace {

using place::weight_dictionary;

constexpr int block_threads = 256;
constexpr std::int64_t most_blocks = 1 << 12;  // threads that end with atomic operations

constexpr unsigned long long is_taken = 1ULL << 32U;

/// Puts the bits of all weights into a table whose slots were 0, as is_taken + bits, and counts them in *count, which was
/// 0. What the table holds is of no use once there are more than most_values: threads then stop.
/// @param num_slots  A power of two, some times most_values.
__global__ __launch_bounds__(block_threads) void values_kernel(float const* weights, edge_id size,
                                                               unsigned long long* slots, std::size_t num_slots,
                                                               unsigned* count)
{
  auto const is_full = [count] { return *static_cast<unsigned volatile*>(count) > weight_dictionary::most_values; };
  for (edge_id e = global_thread(); e < size; e += grid_stride()) {
    std::uint32_t const value = __float_as_uint(weights[e]);
    unsigned long long const taken = is_taken | value;
    std::size_t i = weight_dictionary::slot_of(value, num_slots);
    while (true) {
      unsigned long long there = *static_cast<unsigned long long volatile*>(slots + i);
      if (there == taken) { break; }
      if (is_full()) { return; }  // also what ends the search in a table without a free slot
      if (there == 0) {
        there = atomicCAS(slots + i, 0ULL, taken);
        if (there == 0) { atomicAdd(count, 1U); }
        if (there == 0 || there == taken) { break; }
      }
      i = (i + 1) & (num_slots - 1);
    }
  }
}

/// Adds numbers [0, size) to out, [least, most].
template <class Number>
__global__ __launch_bounds__(block_threads) void extent_kernel(Number number, std::int64_t size, long long* out)
{
  place::extent mine;
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { mine.add(number(i)); }
  long long least = mine.least, most = mine.most;
#pragma unroll
  for (int other = warp_size / 2; other > 0; other /= 2) {
    least = min(least, __shfl_xor_sync(full_warp, least, other));
    most = max(most, __shfl_xor_sync(full_warp, most, other));
  }
  if (lane_id() == 0) {
    atomicMin(out, least);
    atomicMax(out + 1, most);
  }
}

/// Packs numbers [0, size): 32 a thread, which fill `width` whole words.
template <class Number>
__global__ __launch_bounds__(block_threads) void pack_kernel(Number number, std::int64_t size, std::uint32_t width,
                                                             std::uint32_t* words)
{
  std::int64_t const groups = (size + 31) / 32;
  for (std::int64_t g = global_thread(); g < groups; g += grid_stride()) {
    place::pack_range(32 * g, min(32 * g + 32, size), width, number, words + g * width);
  }
}

template <class T, class Number>
__global__ __launch_bounds__(block_threads) void unpack_kernel(Number number, std::int64_t size, T* out)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { out[i] = static_cast<T>(number(i)); }
}

weight_dictionary dictionary_of(shared_array<float> const& weights, gpu_exec const& exec)
{
  std::size_t const num_slots = weight_dictionary::slots_for(weights.size());
  buffer<unsigned long long> slots(static_cast<std::int64_t>(num_slots), memory_of(exec));
  buffer<unsigned> count(1, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(slots.data(), 0, num_slots * sizeof(unsigned long long), exec.stream));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(count.data(), 0, sizeof(unsigned), exec.stream));
  values_kernel<<<grid_blocks(weights.size(), block_threads, most_blocks), block_threads, 0, exec.stream>>>(
      weights.data(), weights.size(), slots.data(), num_slots, count.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  if (value_at(count.data(), exec) > weight_dictionary::most_values) { return {}; }
  std::vector<unsigned long long> found(num_slots);
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(found.data(), slots.data(), num_slots * sizeof(unsigned long long),
                                   cudaMemcpyDeviceToHost, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  std::vector<std::uint32_t> values;
  for (unsigned long long const slot : found) {
    if (slot != 0) { values.push_back(static_cast<std::uint32_t>(slot)); }
  }
  std::sort(values.begin(), values.end());
  return weight_dictionary(std::move(values));
}

template <class Number>
place::extent extent_of(Number const& number, std::int64_t size, gpu_exec const& exec)
{
  place::extent out;
  if (size == 0) { return out; }
  long long const none[2] = {out.least, out.most};
  buffer<long long> found(2, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(found.data(), none, sizeof none, cudaMemcpyHostToDevice, exec.stream));
  extent_kernel<<<grid_blocks(size, block_threads, most_blocks), block_threads, 0, exec.stream>>>(number, size,
                                                                                                  found.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  out.least = value_at(found.data(), exec);
  out.most = value_at(found.data() + 1, exec);
  return out;
}

place::edge_facts facts_of(graph_arrays const& arrays, gpu_exec const& exec)
{
  place::edge_facts out;
  if (!arrays.weights.empty()) { out.dictionary = dictionary_of(arrays.weights, exec); }
  out.labels = extent_of(place::label_code{arrays.edge_labels.view()}, arrays.edge_labels.size(), exec);
  edge_id const* const ids = arrays.edge_ids.data();
  out.ids = extent_of(place::id_code{ids, 0, false}, arrays.edge_ids.size(), exec);
  out.ids_less_position = extent_of(place::id_code{ids, 0, true}, arrays.edge_ids.size(), exec);
  return out;
}

}  // namespace

void narrow(graph_arrays& arrays, gpu_exec const& exec)
{
  place::narrow_plan const plan = place::narrow_plan::of(arrays, facts_of(arrays, exec));
  auto const host_slots = plan.dictionary.slots();
  buffer<weight_dictionary::slot> slots(std::ssize(host_slots), memory_of(exec));
  if (!slots.empty()) {
    TENDRIL_CUDA_TRY(
        cudaMemcpyAsync(slots.data(), host_slots.data(), host_slots.size_bytes(), cudaMemcpyHostToDevice, exec.stream));
  }
  auto const pack = [&](char const*, std::int64_t size, int width, auto const& number) -> packed_array {
    auto const bits = static_cast<std::uint32_t>(width);
    buffer<std::uint32_t> words(packed_numbers::num_words(size, bits), memory_of(exec));
    TENDRIL_CUDA_TRY(
        cudaMemsetAsync(words.data(), 0, static_cast<std::size_t>(words.size()) * sizeof(std::uint32_t), exec.stream));
    pack_kernel<<<grid_blocks((size + 31) / 32, block_threads), block_threads, 0, exec.stream>>>(number, size, bits,
                                                                                                 words.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    return {std::move(words), size, bits};
  };
  bool const has_values = plan.weight_width >= 0;
  shared_array<float> const weights = arrays.weights;  // until the kernels are done
  shared_array<edge_id> const ids = arrays.edge_ids;
  label_array const labels = arrays.edge_labels;
  place::narrow(arrays, plan, slots.data(), pack);
  if (has_values) { arrays.narrow.weight_values = copied(arrays.narrow.weight_values, memory_of(exec), exec); }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

void widen(graph_arrays& arrays, gpu_exec const& exec)
{
  narrow_edges const kept = arrays.narrow;  // until the kernels are done
  place::widen(arrays, [&]<class T>(T, char const*, std::int64_t size, auto const& number) {
    buffer<T> out(size, memory_of(exec));
    unpack_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(number, size, out.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    return shared_array<T>(std::move(out));
  });
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

}  // namespace tendril::gpu
