// The plain interface: node2vec walks, one walk a line.

#include <cstdint>
#include <iostream>
#include <numeric>
#include <vector>

#include <tendril/generate.hpp>
#include <tendril/walk.hpp>

int main()
{
  tendril::graph const graph =
      tendril::generate_rmat({.scale = 8, .seed = 1}, {.symmetrize = true, .drop_duplicates = true});
  std::vector<tendril::vertex_id> starts(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(starts.begin(), starts.end(), 0U);
  tendril::walk_params params;
  params.length = 10;
  params.p = 2;
  params.q = 0.5;
  params.seed = 42;
  tendril::walks const walks = tendril::random_walk(graph, starts, params);
  for (std::int64_t i = 0; i < walks.num_walks; ++i) {
    for (std::int64_t t = 0; t <= walks.lengths[i]; ++t) {
      std::cout << (t > 0 ? " " : "") << walks.vertices[i * (walks.length + 1) + t];
    }
    std::cout << '\n';
  }
}
