// Walks on a graph in four parts. The ranks are threads here; with <tendril/mpi.hpp> they are processes on several machines.

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include <tendril/generate.hpp>
#include <tendril/partition.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/transport.hpp>
#include <tendril/walk.hpp>

int main()
{
  constexpr int num_ranks = 4;
  tendril::graph const whole = tendril::generate_regular(tendril::regular_graph::ring, 1000, 2);
  tendril::walk_params const params{.length = 10, .p = 2, .q = 0.5};

  // Each rank asks for walks of its own: 25 from vertex 500.
  std::vector<tendril::vertex_id> const starts(25, 500);
  std::vector<tendril::vertex_id> ends(starts.size() * num_ranks);
  tendril::run_ranks(num_ranks, [&](tendril::transport& ranks) {
    tendril::graph_part part = tendril::part_of(whole, {.num_parts = num_ranks}, ranks.rank());
    tendril::sharded_walker walk(std::move(part), params, 100, ranks);
    tendril::walks const made = walk.run(starts, 25 * ranks.rank());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      ends[starts.size() * static_cast<std::size_t>(ranks.rank()) + i] =
          made.vertices[static_cast<std::int64_t>(i) * 11 + 10];
    }
  });

  // The same walks on the whole graph.
  std::vector<tendril::vertex_id> const all(100, 500);
  tendril::walks const expected = tendril::random_walk(whole, all, params);
  std::int64_t equal = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    equal += ends[static_cast<std::size_t>(i)] == expected.vertices[i * 11 + 10];
  }
  std::printf("%lld of 100 walks end where they end on the whole graph\n", static_cast<long long>(equal));
  return equal == 100 ? 0 : 1;
}
