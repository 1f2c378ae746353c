// Streams of walks on the CPU are the walks of one call, to the byte and in order, however small the batches; a start that
// doesn't exist is named by its place in the whole job; what a stage throws comes out, and no walk is made after it.

#include <tendril/walk_stream.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <tendril/error.hpp>

#include "support/collected_walks.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

/// Memory that lets a batch of walks of one start each hold `batch` of them: two batches, and the starts of one.
constexpr std::int64_t bytes_for(std::int64_t batch, std::int64_t length) { return batch * (2 * 4 * (length + 2) + 4); }

constexpr std::int64_t long_job = 60'000;

/// Nearly 400 batches of nine steps on a graph of 64 vertices.
walk_stream_job many_batches(std::function<void(walk_rows const&)> sink)
{
  return {
      .num_walks = long_job, .starts = every_vertex(1000), .sink = std::move(sink), .batch_bytes = bytes_for(151, 9)};
}

/// What a spoilt stream of many batches throws.
template <class Error>
std::string error_of(std::function<void(walk_stream_job&)> const& spoil, cpu_exec const& exec = {})
{
  walker const walk(make_zoo(3), {.length = 9}, 1);
  walk_stream_job job = many_batches([](walk_rows const&) {});
  spoil(job);
  return message_of<Error>([&] { (void)stream_walks(walk, job, exec); });
}

TEST(CpuWalkStream, IsOneCallsWalksInBatchesOfAnySize)
{
  graph const g = make_zoo(1);
  auto const starts = starts_everywhere(g, unless_sanitized(9, 3));
  auto const n = static_cast<std::int64_t>(starts.size());
  std::vector<vertex_id> twice;
  for (auto const v : starts) { twice.insert(twice.end(), 2, v); }
  for (auto const& app : all_applications(23)) {
    walker const walk(g, app.params, 2 * n);
    walks const expected = walk.run(twice, 0xfffffff0LL);
    for (std::int64_t const batch : {1, 7, 100, 1'000'000}) {
      if (batch == 1 && app.name != all_applications(23).front().name) { continue; }  // one application is enough
      for (int const threads : {1, 3}) {
        if (batch < 100 && threads > 1) { continue; }  // too few walks for more than one thread
        collected_walks out;
        auto const report = stream_walks(walk,
                                         {.num_walks = 2 * n,
                                          .first_walk = 0xfffffff0LL,  // logical ids cross 2^32
                                          .starts = starts_from(starts, 2),
                                          .sink = out.sink(),
                                          .batch_bytes = bytes_for(batch, 23)},
                                         {.num_threads = threads});
        ASSERT_EQ(out.vertices, all_of(expected.vertices)) << app.name << ", " << batch;
        ASSERT_EQ(out.lengths, all_of(expected.lengths)) << app.name << ", " << batch;
        EXPECT_EQ(report.num_walks, 2 * n);
        EXPECT_EQ(report.steps, out.num_steps());
        EXPECT_EQ(report.batch_walks, std::min(batch, 2 * n));
        EXPECT_EQ(report.num_batches, out.calls);
        EXPECT_EQ(report.num_batches, (2 * n + report.batch_walks - 1) / report.batch_walks);
        EXPECT_EQ(report.batch_bytes, bytes_for(report.batch_walks, 23));
        EXPECT_EQ(report.copied_bytes, 0);
      }
    }
  }
}

