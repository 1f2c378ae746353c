#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include <tendril/gpu.hpp>

#include "arrays.hpp"
#include "exec.hpp"
#include "gpu.hpp"

namespace tendril::python {

/// Two arrays as the rows of one, as int64. Holds no GIL.
template <class T>
[[nodiscard]] buffer<std::int64_t> as_rows(buffer<T> const& first, buffer<T> const& second, int num_threads)
{
  std::int64_t const size = first.size();
  buffer<std::int64_t> out(2 * size);
  for_each_element(size, num_threads, [&](std::int64_t i) {
    out[i] = first[i];
    out[size + i] = second[i];
  });
  return out;
}

/// Hands results in host memory to NumPy. Needs the GIL.
class host_results {
 public:
  using array = array_out;
  using extents = std::initializer_list<std::int64_t>;

  host_results(bool as_int32, int num_threads) : as_int32_(as_int32), num_threads_(num_threads) {}

  [[nodiscard]] array ids(buffer<vertex_id>&& elements, extents shape) const
  {
    return give_ids(std::move(elements), shape, as_int32_, num_threads_);
  }
  template <class T>
  [[nodiscard]] array numbers(buffer<T>&& elements, extents shape) const
  {
    return give(std::move(elements), shape);
  }
  /// [2, edges] int64, whatever the type of ids: the rows and the columns of edges.
  template <class T>
  [[nodiscard]] array edge_index(buffer<T>&& row, buffer<T>&& col) const
  {
    std::int64_t const size = row.size();
    buffer<std::int64_t> both;
    {
      nb::gil_scoped_release const no_gil;
      both = as_rows(row, col, num_threads_);
      row = {};
      col = {};
    }
    return give(std::move(both), {2, size});
  }
  template <class Result>
  [[nodiscard]] Result finished(Result&& result) const
  {
    return std::forward<Result>(result);
  }

 private:
  bool as_int32_;
  int num_threads_;
};

/// Hands results in GPU memory on. Needs no GIL, enqueues, doesn't synchronise.
class gpu_results {
 public:
  using array = gpu_array;
  using extents = std::vector<std::int64_t>;

  gpu_results(bool as_int32, gpu_exec const& exec) : as_int32_(as_int32), exec_(exec) {}

  [[nodiscard]] array ids(buffer<vertex_id>&& elements, extents const& shape) const
  {
    if (as_int32_) { return give_gpu<vertex_id, std::int32_t>(std::move(elements), shape, exec_.device, nullptr); }
    buffer<vertex_id> const narrow = std::move(elements);
    buffer<std::int64_t> wide(narrow.size(), memory_of(exec_));
    widen_ids(narrow.data(), 1, narrow.size(), wide.data(), narrow.size(), exec_);
    return give_gpu(std::move(wide), shape, exec_.device, nullptr);
  }
  template <class T>
  [[nodiscard]] array numbers(buffer<T>&& elements, extents shape) const
  {
    return give_gpu(std::move(elements), std::move(shape), exec_.device, nullptr);
  }
  template <class T>
  [[nodiscard]] array edge_index(buffer<T>&& row, buffer<T>&& col) const
  {
    buffer<T> const ends[2] = {std::move(row), std::move(col)};  // freed in the order of the stream
    std::int64_t const size = ends[0].size();
    buffer<std::int64_t> both(2 * size, memory_of(exec_));
    for (int i = 0; i < 2; ++i) {
      if constexpr (sizeof(T) == sizeof(vertex_id)) {  // positions are no ids, but none is what no_vertex is either
        widen_ids(reinterpret_cast<vertex_id const*>(ends[i].data()), 1, size, both.data() + i * size, size, exec_);
      } else {
        copy_on_gpu(ends[i].data(), both.data() + i * size, static_cast<std::size_t>(size) * sizeof(T), exec_);
      }
    }
    return give_gpu(std::move(both), {2, size}, exec_.device, nullptr);
  }
  /// The result, whose arrays hold their elements from here on.
  template <class Result>
  [[nodiscard]] Result finished(Result&& result) const
  {
    mark(result, std::make_shared<gpu_event const>(exec_));
    return std::forward<Result>(result);
  }

 private:
  using event = std::shared_ptr<gpu_event const>;
  static void mark(gpu_array& one, event const& ready) { one.ready = ready; }
  static void mark(std::int64_t, event const&) {}
  template <class T>
  static void mark(std::optional<T>& one, event const& ready)
  {
    if (one) { mark(*one, ready); }
  }
  template <class T>
  static void mark(std::vector<T>& several, event const& ready)
  {
    for (T& one : several) { mark(one, ready); }
  }
  template <class... T>
  static void mark(std::tuple<T...>& several, event const& ready)
  {
    std::apply([&](T&... one) { (mark(one, ready), ...); }, several);
  }

  bool as_int32_;
  gpu_exec exec_;
};

}  // namespace tendril::python
