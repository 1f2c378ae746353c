// ClusterGCN: clusters, and batches of them. The rules: src/core/cluster.hpp. GPU twin: src/gpu/subgraphs/cluster.cu.

#include <tendril/cluster.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include <tendril/checked.hpp>

#include "base/memory_room.hpp"  // expect_memory
#include "base/parallel.hpp"     // parallel_ranges
#include "build/metis_library.hpp"
#include "core/cluster.hpp"
#include "cpu/arguments.hpp"
#include "cpu/subgraphs/subgraph.hpp"
#include "samplers/subgraphs/cluster_checks.hpp"

namespace tendril {
namespace {

constexpr std::int64_t items_a_range = 4096;

/// The items 0 to size - 1 in the random order of `key`.
std::vector<vertex_id> random_order(rng_key key, std::int64_t size, cpu_exec const& exec)
{
  struct entry {
    std::uint64_t bits;
    vertex_id item;
  };
  std::vector<entry> entries(static_cast<std::size_t>(size));
  base::parallel_ranges(exec, size, items_a_range, [&](std::int64_t from, std::int64_t to) {
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
      entries[i] = {core::order_bits(key, i), static_cast<vertex_id>(i)};
    }
  });
  std::uint64_t compared = 0;
  std::sort(entries.begin(), entries.end(), [&](entry const& a, entry const& b) {
    constexpr std::uint64_t compared_at_once = 1U << 18U;
    if (++compared % compared_at_once == 0) { base::check_cancel(exec); }  // the sort of many takes seconds
    return a.bits != b.bits ? a.bits < b.bits : a.item < b.item;
  });
  std::vector<vertex_id> out(entries.size());
  std::transform(entries.begin(), entries.end(), out.begin(), [](entry const& e) { return e.item; });
  return out;
}

/// The subgraphs of lists of clusters that are right.
subgraphs induce_lists(graph const& graph, vertex_clusters const& clusters, std::span<vertex_id const> lists,
                       std::span<std::int64_t const> list_offsets, cpu_exec const& exec)
{
  buffer<std::int64_t> node_offsets(static_cast<std::int64_t>(list_offsets.size()), *exec.memory);
  std::vector<std::int64_t> begin(lists.size() + 1);  // of each cluster's vertices
  for (std::size_t k = 0; k < lists.size(); ++k) {
    begin[k + 1] = begin[k] + clusters.offsets[lists[k] + std::int64_t{1}] - clusters.offsets[lists[k]];
  }
  for (std::size_t s = 0; s < list_offsets.size(); ++s) {
    node_offsets[static_cast<std::int64_t>(s)] = begin[static_cast<std::size_t>(list_offsets[s])];
  }
  buffer<vertex_id> nodes(begin.back(), *exec.memory);
  base::parallel_ranges(exec, static_cast<std::int64_t>(lists.size()), 64, [&](std::int64_t from, std::int64_t to) {
    for (auto k = static_cast<std::size_t>(from); k < static_cast<std::size_t>(to); ++k) {
      std::copy_n(clusters.vertices.data() + clusters.offsets[lists[k]], begin[k + 1] - begin[k],
                  nodes.data() + begin[k]);
    }
  });
  return cpu::induce(graph, std::move(nodes), std::move(node_offsets), exec);
}

}  // namespace

buffer<vertex_id> cluster_vertices(graph const& graph, clustering_params const& params, cpu_exec const& exec)
{
  cpu::check_in_host_memory(graph);
  std::int64_t const size = graph.num_vertices();
  samplers::check_clustering(params, size);
  auto const all = static_cast<std::uint64_t>(size);
  auto const wanted = static_cast<std::uint64_t>(params.num_clusters);
  buffer<vertex_id> out(size, *exec.memory);
  switch (params.method) {
    case cluster_method::contiguous:
      for (std::int64_t v = 0; v < size; ++v) { out[v] = core::cluster_at(static_cast<std::uint64_t>(v), wanted, all); }
      break;
    case cluster_method::random: {
      auto const order = random_order(core::clustering_key(params.seed), size, exec);
      for (std::uint64_t rank = 0; rank < all; ++rank) { out[order[rank]] = core::cluster_at(rank, wanted, all); }
      break;
    }
    case cluster_method::metis: {
      auto const parts = build::metis_partition(graph, params.num_clusters, exec);
      std::copy(parts.begin(), parts.end(), out.begin());
      break;
    }
  }
  return out;
}

