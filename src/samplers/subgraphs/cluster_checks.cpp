#include "samplers/subgraphs/cluster_checks.hpp"

#include "base/expects.hpp"                        // TENDRIL_EXPECTS
#include "samplers/subgraphs/subgraph_checks.hpp"  // check_cuts

namespace tendril::samplers {

void check_clustering(clustering_params const& params, std::int64_t num_vertices)
{
  TENDRIL_EXPECTS(params.num_clusters >= 1 && (params.num_clusters <= num_vertices || num_vertices == 0),
                  "num_clusters: {}, expected 1 to the number of vertices, {}", params.num_clusters, num_vertices);
}

void check_num_clusters(std::int64_t num_clusters)
{
  TENDRIL_EXPECTS(num_clusters >= 0 && num_clusters <= max_num_vertices, "num_clusters: {}, expected 0 to {}",
                  num_clusters, max_num_vertices);
}

void check_cluster_of(std::span<vertex_id const> cluster_of, std::int64_t num_clusters)
{
  for (std::size_t v = 0; v < cluster_of.size(); ++v) {
    TENDRIL_EXPECTS(cluster_of[v] < num_clusters, "vertex {}: cluster {} is out of range, there are {} clusters", v,
                    cluster_of[v], num_clusters);
  }
}

void check_clusters(vertex_clusters const& clusters, graph const& graph)
{
  TENDRIL_EXPECTS(
      clusters.vertices.size() == graph.num_vertices() && clusters.offsets.size() == clusters.num_clusters + 1,
      "clusters: {} clusters of {} vertices, expected clusters of the graph's {} vertices", clusters.num_clusters,
      clusters.vertices.size(), graph.num_vertices());
}

core::epoch_cuts check_cluster_sample(vertex_clusters const& clusters, graph const& graph, cluster_params const& params,
                                      std::int64_t num_samples, std::int64_t first_sample)
{
  check_clusters(clusters, graph);
  TENDRIL_EXPECTS(params.clusters_per_sample >= 1, "clusters_per_sample: {}, expected 1 or more",
                  params.clusters_per_sample);
  check_sample_numbers(num_samples, first_sample);
  TENDRIL_EXPECTS(clusters.num_clusters > 0 || num_samples == 0, "clusters: there is none, expected one at least");
  std::int64_t const samples = samples_per_epoch(clusters.num_clusters, params);
  return {clusters.num_clusters, params.clusters_per_sample, samples > 0 ? samples : 1};
}

void check_cluster_lists(std::span<vertex_id const> lists, std::span<std::int64_t const> list_offsets,
                         std::int64_t num_clusters)
{
  check_cuts("list_offsets", "clusters in the lists", list_offsets, static_cast<std::int64_t>(lists.size()));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    TENDRIL_EXPECTS(lists[i] < num_clusters, "list element {}: cluster {} is out of range, there are {} clusters", i,
                    lists[i], num_clusters);
  }
}

}  // namespace tendril::samplers
