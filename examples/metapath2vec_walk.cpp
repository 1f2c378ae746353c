// Walks author, paper, venue, paper, …: reads the graph that the first argument names, which has vertex types 0 to 2,
// or generates one, and prints the first walks. examples/dynamic_walks_gpu.cu runs the same on a GPU.

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

#include "metapath2vec_walk.hpp"

namespace {

constexpr tendril::label_id author = 0, paper = 1, venue = 2;

tendril::graph read_or_generate(int argc, char** argv)
{
  if (argc > 1) { return tendril::read_graph(argv[1]); }
  tendril::rmat_params params;
  params.scale = 10;
  params.seed = 1;
  tendril::build_options build;
  build.symmetrize = true;
  tendril::edge_attributes types;
  types.num_node_types = 3;
  return tendril::generate_rmat(params, build, types);
}

void walk_by_type(tendril::graph const& graph)
{
  if (!graph.has_node_types()) { throw tendril::argument_error("graph: no vertex types, expected one a vertex"); }
  std::vector<tendril::vertex_id> starts(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(starts.begin(), starts.end(), 0U);

  metapath2vec_walk const walk{{author, paper, venue, paper}, 4};
  tendril::dynamic_walk_params params;
  params.length = 12;
  params.seed = 42;
  tendril::walks const walks = tendril::run_dynamic_walk(graph, walk, starts, params);

  int shown = 0;
  for (std::int64_t i = 0; i < walks.num_walks && shown < 5; ++i) {
    if (walks.lengths[i] == 0) { continue; }  // not an author
    for (std::int32_t t = 0; t <= walks.lengths[i]; ++t) {
      std::cout << (t > 0 ? " -> " : "") << walks.vertices[i * (walks.length + 1) + t];
    }
    std::cout << '\n';
    ++shown;
  }
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    tendril::graph const graph = read_or_generate(argc, argv);
    if (graph.num_vertices() > 0) { walk_by_type(graph); }
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
