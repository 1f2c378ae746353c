// Walks that a stream counts are those that it would have written, whatever the threads and batches, and whatever they go by.

#include <tendril/walk_stream.hpp>

#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "support/messages.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_counts.hpp"

namespace tendril::test {
namespace {

TEST(WalkCounts, AreThoseOfRows)
{
  graph const g = make_zoo(1);
  auto const starts = starts_everywhere(g, unless_sanitized(9, 2));
  for (auto const& app : all_applications(23)) {
    walker const walk(g, app.params, std::ssize(starts));
    counted_walks const expected = counts_of(rows_of(walk.run(starts, 0xfffffff0LL)), g.num_vertices());
    for (std::int64_t const bytes : {20'000L, 0L}) {
      for (int const threads : {1, 3}) {
        counted_walks made(g.num_vertices());
        walk_stream_job job = counting_job(starts, 0xfffffff0LL, made.all());
        job.batch_bytes = bytes;
        cpu_exec exec;
        exec.num_threads = threads;
        auto const report = stream_walks(walk, job, exec);
        EXPECT_EQ(made, expected) << app.name << ", " << bytes << " bytes, " << threads << " threads";
        EXPECT_EQ(report.num_walks, std::ssize(starts));
        EXPECT_EQ(std::accumulate(made.visits.begin(), made.visits.end(), std::int64_t{0}),
                  report.steps + report.num_walks);
        EXPECT_EQ(std::accumulate(made.ends.begin(), made.ends.end(), std::int64_t{0}), report.num_walks);
      }
    }
  }
}

TEST(WalkCounts, OfWalksByRegions)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 8, .seed = 2}, {}, {});
  auto const starts = starts_everywhere(g, 2);
  walker const walk(g, {.length = 20}, std::ssize(starts));
  counted_walks made(g.num_vertices());
  walk_stream_job job = counting_job(starts, 0, made.all());
  job.graph_bytes = 1 << 16;
  (void)stream_walks(walk, job, cpu_exec{});
  EXPECT_EQ(made, counts_of(rows_of(walk.run(starts, 0)), g.num_vertices()));
}

TEST(WalkCounts, AreAddedToWhatIsThere)
{
  graph const g = make_zoo(2);
  auto const starts = starts_everywhere(g, 1);
  walker const walk(g, {.length = 7}, std::ssize(starts));
  counted_walks once(g.num_vertices()), twice(g.num_vertices());
  (void)stream_walks(walk, counting_job(starts, 0, once.all()), cpu_exec{});
  for (int k = 0; k < 2; ++k) { (void)stream_walks(walk, counting_job(starts, 0, twice.all()), cpu_exec{}); }
  for (std::int64_t& n : once.visits) { n *= 2; }
  for (std::int64_t& n : once.ends) { n *= 2; }
  EXPECT_EQ(twice, once);
  // One of the two alone.
  counted_walks visits(g.num_vertices());
  (void)stream_walks(walk, counting_job(starts, 0, {.visits = visits.visits}), cpu_exec{});
  (void)stream_walks(walk, counting_job(starts, 0, {.visits = visits.visits}), cpu_exec{});
  EXPECT_EQ(visits.visits, twice.visits);
  EXPECT_EQ(visits.ends, std::vector<std::int64_t>(static_cast<std::size_t>(g.num_vertices())));
}

TEST(WalkCounts, EndWithMonteCarloPageRank)
{
  // Avrachenkov et al., SIAM J. Numer. Anal. 45(2), 2007: walks that stop with probability 1 - c before each step, one from each
  // start equally often, end at a vertex with its PageRank. On a complete graph all are equal.
  constexpr std::int64_t n = 20, walks_each = 4000;
  graph const g = generate_regular(regular_graph::complete, n, {}, {});
  walker const walk(g, {.length = 200, .stop_prob = 0.15, .seed = 5}, n * walks_each);
  counted_walks made(n);
  walk_stream_job job{.num_walks = n * walks_each, .starts = every_vertex(walks_each)};
  job.counts = made.all();
  (void)stream_walks(walk, job, cpu_exec{});
  double chi = 0;
  for (std::int64_t const ends : made.ends) {
    double const away = static_cast<double>(ends - walks_each);
    chi += away * away / static_cast<double>(walks_each);
  }
  EXPECT_LT(chi, 43.8);  // of 19 degrees of freedom more in one of 1,000
}

TEST(WalkCounts, NameWhatIsWrong)
{
  graph const g = make_zoo(2);
  auto const starts = starts_everywhere(g, 1);
  walker const walk(g, {.length = 7}, 1);
  auto const said = [&](std::function<void(walk_stream_job&)> const& spoil) {
    counted_walks made(g.num_vertices());
    walk_stream_job job = counting_job(starts, 0, made.all());
    spoil(job);
    return message_of<argument_error>([&] { (void)stream_walks(walk, job, cpu_exec{}); });
  };
  std::vector<std::int64_t> few(3);
  EXPECT_EQ(said([&](auto& job) { job.counts->visits = few; }),
            "visits: 3 counts, expected " + std::to_string(g.num_vertices()) + ", one a vertex");
  EXPECT_EQ(said([&](auto& job) { job.counts->ends = few; }),
            "ends: 3 counts, expected " + std::to_string(g.num_vertices()) + ", one a vertex");
  EXPECT_EQ(said([&](auto& job) { job.sink = [](walk_rows const&) {}; }),
            "walk_stream_job: 2 of sink, ragged_sink and counts, expected one of them");
  EXPECT_EQ(said([&](auto& job) { job.ragged_sink = [](ragged_rows const&) {}; }),
            "walk_stream_job: 2 of sink, ragged_sink and counts, expected one of them");
  counted_walks made(g.num_vertices());
  walk_stream_job job = counting_job(starts, 0, made.all());
  EXPECT_EQ(message_of<argument_error>([&] { (void)stream_multidim_walks(g, 2, {.length = 3}, job, cpu_exec{}); }),
            "counts: multi-dimensional walks are rows, expected sink");
}

}  // namespace
}  // namespace tendril::test
