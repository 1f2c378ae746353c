// Copies of a graph's arrays, on the stream of an exec.

#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>
#include <tendril/graph.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {

/// Copies elements into memory of `resource`, on the stream of `exec`.
template <class T>
shared_array<T> copied(shared_array<T> const& from, memory_resource& resource, gpu_exec const& exec)
{
  buffer<T> to(from.size(), resource);
  if (!from.empty()) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(T),
                                     cudaMemcpyDefault, exec.stream));
  }
  return to;
}

/// Calls f with the labels as an array of their type, of which there are some, and returns them as f changed them.
template <class F>
label_array with_labels(label_array const& labels, F&& f)
{
  auto const typed = [&]<class T>(T const* data) {
    return shared_array<T>({data, static_cast<std::size_t>(labels.size())}, labels.owner());
  };
  switch (labels.bytes_per_label()) {
    case 1: return f(typed(static_cast<std::uint8_t const*>(labels.view().data)));
    case 2: return f(typed(static_cast<std::uint16_t const*>(labels.view().data)));
    default: return {};
  }
}

inline label_array copied(label_array const& from, memory_resource& resource, gpu_exec const& exec)
{
  return with_labels(from, [&](auto const& labels) { return copied(labels, resource, exec); });
}

inline narrow_edges copied(narrow_edges const& from, memory_resource& resource, gpu_exec const& exec)
{
  narrow_edges to = from;
  for (packed_array* const array : {&to.weight_codes, &to.labels, &to.ids}) {
    array->words = copied(array->words, resource, exec);
  }
  to.weight_values = copied(from.weight_values, resource, exec);
  return to;
}

}  // namespace tendril::gpu
