// Streams of ragged walks on the GPU are the CPU's, to the byte and in order, for any batches and lengths, and for walks
// that need more room than was foreseen; what a stage throws comes out, and the GPU can be used afterwards.

#include <stdexcept>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/walk_stream.hpp>

#include "support/collected_walks.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t max_length = 2147483646;

/// Memory that lets slices of walks with so much room hold `size` of them.
constexpr std::int64_t bytes_for(std::int64_t size, std::int64_t room)
{
  return size * (4 * (room + 1) + 4 + 2 * (4 * (room + 1) + 12));
}

class RaggedStream : public gpu_test {
 protected:
  /// The error of a job on a small graph, after which the same walker makes a good one.
  template <class Error>
  std::string error(std::function<void(walk_stream_job&)> const& spoil)
  {
    walker const walk(to_gpu(make_zoo(3), exec), {.length = 9}, 1, exec);
    collected_ragged ignored;
    walk_stream_job job{.num_walks = 60'000,
                        .starts = every_vertex(1000),
                        .ragged_sink = ignored.sink(),
                        .batch_bytes = bytes_for(151, 9)};
    auto const good = job;
    spoil(job);
    std::string const message = message_of<Error>([&] { (void)stream_walks(walk, job, exec); });
    ignored = {};
    EXPECT_EQ(stream_walks(walk, good, exec).num_walks, 60'000);
    return message;
  }
};

TEST_F(RaggedStream, IsTheCpusWalksInBatchesOfAnySize)
{
  graph const g = make_zoo(1);
  graph const there = to_gpu(g, exec);
  auto const starts = starts_everywhere(g, 9);
  auto const n = std::ssize(starts);
  int compared = 0;
  for (auto const& app : all_applications(23)) {
    if (app.params.dead_ends != dead_end::stop) { continue; }
    walker const walk(there, app.params, n, exec);
    ragged const expected = ragged_of(walker(g, app.params, n).run_ragged(starts, 0xfffffff0LL));
    for (std::int64_t const size : {1, 7, 100, 1'000'000}) {
      if (size < 100 && compared > 0) { continue; }  // one application is enough
      collected_ragged out;
      auto const report = stream_walks(walk,
                                       {.num_walks = n,
                                        .first_walk = 0xfffffff0LL,  // logical ids cross 2^32
                                        .starts = starts_from(starts, 1),
                                        .ragged_sink = out.sink(),
                                        .batch_bytes = bytes_for(size, 23)},
                                       exec);
      ASSERT_EQ(out.walks, expected) << app.name << ", " << size;
      EXPECT_EQ(report.steps, std::ssize(expected.vertices) - n);
      EXPECT_EQ(report.num_batches, out.calls);
      EXPECT_LE(report.batch_bytes, bytes_for(size, 23));
      EXPECT_EQ(report.copied_bytes, 4 * std::ssize(expected.vertices) + 8 * (n + report.num_batches));
    }
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST_F(RaggedStream, OfManyWalksIsCutByItself)
{
  graph const g = generate_rmat({.scale = 14, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  walk_params const params{.length = max_length, .stop_prob = 0.2};
  std::int64_t const n = 40 * g.num_vertices();
  std::vector<vertex_id> starts(static_cast<std::size_t>(n));
  every_vertex(40)(0, starts);
  ragged const expected = ragged_of(walker(g, params, 1).run_ragged(starts, 0));
  collected_ragged out;
  auto const report = stream_walks(walker(to_gpu(g, exec), params, 1, exec),
                                   {.num_walks = n, .starts = every_vertex(40), .ragged_sink = out.sink()}, exec);
  EXPECT_EQ(out.walks, expected);
  EXPECT_GE(report.num_batches, 16);
  EXPECT_LT(report.batch_bytes, std::int64_t{1} << 30);
  EXPECT_GT(report.walk_seconds, 0);
}

TEST_F(RaggedStream, GetsMoreRoomWhereWalksNeedIt)
{
  vertex_id const n = 40'000;
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v + 1 < n; ++v) { edges.push_back({v, v + 1}); }
  graph const path = make_graph(n, edges);
  std::vector<vertex_id> starts;
  for (vertex_id i = 0; i < 30; ++i) { starts.push_back(i % 3 == 0 ? 1000 * i : n - 1 - i); }
  walker const walk(to_gpu(path, exec), {.length = max_length}, 1, exec);
  ragged const expected = ragged_of(walker(path, {.length = max_length}, 1).run_ragged(starts, 0));
  for (std::int64_t const size : {1, 2, 10, 0}) {
    collected_ragged out;
    (void)stream_walks(walk,
                       {.num_walks = std::ssize(starts),
                        .starts = starts_from(starts, 1),
                        .ragged_sink = out.sink(),
                        .batch_bytes = bytes_for(size, 1 << 16)},
                       exec);
    EXPECT_EQ(out.walks, expected) << size;
  }
}

TEST_F(RaggedStream, GivesWhatAStageThrows)
{
  EXPECT_EQ(error<std::runtime_error>([](walk_stream_job& job) {
              job.starts = [](std::int64_t first, std::span<vertex_id> starts) {
                if (first > 1000) { throw std::runtime_error("no more starts"); }
                every_vertex(1000)(first, starts);
              };
            }),
            "no more starts");
  EXPECT_EQ(error<std::runtime_error>([](walk_stream_job& job) {
              job.ragged_sink = [](ragged_rows const& rows) {
                if (rows.first > 1000) { throw std::runtime_error("disk full"); }
              };
            }),
            "disk full");
  EXPECT_EQ(error<std::runtime_error>([](walk_stream_job& job) {
              job.on_progress = [](progress const&) { throw std::runtime_error("cancelled"); };
            }),
            "cancelled");
}

TEST_F(RaggedStream, NamesWhatIsWrong)
{
  EXPECT_EQ(error<argument_error>([](walk_stream_job& job) { job.num_walks = 64'001; }),
            "start 64000: vertex 64 is out of range, the graph has 64 vertices");
  EXPECT_EQ(error<argument_error>([](walk_stream_job& job) { job.batch_bytes = bytes_for(1, 9) - 1; }),
            "batch_bytes: 147, expected at least 148: room for a walk of 9 steps");
  walk_stream_job const job{.num_walks = 5, .starts = every_vertex(1), .ragged_sink = [](ragged_rows const&) {}};
  EXPECT_EQ(message_of<argument_error>([&] { (void)stream_walks(walker(make_zoo(3), {}, 1), job, exec); }),
            "walker: it was made for the CPU, expected a cpu_exec");
}

}  // namespace
}  // namespace tendril::test
