// An epoch of mini-batches for a GraphSAGE-like model: reads the graph that the first argument names, or generates one,
// samples (15, 10, 5) neighbours of every seed in batches of 256, and prints what the batches hold. Then one batch by
// HGSampling of a graph of two types.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <numeric>
#include <vector>

#include <tendril/generate.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/hgt.hpp>
#include <tendril/io.hpp>
#include <tendril/minibatch.hpp>

namespace {

tendril::graph read_or_generate(int argc, char** argv)
{
  if (argc > 1) { return tendril::read_graph(argv[1]); }
  tendril::powerlaw_params params;
  params.num_vertices = 10000;
  params.max_degree = 1000;
  params.min_degree = 4;
  params.seed = 1;
  return tendril::generate_powerlaw(params, {});
}

void sample_an_epoch(tendril::graph const& graph)
{
  std::vector<tendril::vertex_id> seeds(static_cast<std::size_t>(std::min<std::int64_t>(graph.num_vertices(), 1000)));
  std::iota(seeds.begin(), seeds.end(), tendril::vertex_id{0});

  tendril::minibatch_params params;
  params.num_neighbors = {15, 10, 5};
  params.seed = 42;
  tendril::minibatch_sampler sampler(tendril::hetero_graph(graph), params);

  // Of one vertex type and one edge type, number 0 each.
  for (tendril::minibatch const& batch : sampler.sample_batches(0, seeds, 256)) {
    tendril::minibatch_vertices const& vertices = batch.vertices[0];
    tendril::minibatch_edges const& edges = batch.edges[0];
    std::cout << vertices.num_sampled[0] << " seeds, " << vertices.node.size() << " vertices, " << edges.row.size()
              << " edges:";
    for (std::int64_t const count : edges.num_sampled) { std::cout << ' ' << count; }
    std::cout << '\n';
  }
}

/// The graph's edges lead from papers (type 0) to authors (type 1), and back.
void sample_two_types(tendril::graph const& graph)
{
  std::int64_t const count = graph.num_vertices();
  tendril::hetero_graph const typed({count, count}, {{0, 1, graph, {}}, {1, 0, graph, {}}});
  std::vector<tendril::vertex_id> const papers = {0};

  tendril::hgt_params budget;
  budget.num_samples = {{64, 64}, {32, 32}};  // two hops, of each vertex type
  tendril::minibatch const dense = tendril::hgt_sample(typed, {{papers, {}}}, budget);

  std::cout << "HGSampling: " << dense.vertices[0].node.size() << " papers, " << dense.vertices[1].node.size()
            << " authors, " << dense.edges[0].row.size() + dense.edges[1].row.size() << " edges\n";
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    tendril::graph const graph = read_or_generate(argc, argv);
    sample_an_epoch(graph);
    sample_two_types(graph);
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
