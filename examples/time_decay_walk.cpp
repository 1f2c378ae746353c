// Walks forward in time: reads the graph that the first argument names (its weights are times), or makes up messages
// between 1,000 people over a day, and prints the first walks. examples/dynamic_walks_gpu.cu runs the same on a GPU.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <numeric>
#include <vector>

#include <tendril/engine/walks/cpu.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/io.hpp>

#include "time_decay_walk.hpp"

namespace {

tendril::graph read_or_generate(int argc, char** argv)
{
  if (argc > 1) { return tendril::read_graph(argv[1]); }
  tendril::er_params params;
  params.num_vertices = 1000;
  params.num_edges = 50'000;
  params.seed = 1;
  tendril::edge_attributes times;
  times.has_weights = true;
  times.weight_min = 0;
  times.weight_max = 86400;  // seconds
  return tendril::generate_er(params, {}, times);
}

void walk_through_time(tendril::graph const& graph)
{
  if (!graph.has_weights()) { throw tendril::argument_error("graph: no weights, expected a time for each edge"); }
  std::vector<tendril::vertex_id> starts(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(starts.begin(), starts.end(), 0U);

  time_decay_walk const walk{.tau = 3600};
  tendril::dynamic_walk_params params;
  params.length = 10;
  params.seed = 42;
  tendril::walks const walks = tendril::run_dynamic_walk(graph, walk, starts, params);

  for (std::int64_t i = 0; i < std::min<std::int64_t>(5, walks.num_walks); ++i) {
    for (std::int32_t t = 0; t <= walks.lengths[i]; ++t) {
      std::cout << (t > 0 ? " -> " : "") << walks.vertices[i * (walks.length + 1) + t];
    }
    std::cout << '\n';
  }
  std::cout << "mean length: "
            << static_cast<double>(std::accumulate(walks.lengths.begin(), walks.lengths.end(), std::int64_t{0})) /
                   static_cast<double>(walks.num_walks)
            << '\n';
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    tendril::graph const graph = read_or_generate(argc, argv);
    if (graph.num_vertices() > 0) { walk_through_time(graph); }
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
