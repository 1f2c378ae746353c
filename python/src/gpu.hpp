#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <tendril/buffer.hpp>
#include <tendril/error.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/graph.hpp>

#include "arrays.hpp"

namespace tendril::python {

/// An array in GPU memory as Python holds it: the memory, its shape, and the point in the stream from which on it
/// holds its elements.
struct gpu_array {
  std::shared_ptr<void const> memory;
  void* data = nullptr;
  nanobind::dlpack::dtype type;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< In elements.
  int device = 0;
  std::shared_ptr<gpu_event const> ready;
};

/// Ids of the caller's for a call on a GPU. Either they lie there, and `array` or `owner` keeps them alive, or the
/// library holds them in host memory.
struct gpu_ids {
  std::string what;  ///< Names them in messages.
  id_matrix view;    ///< In GPU memory: data is null where they are in host memory, or where there are none.
  shared_array<vertex_id> host;
  nanobind::ndarray<nanobind::ro> array;
  nanobind::object owner;
};

/// Numbers of the caller's for a call on a GPU, float32 or int64: in GPU memory that `array` or `owner` keeps alive, or
/// in host memory that `host` keeps alive.
struct gpu_values {
  void const* data = nullptr;
  std::int64_t size = 0;
  std::optional<array_in> host;
  nanobind::ndarray<nanobind::ro> array;
  nanobind::object owner;
};

/// Such numbers in GPU memory.
template <class T>
struct gpu_numbers {
  buffer<vertex_id> uploaded;  ///< The bytes of those that were in host memory; else empty.
  std::span<T const> span;
};

/// `values`, which hold T, in GPU memory. Needs no GIL, doesn't synchronise.
template <class T>
[[nodiscard]] gpu_numbers<T> bring_values(gpu_values const& values, gpu_exec const& exec)
{
  auto const size = static_cast<std::size_t>(values.size);
  if (!values.host || size == 0) { return {{}, {static_cast<T const*>(values.data), size}}; }
  constexpr std::size_t words = sizeof(T) / sizeof(vertex_id);
  buffer<vertex_id> there = copy_to_gpu({static_cast<vertex_id const*>(values.data), size * words}, exec);
  std::span<T const> const span(reinterpret_cast<T const*>(there.data()), size);
  return {std::move(there), span};
}

/// Runs calls for a graph that is on a GPU. What they leave behind may outlive the stream.
/// @param stream  A cudaStream_t as a number, 0 for the default stream.
[[nodiscard]] gpu_exec make_gpu_exec(graph const& graph, std::uintptr_t stream);
[[nodiscard]] gpu_exec make_gpu_exec(int device, std::uintptr_t stream);

/// Ids in GPU memory as the library takes them.
struct gpu_starts {
  buffer<vertex_id> made;  ///< Where they had to be moved or converted; else empty.
  std::span<vertex_id const> ids;
};

/// `ids`, each `repeats` times, one after the other; every vertex where `ids` is null. Without a copy where types fit.
/// What can't be an id becomes one that every call refuses. Needs no GIL, doesn't synchronise.
[[nodiscard]] gpu_starts bring(gpu_ids const* ids, std::int64_t repeats, graph const& graph, gpu_exec const& exec);

/// `ids` of vertices of a type that has so many.
[[nodiscard]] gpu_starts bring(gpu_ids const& ids, std::int64_t num_vertices, gpu_exec const& exec);

/// run(), which takes what `bring` made of `ids`; where it refuses a number that can't be an id, the message shows the
/// caller's.
template <class F>
void run_with(gpu_ids const& ids, gpu_exec const& exec, F&& run)
{
  try {
    std::forward<F>(run)();
  } catch (argument_error const&) {
    if (ids.view.data != nullptr) { expect_ids(ids.view, ids.what, exec); }
    throw;
  }
}

/// The same for vertices, of which the message tells the first.
/// @param what  "start", "root", "seed" or "node".
template <class F>
void run_on(gpu_ids const* ids, gpu_starts const& starts, char const* what, graph const& graph, gpu_exec const& exec,
            F&& run)
{
  try {
    std::forward<F>(run)();
  } catch (argument_error const&) {
    if (ids != nullptr && ids->view.data != nullptr) { expect_ids(ids->view, ids->what, exec); }
    expect_vertices(starts.ids, what, graph.num_vertices(), exec);
    throw;
  }
}

/// Hands a buffer to Python, as stored or as another type of the same size.
template <class T, class As = T>
[[nodiscard]] gpu_array give_gpu(buffer<T>&& elements, std::vector<std::int64_t> shape,
                                 std::vector<std::int64_t> strides, int device, std::shared_ptr<gpu_event const> ready)
{
  static_assert(sizeof(T) == sizeof(As));
  auto owned = std::make_shared<buffer<T>>(std::move(elements));
  T* const data = owned->data();
  return {std::move(owned),   data,   nanobind::dtype<As>(), std::move(shape),
          std::move(strides), device, std::move(ready)};
}

/// The same for a row-major array.
template <class T, class As = T>
[[nodiscard]] gpu_array give_gpu(buffer<T>&& elements, std::vector<std::int64_t> shape, int device,
                                 std::shared_ptr<gpu_event const> ready)
{
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) { strides[i - 1] = strides[i] * shape[i]; }
  return give_gpu<T, As>(std::move(elements), std::move(shape), std::move(strides), device, std::move(ready));
}

}  // namespace tendril::python