TEST(CpuWalkStream, IsCutIntoBatchesOf64MegabytesByItself)
{
  graph const g = make_zoo(4);
  std::int64_t const length = 999;
  std::int64_t const n = 40'000;  // 160 MB of vertices
  walker const walk(g, {.length = length}, n);
  std::vector<vertex_id> starts(static_cast<std::size_t>(n));
  every_vertex(1000)(0, starts);
  walks const expected = walk.run(starts, 0);
  std::int64_t seen = 0;
  auto const report = stream_walks(walk,
                                   {.num_walks = n,
                                    .starts = every_vertex(1000),
                                    .sink =
                                        [&](walk_rows const& rows) {
                                          EXPECT_EQ(rows.first, seen);
                                          auto const* const at = expected.vertices.data() + seen * (length + 1);
                                          EXPECT_TRUE(std::equal(rows.vertices.begin(), rows.vertices.end(), at));
                                          seen += static_cast<std::int64_t>(rows.lengths.size());
                                        }},
                                   cpu_exec{});
  EXPECT_EQ(seen, n);
  EXPECT_EQ(report.batch_walks, (std::int64_t{64} << 20) / 4 / (length + 1));
  EXPECT_EQ(report.num_batches, 3);
  EXPECT_GT(report.walk_seconds, 0);
  EXPECT_GT(report.sink_seconds, 0);
  EXPECT_GT(report.seconds, report.walk_seconds);
}

TEST(CpuWalkStream, IsOneCallsMultidimensionalWalks)
{
  graph const g = make_zoo(2);
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
    auto const report = stream_multidim_walks(g, 5, params,
                                              {.num_walks = 1500,
                                               .first_walk = 11,
                                               .starts = starts_from(roots, 3, 5),
                                               .sink = out.sink(),
                                               .batch_bytes = bytes},
                                              cpu_exec{});
    ASSERT_EQ(out.vertices, all_of(expected.vertices)) << bytes;
    ASSERT_EQ(out.lengths, all_of(expected.lengths)) << bytes;
    if (bytes > 0) { EXPECT_LE(report.batch_bytes, bytes); }
    EXPECT_EQ(report.num_batches > 1, bytes > 0);
  }
}

TEST(CpuWalkStream, OfNothingCallsNeitherStartsNorSink)
{
  walker const walk(make_zoo(3), {}, 0);
  auto const report = stream_walks(
      walk, {.starts = [](std::int64_t, std::span<vertex_id>) { FAIL(); }, .sink = [](walk_rows const&) { FAIL(); }},
      cpu_exec{});
  EXPECT_EQ(report.num_walks, 0);
}

TEST(CpuWalkStream, ReportsProgressToItsCallerOnly)
{
  walker const walk(make_zoo(3), {.length = 9}, 1);
  auto const caller = std::this_thread::get_id();
  std::int64_t job_last = -1, exec_last = -1;
  auto const watch = [caller](std::int64_t& last) {
    return [caller, &last](progress const& p) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_STREQ(p.what, "walking");
      EXPECT_GE(p.done, last);
      EXPECT_EQ(p.total, long_job);
      last = p.done;
    };
  };
  walk_stream_job job = many_batches([](walk_rows const&) {});
  job.on_progress = watch(job_last);
  (void)stream_walks(walk, job, {.num_threads = 3, .on_progress = watch(exec_last)});
  EXPECT_EQ(job_last, long_job);
  EXPECT_EQ(exec_last, long_job);
}

TEST(CpuWalkStream, MakesTheNextBatchWhileTheSinkHasOne)
{
  walker const walk(make_zoo(3), {.length = 9}, 1);
  std::atomic<std::int64_t> starts_given = 0;
  walk_stream_job job = many_batches([&](walk_rows const& rows) {
    if (rows.first > 0) { return; }
    // The first batch stays in the sink until the starts of the second were asked for.
    auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (starts_given < 2 && std::chrono::steady_clock::now() < deadline) { std::this_thread::yield(); }
    EXPECT_GE(starts_given, 2);
  });
  job.starts = [&, every = every_vertex(1000)](std::int64_t first, std::span<vertex_id> starts) {
    ++starts_given;
    every(first, starts);
  };
  (void)stream_walks(walk, job, cpu_exec{});
}

