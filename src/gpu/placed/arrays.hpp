// What every placed graph consists of besides lists: arrays whose regions lie on the GPU or in host memory, and the room
// that all of it needs.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <tendril/gpu.hpp>
#include <tendril/graph.hpp>

#include "gpu/placed/managed.hpp"
#include "place/placement.hpp"

namespace tendril::gpu {

/// What a budget is for, in messages.
struct budget_names {
  char const* limit;      ///< The parameter.
  char const* directory;  ///< What always lies on the GPU.
};

/// The bytes that lists and arrays may take of `limit` bytes of GPU memory, or of nine tenths of `free` if `limit` is 0.
/// @throws memory_error if they don't hold the directory.
[[nodiscard]] std::int64_t budget_beside(std::int64_t directory, std::int64_t limit, std::int64_t free,
                                         budget_names const& names, int device);

/// @throws memory_error if a GPU or the host has no room for so many bytes.
void expect_room(std::int64_t on_gpu, std::int64_t free, std::int64_t on_host, budget_names const& names, int device);

/// An array of a graph in managed memory. Synchronises. @param on_gpu  Of each region.
template <class T>
[[nodiscard]] shared_array<T> placed_array(shared_array<T> const& from, std::vector<char> const& on_gpu,
                                           gpu_exec const& exec)
{
  if (from.empty()) { return {}; }
  buffer<T> to(from.size(), managed_memory(exec.device));
  auto const* const bytes = reinterpret_cast<char const*>(from.data());
  auto const write = [&](std::int64_t begin, std::int64_t end, void* at) {
    std::memcpy(at, bytes + begin, static_cast<std::size_t>(end - begin));
  };
  std::int64_t const all = from.size() * static_cast<std::int64_t>(sizeof(T));
  for (std::size_t begin = 0, end = 0; begin < on_gpu.size(); begin = end) {
    while (end < on_gpu.size() && on_gpu[end] == on_gpu[begin]) { ++end; }
    auto const fill = on_gpu[begin] != 0 ? fill_on_gpu : fill_on_host;
    fill(to.data(), static_cast<std::int64_t>(begin) * place::edge_array::region_bytes,
         std::min(static_cast<std::int64_t>(end) * place::edge_array::region_bytes, all), write, exec);
  }
  return to;
}

}  // namespace tendril::gpu
