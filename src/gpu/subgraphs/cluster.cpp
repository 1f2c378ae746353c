// The front of the GPU's ClusterGCN: checks arguments, allocates, enqueues. CPU twin: src/cpu/subgraphs/cluster.cpp.

#include "gpu/subgraphs/cluster.hpp"

#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>

#include "build/metis_library.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/copy_value.hpp"
#include "gpu/device/host_copies.hpp"
#include "graph/places.hpp"
#include "samplers/subgraphs/cluster_checks.hpp"

namespace tendril {
namespace {

subgraphs induce_lists(graph const& graph, vertex_clusters const& clusters, gpu::sample_sets const& lists,
                       gpu_exec const& exec)
{
  auto sets = gpu::expand_lists(clusters, lists, exec);
  if (sets.lists_are_bad) {
    samplers::check_cluster_lists(gpu::host_copy(lists.nodes, lists.num_nodes),
                                  gpu::host_copy(lists.offsets, lists.num_samples + 1), clusters.num_clusters);
  }
  return gpu::induce(graph, std::move(sets.nodes), std::move(sets.offsets), sets.max_size, false, exec);
}

}  // namespace

buffer<vertex_id> cluster_vertices(graph const& graph, clustering_params const& params, gpu_exec const& exec)
{
  validation::expect_on_gpu(graph, exec);
  samplers::check_clustering(params, graph.num_vertices());
  gpu::device_guard const guard(exec.device);
  buffer<vertex_id> out(graph.num_vertices(), memory_of(exec));
  if (out.empty()) { return out; }
  switch (params.method) {
    case cluster_method::contiguous: gpu::assign_contiguous(params.num_clusters, out, exec); break;
    case cluster_method::random: gpu::assign_random(params.seed, params.num_clusters, out, exec); break;
    case cluster_method::metis: {
      auto const parts = build::metis_partition(to_host(graph, exec), params.num_clusters, cpu_exec{});
      TENDRIL_CUDA_TRY(cudaMemcpyAsync(out.data(), parts.data(), parts.size() * sizeof(vertex_id),
                                       cudaMemcpyHostToDevice, exec.stream));
      TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
      break;
    }
  }
  return out;
}

vertex_clusters group_clusters(std::span<vertex_id const> cluster_of, std::int64_t num_clusters, gpu_exec const& exec)
{
  samplers::check_num_clusters(num_clusters);
  gpu::device_guard const guard(exec.device);
  buffer<unsigned long long> bad(1, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(bad.data(), 0xff, sizeof(unsigned long long), exec.stream));
  gpu::find_bad_cluster(cluster_of, num_clusters, bad.data(), exec.stream);
  if (gpu::value_at(bad.data(), exec) != ~0ULL) {
    samplers::check_cluster_of(gpu::host_copy(cluster_of.data(), static_cast<std::int64_t>(cluster_of.size())),
                               num_clusters);
  }
  return gpu::group(cluster_of, num_clusters, exec);
}

subgraphs cluster_sample(graph const& graph, vertex_clusters const& clusters, cluster_params const& params,
                         std::int64_t num_samples, gpu_exec const& exec, std::int64_t first_sample)
{
  validation::expect_on_gpu(graph, exec);
  auto const cuts = samplers::check_cluster_sample(clusters, graph, params, num_samples, first_sample);
  gpu::device_guard const guard(exec.device);
  gpu::cluster_lists lists;
  if (num_samples > 0) {
    lists = gpu::epoch_lists(cuts, params.seed, first_sample, num_samples, exec);
  } else {
    lists.offsets = buffer<std::int64_t>(1, memory_of(exec));
    TENDRIL_CUDA_TRY(cudaMemsetAsync(lists.offsets.data(), 0, sizeof(std::int64_t), exec.stream));
  }
  return induce_lists(graph, clusters,
                      {num_samples, lists.clusters.size(), lists.clusters.data(), lists.offsets.data()}, exec);
}

subgraphs cluster_subgraphs(graph const& graph, vertex_clusters const& clusters, std::span<vertex_id const> lists,
                            std::span<std::int64_t const> list_offsets, gpu_exec const& exec)
{
  validation::expect_on_gpu(graph, exec);
  samplers::check_clusters(clusters, graph);
  if (list_offsets.empty()) { samplers::check_cluster_lists({}, {}, clusters.num_clusters); }
  gpu::device_guard const guard(exec.device);
  gpu::sample_sets const sets{static_cast<std::int64_t>(list_offsets.size()) - 1,
                              static_cast<std::int64_t>(lists.size()), lists.data(), list_offsets.data()};
  return induce_lists(graph, clusters, sets, exec);
}

}  // namespace tendril
