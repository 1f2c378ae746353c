#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>

#include <tendril/minibatch.hpp>

#include "arrays.hpp"
#include "gpu.hpp"
#include "results.hpp"

namespace tendril::python {

/// Vertices of one type: ids, the tree of each (disjoint), how many a hop.
template <class Array>
using batch_vertices = std::tuple<Array, std::optional<Array>, std::vector<std::int64_t>>;

/// Edges of one type: row, col, positions, weights (of LABOR), indptr (where there is one), the first vertex that each hop expands, how many it
/// expands, edges sampled a hop.
template <class Array>
using batch_edges = std::tuple<Array, Array, Array, std::optional<Array>, std::optional<Array>,
                               std::vector<std::int64_t>, std::vector<std::int64_t>, std::vector<std::int64_t>>;

template <class Array>
using batch_out = std::tuple<std::vector<batch_vertices<Array>>, std::vector<batch_edges<Array>>>;

/// An array of a batch as NumPy's: a part of memory that the batches of one call share, and that nobody else reads.
template <class T, class As = T>
[[nodiscard]] array_out give_shared(shared_array<T> const& array)
{
  static_assert(sizeof(T) == sizeof(As));
  using handle = std::shared_ptr<void const>;
  auto owned = std::make_unique<handle>(array.owner());
  nb::capsule const capsule(owned.get(), [](void* p) noexcept { delete static_cast<handle*>(p); });
  (void)owned.release();
  auto const extent = static_cast<std::size_t>(array.size());
  return make_array(const_cast<As*>(reinterpret_cast<As const*>(array.data())), 1, &extent, capsule);
}

/// The same as a GPU's.
template <class T, class As = T>
[[nodiscard]] gpu_array give_gpu_shared(shared_array<T> const& array, int device)
{
  static_assert(sizeof(T) == sizeof(As));
  return {array.owner(), const_cast<T*>(array.data()), nb::dtype<As>(), {array.size()}, {1}, device, nullptr};
}

/// Hands the arrays of batches in host memory to NumPy. Needs the GIL.
class host_batches {
 public:
  using array = array_out;

  host_batches(bool as_int32, int num_threads) : as_int32_(as_int32), num_threads_(num_threads) {}

  [[nodiscard]] array ids(shared_array<vertex_id> const& elements) const
  {
    if (as_int32_) { return give_shared<vertex_id, std::int32_t>(elements); }
    buffer<std::int64_t> wide(elements.size());
    widen(elements.data(), wide.data(), elements.size(), num_threads_);
    return give(std::move(wide), {elements.size()});
  }
  template <class T>
  [[nodiscard]] array numbers(shared_array<T> const& elements) const
  {
    return give_shared(elements);
  }

 private:
  bool as_int32_;
  int num_threads_;
};

/// Hands the arrays of batches in GPU memory on. Needs no GIL, enqueues, doesn't synchronise.
class gpu_batches {
 public:
  using array = gpu_array;

  gpu_batches(bool as_int32, gpu_exec const& exec) : as_int32_(as_int32), exec_(exec) {}

  [[nodiscard]] array ids(shared_array<vertex_id> const& elements) const
  {
    if (as_int32_) { return give_gpu_shared<vertex_id, std::int32_t>(elements, exec_.device); }
    buffer<std::int64_t> wide(elements.size(), memory_of(exec_));
    widen_ids(elements.data(), 1, elements.size(), wide.data(), elements.size(), exec_);
    return give_gpu(std::move(wide), {elements.size()}, exec_.device, nullptr);
  }
  template <class T>
  [[nodiscard]] array numbers(shared_array<T> const& elements) const
  {
    return give_gpu_shared(elements, exec_.device);
  }

 private:
  bool as_int32_;
  gpu_exec exec_;
};

/// Whether the edges of batches have weights.
[[nodiscard]] inline bool has_weights(minibatch_params const& params)
{
  return params.choice == neighbor_choice::labor && params.subgraph == subgraph_type::directional;
}

/// @param params  Of the sampler: they tell which arrays there are, even if they are empty.
template <class Results>
[[nodiscard]] batch_out<typename Results::array> give_batch(minibatch const& made, minibatch_params const& params,
                                                            Results const& results)
{
  using array = typename Results::array;
  batch_out<array> out;
  auto& [vertices, edges] = out;
  for (minibatch_vertices const& type : made.vertices) {
    std::optional<array> batch;
    if (params.disjoint) { batch = results.numbers(type.batch); }
    vertices.emplace_back(results.ids(type.node), std::move(batch), type.num_sampled);
  }
  for (minibatch_edges const& type : made.edges) {
    std::optional<array> weights, indptr;
    if (has_weights(params)) { weights = results.numbers(type.weights); }
    if (!type.indptr.empty()) { indptr = results.numbers(type.indptr); }
    edges.emplace_back(results.numbers(type.row), results.numbers(type.col), results.numbers(type.edge),
                       std::move(weights), std::move(indptr), type.first_expanded, type.num_expanded, type.num_sampled);
  }
  return out;
}

}  // namespace tendril::python