TEST(CpuWalkStream, GivesWhatAStageThrowsAndStops)
{
  std::atomic<std::int64_t> sinking = 0;  // a sink at work when the call ends would be a thread that outlives it
  auto const slow_sink = [&](walk_rows const&) {
    ++sinking;
    std::this_thread::yield();
    --sinking;
  };
  std::int64_t last_first = 0;
  EXPECT_EQ(error_of<std::runtime_error>([&](walk_stream_job& job) {
              job.sink = slow_sink;
              job.starts = [&](std::int64_t first, std::span<vertex_id> starts) {
                last_first = first;
                if (first > 1000) { throw std::runtime_error("no more starts"); }
                every_vertex(1000)(first, starts);
              };
            }),
            "no more starts");
  EXPECT_LT(last_first, 1000 + 151 + 1);
  EXPECT_EQ(sinking, 0);
  EXPECT_EQ(error_of<std::runtime_error>([&](walk_stream_job& job) {
              job.sink = [](walk_rows const& rows) {
                if (rows.first > 1000) { throw std::runtime_error("disk full"); }
              };
              job.starts = [&](std::int64_t first, std::span<vertex_id> starts) {
                last_first = first;
                every_vertex(1000)(first, starts);
              };
            }),
            "disk full");
  EXPECT_LT(last_first, 1000 + 3 * 151);  // the batch that failed, and the one that was made meanwhile
}

TEST(CpuWalkStream, IsCancelledByEitherWatcher)
{
  auto const cancel = [](progress const& p) {
    if (p.done > 1000) { throw std::runtime_error("cancelled"); }
  };
  std::int64_t handed_over = 0;
  auto const count = [&](walk_rows const& rows) { handed_over += std::ssize(rows.lengths); };
  EXPECT_EQ(error_of<std::runtime_error>([&](walk_stream_job& job) {
              job.sink = count;
              job.on_progress = cancel;
            }),
            "cancelled");
  EXPECT_LE(handed_over, 1000);
  handed_over = 0;
  EXPECT_EQ(error_of<std::runtime_error>([&](walk_stream_job& job) { job.sink = count; }, {.on_progress = cancel}),
            "cancelled");
  EXPECT_LE(handed_over, 1000);
}

TEST(CpuWalkStream, NamesWhatIsWrong)
{
  EXPECT_EQ(error_of<argument_error>([](walk_stream_job& job) { job.num_walks = 64'001; }),
            "start 64000: vertex 64 is out of range, the graph has 64 vertices");
  EXPECT_EQ(error_of<argument_error>([](walk_stream_job& job) { job.batch_bytes = bytes_for(1, 9) - 1; }),
            "batch_bytes: 91, expected at least 92: 2 batches of one walk each");
  EXPECT_EQ(error_of<argument_error>([](walk_stream_job& job) { job.batch_bytes = -1; }),
            "batch_bytes: -1, expected 0 or more");
  EXPECT_EQ(error_of<argument_error>([](walk_stream_job& job) { job.num_walks = -1; }),
            "num_walks: -1, expected 0 or more");
  EXPECT_EQ(error_of<argument_error>([](walk_stream_job& job) { job.first_walk = -1; }),
            "first_walk: -1, expected 0 or more");
  EXPECT_EQ(error_of<argument_error>([](walk_stream_job& job) { job.starts = {}; }),
            "walk_stream_job: starts or sink is empty, expected both");
  EXPECT_EQ(error_of<argument_error>([](walk_stream_job& job) { job.sink = {}; }),
            "walk_stream_job: starts or sink is empty, expected both");
  graph const g = make_zoo(3);
  std::vector<vertex_id> const roots(30, 64);
  EXPECT_EQ(message_of<argument_error>([&] {
              (void)stream_multidim_walks(
                  g, 3, {.length = 4},
                  {.num_walks = 10, .starts = starts_from(roots, 1, 3), .sink = [](walk_rows const&) {}}, cpu_exec{});
            }),
            "root 0: vertex 64 is out of range, the graph has 64 vertices");
  EXPECT_EQ(message_of<argument_error>([&] {
              (void)stream_multidim_walks(g, 0, {}, {.starts = every_vertex(1), .sink = [](walk_rows const&) {}},
                                          cpu_exec{});
            }),
            "num_roots: 0, expected 1 to " + std::to_string(max_num_roots) + " roots a sample");
}

}  // namespace
}  // namespace tendril::test
