// An engine compiled with a struct of the user's own: prints the walks' digest.

#include <iostream>
#include <numeric>
#include <vector>

#include <tendril/engine/walks/cpu.hpp>
#include <tendril/generate.hpp>

#include "rounding_walk.hpp"

int main()
{
  tendril::graph const graph = tendril::generate_rmat({.scale = 12}, {.symmetrize = true}, {.has_weights = true});
  std::vector<tendril::vertex_id> starts(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(starts.begin(), starts.end(), 0U);
  tendril::walks const walks = tendril::run_dynamic_walk(graph, rounding_walk{}, starts, rounding_params());
  std::cout << std::hex << digest(walks.vertices.data(), walks.vertices.size()) << '\n';
}
