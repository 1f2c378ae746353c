// k-hop neighbourhoods as a GraphSAGE-like model wants them: reads the graph that the first argument names, or
// generates one, samples (25, 10) neighbours of 1,024 seeds, and prints what each hop holds.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include <tendril/generate.hpp>
#include <tendril/io.hpp>
#include <tendril/sample.hpp>

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

void sample_neighbourhoods(tendril::graph const& graph)
{
  std::vector<tendril::vertex_id> seeds;
  std::int64_t const count = std::min<std::int64_t>(graph.num_vertices(), 1024);
  for (std::int64_t i = 0; i < count; ++i) { seeds.push_back(static_cast<tendril::vertex_id>(i)); }

  tendril::khop_params params;
  params.fanouts = {25, 10};
  params.seed = 42;
  tendril::khop_trees const trees = tendril::khop_sample(graph, seeds, params);

  std::cout << trees.num_roots << " roots\n";
  for (tendril::tree_hop const& hop : trees.hops) {
    auto const empty = std::count(hop.vertices.begin(), hop.vertices.end(), tendril::no_vertex);
    std::cout << "fan-out " << hop.fanout << ": " << hop.vertices.size() - empty << " neighbours in "
              << hop.vertices.size() << " slots\n";
  }
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    sample_neighbourhoods(read_or_generate(argc, argv));
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
