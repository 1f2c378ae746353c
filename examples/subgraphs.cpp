// Batches for GNNs as subgraphs: reads the graph that the first argument names, or generates one, and prints the sizes of
// a ClusterGCN batch, of ShaDow's neighbourhoods and of a GraphSAINT sample with its coefficients.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include <tendril/cluster.hpp>
#include <tendril/generate.hpp>
#include <tendril/io.hpp>
#include <tendril/saint.hpp>
#include <tendril/shadow.hpp>

namespace {

tendril::graph read_or_generate(int argc, char** argv)
{
  if (argc > 1) { return tendril::read_graph(argv[1]); }
  tendril::rmat_params params;
  params.scale = 12;
  params.seed = 1;
  tendril::build_options build;
  build.symmetrize = true;
  build.drop_duplicates = true;
  return tendril::generate_rmat(params, build, {});
}

void show(char const* what, tendril::subgraphs const& samples)
{
  std::cout << what << ": " << samples.num_samples << " subgraphs, " << samples.nodes.size() << " vertices, "
            << samples.edges.size() << " edges\n";
}

void sample_clusters(tendril::graph const& graph)
{
  tendril::clustering_params clustering;
  clustering.num_clusters = std::max<std::int64_t>(1, graph.num_vertices() / 50);
  clustering.method = tendril::cluster_method::random;  // metis, where its library is installed
  auto const cluster_of = tendril::cluster_vertices(graph, clustering);
  auto const clusters = tendril::group_clusters(cluster_of.span(), clustering.num_clusters);

  tendril::cluster_params params;
  params.clusters_per_sample = 20;
  params.seed = 42;
  std::int64_t const epoch = tendril::samples_per_epoch(clusters.num_clusters, params);
  show("an epoch of ClusterGCN", tendril::cluster_sample(graph, clusters, params, epoch));
}

void sample_neighbourhoods(tendril::graph const& graph)
{
  std::vector<tendril::vertex_id> seeds;
  std::int64_t const count = std::min<std::int64_t>(graph.num_vertices(), 256);
  for (std::int64_t i = 0; i < count; ++i) { seeds.push_back(static_cast<tendril::vertex_id>(i)); }

  tendril::shadow_params params;
  params.depth = 2;
  params.num_neighbors = 10;
  show("ShaDow", tendril::shadow_sample(graph, seeds, params));
}

void sample_walks(tendril::graph const& graph)
{
  tendril::saint_params params;
  params.sampler = tendril::saint_sampler::walk;
  params.budget = 300;  // roots
  params.length = 2;
  auto const coefficients = tendril::saint_normalization(graph, params, 50);
  auto const samples = tendril::saint_sample(graph, params, 1, {}, 50);  // one that was not counted

  double weight = 0;  // of the batch: each vertex counts for those like it that are not there
  for (auto const v : samples.nodes) {
    if (coefficients.loss[v] > 0) { weight += 1 / coefficients.loss[v]; }
  }
  show("GraphSAINT", samples);
  std::cout << "its vertices stand for about " << weight << " of " << graph.num_vertices() << '\n';
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    auto const graph = read_or_generate(argc, argv);
    sample_clusters(graph);
    sample_neighbourhoods(graph);
    sample_walks(graph);
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
