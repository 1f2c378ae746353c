// A walk of one's own on a graph in three parts: a struct decides the steps, wherever its walker is. The ranks are threads here; with
// <tendril/mpi.hpp> they are processes on several machines.

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include <tendril/engine/walks/cpu.hpp>
#include <tendril/engine/walks/parts_cpu.hpp>
#include <tendril/generate.hpp>
#include <tendril/partition.hpp>
#include <tendril/transport.hpp>

/// Doesn't turn back, and would rather go to vertices of small numbers.
struct downhill_walk {
  TENDRIL_HD float weight(auto const& s, auto const& e) const
  {
    return e.target() == s.previous ? 0.0F : e.target() < s.vertex ? 4.0F : 1.0F;
  }
};

int main()
{
  constexpr int num_ranks = 3;
  tendril::graph const whole = tendril::generate_rmat({.scale = 10, .edge_factor = 8, .seed = 1}, {.symmetrize = true});
  tendril::dynamic_walk_params const params{.length = 20};

  // Each rank asks for walks of its own: 50 from vertex 7.
  std::vector<tendril::vertex_id> const starts(50, 7);
  std::vector<tendril::vertex_id> made(starts.size() * num_ranks * 21);
  tendril::run_ranks(num_ranks, [&](tendril::transport& ranks) {
    tendril::graph_part part = tendril::part_of(whole, {.num_parts = num_ranks}, ranks.rank());
    tendril::sharded_walker walk(std::move(part), tendril::part_walk_of(downhill_walk{}), params, ranks);
    tendril::walks const mine = walk.run(starts, 50 * ranks.rank());
    std::copy(mine.vertices.begin(), mine.vertices.end(), made.begin() + 50 * 21 * ranks.rank());
  });

  // The same walks on the whole graph.
  std::vector<tendril::vertex_id> const all(150, 7);
  tendril::walks const expected = tendril::run_dynamic_walk(whole, downhill_walk{}, all, params);
  bool const equal = std::equal(made.begin(), made.end(), expected.vertices.begin(), expected.vertices.end());
  std::printf("150 walks of 3 ranks are %s on the whole graph\n", equal ? "those" : "not those");
  return equal ? 0 : 1;
}
