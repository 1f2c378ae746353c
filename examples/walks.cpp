// Random walks from every vertex of a graph: reads the graph that the first argument names, or generates one, takes
// node2vec walks, and prints one of them and the vertices that were visited most; then takes short walks from the
// most visited vertex, and prints where most of them end.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <numeric>
#include <vector>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/io.hpp>
#include <tendril/walk.hpp>

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
  build.drop_self_loops = true;
  return tendril::generate_rmat(params, build);
}

/// The vertex with the largest personalised PageRank of `from`: most walks end there.
void rank_around(tendril::graph const& graph, tendril::vertex_id from)
{
  std::vector<tendril::vertex_id> const starts(10'000, from);
  tendril::walk_params params;
  params.stop_prob = 0.15;  // five or six steps on average, up to 80
  params.seed = 42;
  tendril::walker const walk(graph, params, static_cast<std::int64_t>(starts.size()));
  tendril::ragged_walks const walks = walk.run_ragged(starts, 0);  // no row of 81 for each

  std::vector<std::int64_t> ends(static_cast<std::size_t>(graph.num_vertices()));
  for (std::int64_t i = 0; i < walks.num_walks; ++i) { ++ends[walks.vertices[walks.offsets[i + 1] - 1]]; }
  auto const most = std::max_element(ends.begin(), ends.end());
  std::cout << walks.vertices.size() - walks.num_walks << " steps around vertex " << from << " end most at vertex "
            << most - ends.begin() << ", " << *most << " times\n";
}

void walk_everywhere(tendril::graph const& graph)
{
  std::vector<tendril::vertex_id> starts(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(starts.begin(), starts.end(), 0U);

  tendril::walk_params params;
  params.length = 80;
  params.p = 2;    // seldom straight back
  params.q = 0.5;  // rather away than around
  params.seed = 42;
  tendril::walks const walks = tendril::random_walk(graph, starts, params);

  std::int64_t shown = 0;  // the first that leaves its start: a vertex without edges is a dead end
  while (shown + 1 < walks.num_walks && walks.lengths[shown] == 0) { ++shown; }
  auto const row = shown * (walks.length + 1);
  std::cout << walks.num_walks << " walks of up to " << walks.length << " steps\nwalk " << shown << ':';
  for (std::int64_t i = 0; i <= walks.lengths[shown]; ++i) { std::cout << ' ' << walks.vertices[row + i]; }

  std::vector<std::int64_t> visits(starts.size());
  for (tendril::vertex_id const v : walks.vertices) {
    if (v != tendril::no_vertex) { ++visits[v]; }
  }
  auto const most = std::max_element(visits.begin(), visits.end());
  std::cout << "\nvisited most: vertex " << most - visits.begin() << ", " << *most << " times\n";
  rank_around(graph, static_cast<tendril::vertex_id>(most - visits.begin()));
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    tendril::graph const graph = read_or_generate(argc, argv);
    if (graph.num_vertices() > 0) { walk_everywhere(graph); }
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
