// Streams of ragged walks on the CPU are the rows of one call, each cut after its last step, and in order: for any batches,
// threads and lengths, and for walks that need more room than was foreseen; what a stage throws comes out.

#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/walk_stream.hpp>

#include "support/collected_walks.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t max_length = 2147483646;

/// Memory that lets slices of walks with so much room hold `size` of them: rows with lengths and starts, and two slots.
constexpr std::int64_t bytes_for_ragged(std::int64_t size, std::int64_t room)
{
  return size * (4 * (room + 1) + 8 + 2 * (4 * (room + 1) + 8));
}

TEST(CpuRaggedStream, IsTheRowsOfOneCallCutInBatchesOfAnySize)
{
  graph const g = make_zoo(1);
  auto const starts = starts_everywhere(g, unless_sanitized(9, 3));
  auto const n = 2 * std::ssize(starts);
  std::vector<vertex_id> twice;
  for (auto const v : starts) { twice.insert(twice.end(), 2, v); }
  int compared = 0;
  for (auto const& app : all_applications(23)) {
    if (app.params.dead_ends != dead_end::stop) { continue; }
    walker const walk(g, app.params, n);
    ragged const expected = cut(rows_of(walk.run(twice, 0xfffffff0LL)));
    for (std::int64_t const size : {1, 7, 100, 1'000'000}) {
      if (size == 1 && compared > 0) { continue; }  // one application is enough
      for (int const threads : {1, 2}) {
        collected_ragged out;
        auto const report = stream_walks(walk,
                                         {.num_walks = n,
                                          .first_walk = 0xfffffff0LL,  // logical ids cross 2^32
                                          .starts = starts_from(starts, 2),
                                          .ragged_sink = out.sink(),
                                          .batch_bytes = bytes_for_ragged(size, 23)},
                                         {.num_threads = threads});
        ASSERT_EQ(out.walks, expected) << app.name << ", " << size;
        EXPECT_EQ(report.num_walks, n);
        EXPECT_EQ(report.steps, std::ssize(expected.vertices) - n);
        EXPECT_EQ(report.num_batches, out.calls);
        EXPECT_GE(report.batch_walks, std::min<std::int64_t>(size, n));
        EXPECT_LE(report.batch_bytes, bytes_for_ragged(size, 23));
        EXPECT_EQ(report.copied_bytes, 0);
      }
    }
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST(CpuRaggedStream, OfAnyLengthIsAsShortAsWalksEnd)
{
  graph const g = make_zoo(2);
  auto const starts = starts_everywhere(g, 40);
  walk_params params{.length = 500, .stop_prob = 0.2, .seed = 4};
  ragged const expected = cut(rows_of(walker(g, params, 1).run(starts, 0)));
  for (std::int64_t const length : {std::int64_t{500}, std::int64_t{5000}, max_length}) {  // rows of 8.6 GB
    params.length = length;
    collected_ragged out;
    auto const report = stream_walks(
        walker(g, params, 1),
        {.num_walks = std::ssize(starts), .starts = starts_from(starts, 1), .ragged_sink = out.sink()}, cpu_exec{});
    EXPECT_EQ(out.walks, expected) << length;
    EXPECT_EQ(report.num_batches, 1);
    EXPECT_LT(report.batch_bytes, 1 << 24) << length;
  }
}

/// A path along which walks without a stop probability go on to the end: far more steps than they get room for at first.
class LongRaggedStream : public testing::Test {
 protected:
  static constexpr std::int64_t num_vertices = 40'000;
  graph path = [] {
    std::vector<test_edge> edges;
    for (vertex_id v = 0; v + 1 < num_vertices; ++v) { edges.push_back({v, v + 1}); }
    return make_graph(num_vertices, edges);
  }();
  // In turn short walks and walks of 10,000 to 40,000 steps.
  std::vector<vertex_id> starts = [] {
    std::vector<vertex_id> out;
    for (vertex_id i = 0; i < 30; ++i) { out.push_back(i % 3 == 0 ? 1000 * i : num_vertices - 1 - i); }
    return out;
  }();
  walker walk{path, {.length = max_length}, 1};

  walk_stream_report stream(collected_ragged& out, std::int64_t batch_bytes, int threads) const
  {
    return stream_walks(walk,
                        {.num_walks = std::ssize(starts),
                         .starts = starts_from(starts, 1),
                         .ragged_sink = out.sink(),
                         .batch_bytes = batch_bytes},
                        {.num_threads = threads});
  }
};

TEST_F(LongRaggedStream, GetsMoreRoomWhereWalksNeedIt)
{
  ragged expected{{0}, {}};
  for (auto const start : starts) {
    for (vertex_id v = start; v < num_vertices; ++v) { expected.vertices.push_back(v); }
    expected.offsets.push_back(std::ssize(expected.vertices));
  }
  // Twice 2^14 steps of room, doubled twice: one walk, two, ten and all at a time.
  for (std::int64_t const size : {1, 2, 10, 100}) {
    for (int const threads : {1, 2}) {
      collected_ragged out;
      auto const report = stream(out, bytes_for_ragged(size, 1 << 16), threads);
      EXPECT_EQ(out.walks, expected) << size;
      EXPECT_EQ(report.num_batches, out.calls);
      EXPECT_LE(report.batch_bytes, bytes_for_ragged(size, 1 << 16));
      if (size == 1) { EXPECT_GT(report.num_batches, 15); }
    }
  }
  collected_ragged out;
  EXPECT_LT(stream(out, 0, 2).batch_bytes, std::int64_t{64} << 20);
  EXPECT_EQ(out.walks, expected);
  EXPECT_EQ(ragged_of(walk.run_ragged(starts, 0)), expected);
}

TEST_F(LongRaggedStream, SaysThatAWalkIsTooLongForTheMemory)
{
  collected_ragged out;
  EXPECT_EQ(message_of<argument_error>([&] { (void)stream(out, bytes_for_ragged(1, 1 << 15), 1); }),
            "batch_bytes: 393252, expected at least 786468: room for a walk of 65536 steps");
  EXPECT_EQ(message_of<argument_error>([&] { (void)stream(out, 1000, 1); }),
            "batch_bytes: 1000, expected at least 196644: room for a walk of 16384 steps");
}

constexpr std::int64_t long_ragged_job = 60'000;

/// What a spoilt stream of nearly 400 batches throws.
template <class Error>
std::string error_of_ragged(std::function<void(walk_stream_job&)> const& spoil,
                            walk_params const& params = {.length = 9}, cpu_exec const& exec = {})
{
  walker const walk(make_zoo(3), params, 1);
  walk_stream_job job{.num_walks = long_ragged_job,
                      .starts = every_vertex(1000),
                      .ragged_sink = [](ragged_rows const&) {},
                      .batch_bytes = bytes_for_ragged(151, 9)};
  spoil(job);
  return message_of<Error>([&] { (void)stream_walks(walk, job, exec); });
}

TEST(CpuRaggedStream, GivesWhatAStageThrowsAndStops)
{
  EXPECT_EQ(error_of_ragged<std::runtime_error>([](walk_stream_job& job) {
              job.starts = [](std::int64_t first, std::span<vertex_id> starts) {
                if (first > 1000) { throw std::runtime_error("no more starts"); }
                every_vertex(1000)(first, starts);
              };
            }),
            "no more starts");
  std::int64_t last_first = 0;
  EXPECT_EQ(error_of_ragged<std::runtime_error>([&](walk_stream_job& job) {
              job.ragged_sink = [](ragged_rows const& rows) {
                if (rows.first > 1000) { throw std::runtime_error("disk full"); }
              };
              job.starts = [&](std::int64_t first, std::span<vertex_id> starts) {
                last_first = first;
                every_vertex(1000)(first, starts);
              };
            }),
            "disk full");
  EXPECT_LT(last_first, 1000 + 3 * 151);  // the batch that failed, and the one that was made meanwhile
  auto const cancel = [](progress const& p) {
    if (p.done > 1000) { throw std::runtime_error("cancelled"); }
  };
  EXPECT_EQ(error_of_ragged<std::runtime_error>([&](walk_stream_job& job) { job.on_progress = cancel; }), "cancelled");
  EXPECT_EQ(error_of_ragged<std::runtime_error>([](walk_stream_job&) {}, {.length = 9}, {.on_progress = cancel}),
            "cancelled");
}

TEST(CpuRaggedStream, ReportsProgressToItsCaller)
{
  std::int64_t job_last = 0, exec_last = 0;
  auto const caller = std::this_thread::get_id();
  auto const watch = [caller](std::int64_t& last) {
    return [caller, &last](progress const& p) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_STREQ(p.what, "walking");
      EXPECT_GT(p.done, last);
      EXPECT_EQ(p.total, long_ragged_job);
      last = p.done;
    };
  };
  walk_stream_job const job{.num_walks = long_ragged_job,
                            .starts = every_vertex(1000),
                            .ragged_sink = [](ragged_rows const&) {},
                            .batch_bytes = bytes_for_ragged(151, 9),
                            .on_progress = watch(job_last)};
  (void)stream_walks(walker(make_zoo(3), {.length = 9}, 1), job, {.num_threads = 2, .on_progress = watch(exec_last)});
  EXPECT_EQ(job_last, long_ragged_job);
  EXPECT_EQ(exec_last, long_ragged_job);
}

TEST(CpuRaggedStream, NamesWhatIsWrong)
{
  EXPECT_EQ(error_of_ragged<argument_error>([](walk_stream_job& job) { job.num_walks = 64'001; }),
            "start 64000: vertex 64 is out of range, the graph has 64 vertices");
  EXPECT_EQ(error_of_ragged<argument_error>([](walk_stream_job& job) { job.batch_bytes = bytes_for_ragged(1, 9) - 1; }),
            "batch_bytes: 143, expected at least 144: room for a walk of 9 steps");
  EXPECT_EQ(error_of_ragged<argument_error>([](walk_stream_job& job) { job.sink = [](walk_rows const&) {}; }),
            "walk_stream_job: 2 of sink, ragged_sink and counts, expected one of them");
  EXPECT_EQ(error_of_ragged<argument_error>([](walk_stream_job& job) { job.ragged_sink = {}; }),
            "walk_stream_job: starts or sink is empty, expected both");
  EXPECT_EQ(error_of_ragged<argument_error>([](walk_stream_job&) {}, {.length = 9, .dead_ends = dead_end::repeat}),
            "dead_ends: repeat, expected stop: ragged walks have no rows that a vertex could fill");
  EXPECT_EQ(message_of<argument_error>([&] {
              (void)stream_multidim_walks(
                  make_zoo(3), 3, {.length = 4},
                  {.num_walks = 10, .starts = every_vertex(1), .ragged_sink = [](ragged_rows const&) {}}, cpu_exec{});
            }),
            "ragged_sink: multi-dimensional walks are rows, expected sink");
}

TEST(CpuRaggedStream, OfNothingCallsNeitherStartsNorSink)
{
  walker const walk(make_zoo(3), {}, 0);
  auto const report = stream_walks(
      walk,
      {.starts = [](std::int64_t, std::span<vertex_id>) { FAIL(); }, .ragged_sink = [](ragged_rows const&) { FAIL(); }},
      cpu_exec{});
  EXPECT_EQ(report.num_walks, 0);
}

}  // namespace
}  // namespace tendril::test
