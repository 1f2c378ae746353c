// Graphs of several types to a GPU, and the edges of each vertex in order of time there. CPU twins:
// src/graph/hetero_graph.cpp, src/graph/temporal_order.cpp.

#include <tendril/gpu.hpp>
#include <tendril/hetero_graph.hpp>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"
#include "gpu/graph/temporal_order.hpp"
#include "graph/places.hpp"

namespace tendril {
namespace {

template <class T>
shared_array<T> copied(shared_array<T> const& from, gpu_exec const& exec)
{
  buffer<T> to(from.size(), memory_of(exec));
  if (!from.empty()) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(T),
                                     cudaMemcpyDefault, exec.stream));
  }
  return to;
}

temporal_order order(graph const& graph, std::span<std::int64_t const> times, bool of_vertices, gpu_exec const& exec)
{
  buffer<std::int64_t> sorted(graph.num_edges(), memory_of(exec));
  buffer<std::uint32_t> ordinal(graph.num_edges(), memory_of(exec));
  gpu::sort_by_time(graph.view(), times.data(), of_vertices, sorted.data(), ordinal.data(), exec);
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return {std::move(sorted), std::move(ordinal)};
}

}  // namespace

hetero_graph to_gpu(hetero_graph const& graph, gpu_exec const& exec)
{
  if (graph.device() == exec.device) { return graph; }
  gpu::device_guard const guard(exec.device);
  std::vector<edge_type> types;
  for (auto const& type : graph.edge_types()) {
    edge_type there{type.from, type.to, to_gpu(type.edges, exec)};
    if (!type.order.empty()) { there.order = {copied(type.order.times, exec), copied(type.order.ordinal, exec)}; }
    types.push_back(std::move(there));
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return hetero_graph(graph.num_vertices(), std::move(types));
}

temporal_order order_by_time(graph const& graph, std::span<std::int64_t const> edge_times, gpu_exec const& exec)
{
  validation::expect_on_gpu(graph, exec);
  TENDRIL_EXPECTS(std::ssize(edge_times) == graph.num_edges(), "edge_times: {} times, expected one an edge: {}",
                  edge_times.size(), graph.num_edges());
  gpu::device_guard const guard(exec.device);
  return order(graph, edge_times, false, exec);
}

temporal_order order_by_vertex_time(graph const& graph, std::span<std::int64_t const> vertex_times,
                                    gpu_exec const& exec)
{
  validation::expect_on_gpu(graph, exec);
  gpu::device_guard const guard(exec.device);
  auto const wrong = gpu::first_edge_beyond(graph.view(), std::ssize(vertex_times), exec);
  if (wrong.edge >= 0) {
    throw argument_error(fmt::format("vertex_times: {} times, but edge {} leads to vertex {}", vertex_times.size(),
                                     wrong.edge, wrong.target));
  }
  return order(graph, vertex_times, true, exec);
}

}  // namespace tendril