vertex_clusters group_clusters(std::span<vertex_id const> cluster_of, std::int64_t num_clusters, cpu_exec const& exec)
{
  samplers::check_num_clusters(num_clusters);
  samplers::check_cluster_of(cluster_of, num_clusters);
  base::expect_memory(16 * num_clusters, fmt::format("num_clusters: {} clusters", num_clusters));
  vertex_clusters out{num_clusters, buffer<vertex_id>(static_cast<std::int64_t>(cluster_of.size()), *exec.memory),
                      buffer<std::int64_t>(num_clusters + 1, *exec.memory)};
  std::fill(out.offsets.begin(), out.offsets.end(), std::int64_t{0});
  for (auto const c : cluster_of) { ++out.offsets[c + std::int64_t{1}]; }
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  std::vector<std::int64_t> next(out.offsets.begin(), out.offsets.end());
  for (std::size_t v = 0; v < cluster_of.size(); ++v) {
    out.vertices[next[cluster_of[v]]++] = static_cast<vertex_id>(v);
  }
  return out;
}

subgraphs cluster_sample(graph const& graph, vertex_clusters const& clusters, cluster_params const& params,
                         std::int64_t num_samples, cpu_exec const& exec, std::int64_t first_sample)
{
  cpu::check_in_host_memory(graph);
  auto const cuts = samplers::check_cluster_sample(clusters, graph, params, num_samples, first_sample);
  std::int64_t const last_sample = first_sample + num_samples;
  std::int64_t const first_epoch = cuts.epoch_of(first_sample);
  std::int64_t const begin = cuts.begin_of(first_sample, first_epoch);
  std::int64_t const end = cuts.begin_of(last_sample, first_epoch);
  // Where each sample's clusters, vertices and edges begin, and the clusters.
  base::expect_memory(checked_sum("bytes of samples", checked_product("bytes of samples", num_samples, 24),
                                  checked_product("bytes of clusters", end - begin, sizeof(vertex_id))),
                      fmt::format("num_samples: {} samples in one call", num_samples));
  std::vector<std::int64_t> list_offsets;
  for (std::int64_t i = first_sample; i <= last_sample; ++i) {
    list_offsets.push_back(cuts.begin_of(i, first_epoch) - begin);
  }
  std::vector<vertex_id> lists(static_cast<std::size_t>(end - begin));
  for (std::int64_t epoch = 0; epoch * cuts.num_clusters < end; ++epoch) {
    auto const key = core::epoch_key(params.seed, static_cast<std::uint64_t>(first_epoch + epoch));
    auto const order = random_order(key, cuts.num_clusters, exec);
    for (std::int64_t k = 0; k < cuts.num_clusters; ++k) {
      std::int64_t const at = epoch * cuts.num_clusters + k;
      if (at >= begin && at < end) { lists[static_cast<std::size_t>(at - begin)] = order[static_cast<std::size_t>(k)]; }
    }
  }
  return induce_lists(graph, clusters, lists, list_offsets, exec);
}

subgraphs cluster_subgraphs(graph const& graph, vertex_clusters const& clusters, std::span<vertex_id const> lists,
                            std::span<std::int64_t const> list_offsets, cpu_exec const& exec)
{
  cpu::check_in_host_memory(graph);
  samplers::check_clusters(clusters, graph);
  samplers::check_cluster_lists(lists, list_offsets, clusters.num_clusters);
  return induce_lists(graph, clusters, lists, list_offsets, exec);
}

}  // namespace tendril
