// A batch for a GCN that is trained with LADIES: reads the graph that the first argument names, or generates one, samples
// two layers for 64 roots, and multiplies the features of the first layer by its coefficients.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include <tendril/generate.hpp>
#include <tendril/io.hpp>
#include <tendril/layers.hpp>

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

/// The mean of x over the neighbours of each root, estimated from the sampled ones: rows of Q x.
std::vector<double> aggregate(tendril::layer_samples const& layers, std::vector<double> const& x)
{
  std::vector<double> out(static_cast<std::size_t>(layers.batch_size), 0);
  for (std::int64_t k = layers.edge_offsets[0]; k < layers.edge_offsets[1]; ++k) {  // sample 0, layer 0
    tendril::vertex_id const u = layers.vertices[layers.col[k]];
    out[static_cast<std::size_t>(layers.row[k])] += static_cast<double>(layers.coefficients[k]) * x[u];
  }
  return out;
}

void sample_layers(tendril::graph const& graph)
{
  std::vector<tendril::vertex_id> roots;
  std::int64_t const count = std::min<std::int64_t>(graph.num_vertices(), 64);
  for (std::int64_t i = 0; i < count; ++i) { roots.push_back(static_cast<tendril::vertex_id>(i)); }

  tendril::ladies_params params;
  params.num_layers = 2;
  params.layer_size = 256;
  params.seed = 42;
  auto const layers = tendril::ladies_sample(graph, roots, count, params);

  for (std::int64_t l = 0; l < layers.num_layers; ++l) {
    std::cout << "layer " << l << ": " << layers.edge_offsets[l + 1] - layers.edge_offsets[l] << " edges to "
              << layers.layer_size << " vertices\n";
  }
  std::vector<double> const ones(static_cast<std::size_t>(graph.num_vertices()), 1);
  auto const means = aggregate(layers, ones);  // normalised rows: 1 for every root that has a sampled neighbour
  std::cout << std::count_if(means.begin(), means.end(), [](double m) { return m > 0.5; })
            << " roots have a sampled neighbour\n";
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    sample_layers(read_or_generate(argc, argv));
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
