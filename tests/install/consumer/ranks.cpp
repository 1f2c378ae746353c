// Ranks of MPI walk on a graph of which each has a part.

#include <cstdint>
#include <cstdio>
#include <span>

#include <tendril/generate.hpp>
#include <tendril/mpi.hpp>
#include <tendril/partition.hpp>
#include <tendril/sharded_walk.hpp>

int main()
{
  tendril::mpi_session session;
  tendril::transport& ranks = session.ranks();
  tendril::graph const whole =
      tendril::generate_rmat({.scale = 8, .edge_factor = 8, .seed = 1}, {.symmetrize = true}, {});
  tendril::sharded_walker walk(tendril::part_of(whole, {.num_parts = ranks.size()}, ranks.rank()), {.length = 10}, 100,
                               ranks);
  std::int64_t sum = 0;
  tendril::walk_stream_job job;
  job.num_walks = ranks.rank() == 0 ? 256 : 0;
  job.starts = [](std::int64_t first, std::span<tendril::vertex_id> into) {
    for (tendril::vertex_id& start : into) { start = static_cast<tendril::vertex_id>(first++); }
  };
  job.sink = [&](tendril::walk_rows const& rows) {
    for (tendril::vertex_id const v : rows.vertices) { sum += v; }
  };
  (void)walk.stream(job);
  sum = ranks.all_reduce("a sum", sum, tendril::reduction::sum);
  if (ranks.rank() == 0) { std::printf("%d ranks: %lld\n", ranks.size(), static_cast<long long>(sum)); }
}
