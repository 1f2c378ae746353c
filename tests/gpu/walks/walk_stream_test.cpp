// Streams of walks are the CPU's walks, to the byte and in order, however small the batches; what a stage throws comes
// out, and the GPU can be used afterwards.

#include <stdexcept>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/walk_stream.hpp>

#include "support/collected_walks.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

class WalkStream : public gpu_test {
 protected:
  /// The error of a job on a small graph, after which the same walker makes a good one.
  template <class Error>
  std::string error(std::function<void(walk_stream_job&)> const& spoil)
  {
    graph const g = make_zoo(3);
    walker const walk(to_gpu(g, exec), {.length = 9}, 1, exec);
    collected_walks ignored;
    walk_stream_job job{
        .num_walks = 60'000, .starts = every_vertex(1000), .sink = ignored.sink(), .batch_bytes = 20'000};
    auto const good = job;
    spoil(job);
    std::string const message = message_of<Error>([&] { (void)stream_walks(walk, job, exec); });
    ignored = {};
    EXPECT_EQ(stream_walks(walk, good, exec).num_walks, 60'000);
    return message;
  }
};

TEST_F(WalkStream, IsTheCpusWalksInBatchesOfAnySize)
{
  graph const g = make_zoo(1);
  graph const there = to_gpu(g, exec);
  auto const starts = starts_everywhere(g, 9);
  auto const n = static_cast<std::int64_t>(starts.size());
  for (auto const& app : all_applications(23)) {
    walker const walk(there, app.params, 2 * n, exec);
    std::vector<vertex_id> twice;
    for (auto const v : starts) { twice.insert(twice.end(), 2, v); }
    walks const expected = walker(g, app.params, 2 * n).run(twice, 0xfffffff0LL);
    for (std::int64_t const batch : {1, 7, 100, 1'000'000}) {
      if (batch == 1 && app.name != all_applications(23).front().name) { continue; }  // one application is enough
      collected_walks out;
      auto const report = stream_walks(walk,
                                       {.num_walks = 2 * n,
                                        .first_walk = 0xfffffff0LL,  // logical ids cross 2^32
                                        .starts = starts_from(starts, 2),
                                        .sink = out.sink(),
                                        .batch_bytes = 4 * batch * 4 * (1 + 24 + 1)},
                                       exec);
      ASSERT_EQ(out.vertices, copied(expected.vertices)) << app.name << ", " << batch;
      ASSERT_EQ(out.lengths, copied(expected.lengths)) << app.name << ", " << batch;
      EXPECT_EQ(report.num_walks, 2 * n);
      EXPECT_EQ(report.steps, out.num_steps());
      EXPECT_EQ(report.batch_walks, std::min(batch, 2 * n));
      EXPECT_EQ(report.num_batches, out.calls);
      EXPECT_EQ(report.num_batches, (2 * n + report.batch_walks - 1) / report.batch_walks);
      EXPECT_LE(report.batch_bytes, 4 * batch * 4 * (1 + 24 + 1));
    }
  }
}

TEST_F(WalkStream, OfManyWalksIsCutByItself)
{
  graph const g = generate_rmat({.scale = 14, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  walker const walk(to_gpu(g, exec), {}, 1, exec);
  std::int64_t const n = 40 * g.num_vertices();  // 212 MB of vertices
  walks const expected = walker(g, {}, 1).run(
      [&] {
        std::vector<vertex_id> starts(static_cast<std::size_t>(n));
        every_vertex(40)(0, starts);
        return starts;
      }(),
      0);
  std::int64_t seen = 0;
  auto const report = stream_walks(walk,
                                   {.num_walks = n,
                                    .starts = every_vertex(40),
                                    .sink =
                                        [&](walk_rows const& rows) {
                                          EXPECT_EQ(rows.first, seen);
                                          auto const* const at = expected.vertices.data() + seen * 81;
                                          EXPECT_TRUE(std::equal(rows.vertices.begin(), rows.vertices.end(), at));
                                          seen += static_cast<std::int64_t>(rows.lengths.size());
                                        }},
                                   exec);
  EXPECT_EQ(seen, n);
  EXPECT_GE(report.num_batches, 16);
  EXPECT_EQ(report.copied_bytes, n * 82 * 4);
  EXPECT_GT(report.walk_seconds, 0);
  EXPECT_GT(report.copy_seconds, 0);
}

TEST_F(WalkStream, IsTheCpusMultidimensionalWalks)
{
  graph const g = make_zoo(2);
  graph const there = to_gpu(g, exec);
  std::vector<vertex_id> roots;
  for (std::int64_t i = 0; i < 500 * 5; ++i) { roots.push_back(static_cast<vertex_id>(i * 31 % g.num_vertices())); }
  std::vector<vertex_id> thrice;
  for (std::size_t i = 0; i < 500; ++i) {
    for (int copy = 0; copy < 3; ++copy) { thrice.insert(thrice.end(), &roots[5 * i], &roots[5 * i] + 5); }
  }
  multidim_params const params{.length = 31, .seed = 9};
  auto const expected = multidim_walk(g, thrice, 5, params, cpu_exec{}, 11);
  for (std::int64_t const bytes : {0, 50'000, 3'000}) {
    collected_walks out;
    (void)stream_multidim_walks(there, 5, params,
                                {.num_walks = 1500,
                                 .first_walk = 11,
                                 .starts = starts_from(roots, 3, 5),
                                 .sink = out.sink(),
                                 .batch_bytes = bytes},
                                exec);
    ASSERT_EQ(out.vertices, copied(expected.vertices)) << bytes;
    ASSERT_EQ(out.lengths, copied(expected.lengths)) << bytes;
  }
}

TEST_F(WalkStream, OfNothingCallsNeitherStartsNorSink)
{
  walker const walk(to_gpu(make_zoo(3), exec), {}, 0, exec);
  auto const report = stream_walks(
      walk, {.starts = [](std::int64_t, std::span<vertex_id>) { FAIL(); }, .sink = [](walk_rows const&) { FAIL(); }},
      exec);
  EXPECT_EQ(report.num_walks, 0);
}

TEST_F(WalkStream, ReportsProgressToItsCaller)
{
  std::int64_t last = -1;
  walker const walk(to_gpu(make_zoo(3), exec), {.length = 9}, 1, exec);
  (void)stream_walks(walk,
                     {.num_walks = 64'000,
                      .starts = every_vertex(1000),
                      .sink = [](walk_rows const&) {},
                      .batch_bytes = 20'000,
                      .on_progress =
                          [&](progress const& p) {
                            EXPECT_STREQ(p.what, "walking");
                            EXPECT_GE(p.done, last);
                            EXPECT_EQ(p.total, 64'000);
                            last = p.done;
                          }},
                     exec);
  EXPECT_EQ(last, 64'000);
}

TEST_F(WalkStream, GivesWhatAStageThrows)
{
  EXPECT_EQ(error<std::runtime_error>([](walk_stream_job& job) {
              job.starts = [](std::int64_t first, std::span<vertex_id> starts) {
                if (first > 1000) { throw std::runtime_error("no more starts"); }
                every_vertex(1000)(first, starts);
              };
            }),
            "no more starts");
  EXPECT_EQ(error<std::runtime_error>([](walk_stream_job& job) {
              job.sink = [](walk_rows const& rows) {
                if (rows.first > 1000) { throw std::runtime_error("disk full"); }
              };
            }),
            "disk full");
  EXPECT_EQ(error<std::runtime_error>([](walk_stream_job& job) {
              job.on_progress = [](progress const&) { throw std::runtime_error("cancelled"); };
            }),
            "cancelled");
}

TEST_F(WalkStream, NamesWhatIsWrong)
{
  EXPECT_EQ(error<argument_error>([](walk_stream_job& job) { job.num_walks = 64'001; }),
            "start 64000: vertex 64 is out of range, the graph has 64 vertices");
  EXPECT_EQ(error<argument_error>([](walk_stream_job& job) { job.batch_bytes = 191; }),
            "batch_bytes: 191, expected at least 192: 4 batches of one walk each");
  EXPECT_EQ(error<argument_error>([](walk_stream_job& job) { job.batch_bytes = -1; }),
            "batch_bytes: -1, expected 0 or more");
  EXPECT_EQ(error<argument_error>([](walk_stream_job& job) { job.num_walks = -1; }),
            "num_walks: -1, expected 0 or more");
  EXPECT_EQ(error<argument_error>([](walk_stream_job& job) { job.first_walk = -1; }),
            "first_walk: -1, expected 0 or more");
  EXPECT_EQ(error<argument_error>([](walk_stream_job& job) { job.sink = {}; }),
            "walk_stream_job: starts or sink is empty, expected both");
}

TEST_F(WalkStream, RefusesAWalkerOfTheCpu)
{
  graph const g = make_zoo(3);
  walker const walk(g, {.length = 9}, 1);
  EXPECT_EQ(message_of<argument_error>([&] {
              (void)stream_walks(walk, {.num_walks = 5, .starts = every_vertex(1), .sink = [](walk_rows const&) {}},
                                 exec);
            }),
            "walker: it was made for the CPU, expected a cpu_exec");
}

}  // namespace
}  // namespace tendril::test
