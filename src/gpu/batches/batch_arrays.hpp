// The arrays of a mini-batch as a list.

#pragma once

#include <cstdint>

#include <tendril/minibatch.hpp>

namespace tendril::gpu {

/// Calls f with each array of a batch.
template <class F>
void for_each_array(minibatch& batch, F f)
{
  for (auto& vertices : batch.vertices) {
    f(vertices.node);
    f(vertices.batch);
  }
  for (auto& edges : batch.edges) {
    f(edges.row);
    f(edges.col);
    f(edges.edge);
    f(edges.indptr);
    f(edges.weights);
  }
}

template <class T>
std::int64_t bytes_of(shared_array<T> const& array)
{
  return array.size() * static_cast<std::int64_t>(sizeof(T));
}

/// The bytes that an array takes where the arrays of a batch lie one after the other, each at a multiple of 128.
template <class T>
std::int64_t room_of(shared_array<T> const& array)
{
  return (bytes_of(array) + 127) / 128 * 128;
}

}  // namespace tendril::gpu
