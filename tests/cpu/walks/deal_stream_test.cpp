// Streams of walks that several places make in turn: all walks, in order, starts asked for in order; and whatever one place
// throws ends the work of all. The places are threads of this test.

#include <atomic>
#include <limits>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include <tendril/walk_stream.hpp>

#include "samplers/walks/deal_stream.hpp"
#include "support/collected_walks.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

using samplers::stream_share;
using samplers::stream_turn;

constexpr std::int64_t length = 7;

/// A place: makes its batches one by one on the thread that it gets.
walk_stream_report make_by(walker const& walk, walk_stream_job const& job, stream_share const& share,
                           std::function<void(std::int64_t batch)> const& before_walking)
{
  stream_turn starts_turn(share.starts), sink_turn(share.sink);
  walk_stream_report report;
  report.num_walks = share.num_walks(job.num_walks, share.batch);
  for (std::int64_t k = 0; k < share.num_batches(job.num_walks, share.batch); ++k) {
    std::int64_t const batch = share.batch_of(k), first = batch * share.batch;
    std::vector<vertex_id> starts(static_cast<std::size_t>(std::min(share.batch, job.num_walks - first)));
    starts_turn.wait(batch);
    job.starts(first, starts);
    starts_turn.advance();
    before_walking(batch);
    walks const made = walk.run(starts, job.first_walk + first);
    sink_turn.wait(batch);
    job.sink({first, made.vertices.span(), made.lengths.span()});
    sink_turn.advance();
    for (std::int32_t const steps : made.lengths) { report.steps += steps; }
    ++report.num_batches;
    if (job.on_progress) { job.on_progress({"walking", first, report.num_walks}); }
  }
  return report;
}

/// Starts that check that they are asked for in order.
start_source in_order(std::int64_t num_vertices, std::shared_ptr<std::int64_t> const& next)
{
  return [=](std::int64_t first, std::span<vertex_id> into) {
    EXPECT_EQ(first, *next);
    for (vertex_id& start : into) { start = static_cast<vertex_id>((*next)++ % num_vertices); }
  };
}

TEST(DealStream, IsOneStreamWhateverTheNumberOfPlaces)
{
  graph const g = make_zoo(3);
  walk_params const params{.length = length, .seed = 4};
  for (std::int64_t const n : {1, 5, 1000}) {
    walker const walk(g, params, n);
    std::vector<vertex_id> starts(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < starts.size(); ++i) { starts[i] = static_cast<vertex_id>(i % g.num_vertices()); }
    walks const expected = walk.run(starts, 77);
    for (int const places : {1, 2, 3, 5}) {
      for (std::int64_t const batch : {std::int64_t{1}, std::int64_t{7}, n}) {
        collected_walks out;
        walk_stream_job const job{.num_walks = n,
                                  .first_walk = 77,
                                  .starts = in_order(g.num_vertices(), std::make_shared<std::int64_t>(0)),
                                  .sink = out.sink()};
        auto const report =
            samplers::deal_stream(job, places, batch, [&](walk_stream_job const& its, stream_share const& share) {
              return make_by(walk, its, share, [&](std::int64_t i) {
                if (i % 4 == share.index) { std::this_thread::yield(); }
              });
            });
        ASSERT_EQ(out.vertices, std::vector(expected.vertices.begin(), expected.vertices.end()))
            << places << " places, batches of " << batch;
        EXPECT_EQ(report.num_walks, n);
        EXPECT_EQ(report.steps, out.num_steps());
        EXPECT_EQ(report.num_batches, (n + batch - 1) / batch);
      }
    }
  }
}

TEST(DealStream, EndsWithWhatOnePlaceThrows)
{
  graph const g = make_zoo(3);
  walker const walk(g, {.length = length}, 1);
  auto const error = [&](std::function<void(walk_stream_job&)> const& spoil,
                         std::function<void(std::int64_t)> const& before_walking) {
    std::atomic<int> at_work{0};
    walk_stream_job job{.num_walks = 100'000,
                        .starts = in_order(g.num_vertices(), std::make_shared<std::int64_t>(0)),
                        .sink = [](walk_rows const&) {}};
    spoil(job);
    std::string const message = message_of<std::runtime_error>([&] {
      samplers::deal_stream(job, 4, 10, [&](walk_stream_job const& its, stream_share const& share) {
        ++at_work;
        struct leaving {
          std::atomic<int>& count;
          ~leaving() { --count; }
        } const leaves{at_work};
        return make_by(walk, its, share, before_walking);
      });
    });
    EXPECT_EQ(at_work, 0) << "a place works on";
    return message;
  };
  auto const nothing = [](auto const&...) {};
  EXPECT_EQ(error(nothing,
                  [](std::int64_t batch) {
                    if (batch == 50) { throw std::runtime_error("a kernel failed"); }
                  }),
            "a kernel failed");
  EXPECT_EQ(error(
                [](walk_stream_job& job) {
                  job.sink = [](walk_rows const& rows) {
                    if (rows.first == 300) { throw std::runtime_error("disk full"); }
                  };
                },
                nothing),
            "disk full");
  EXPECT_EQ(error(
                [](walk_stream_job& job) {
                  job.starts = [](std::int64_t first, std::span<vertex_id>) {
                    if (first > 500) { throw std::runtime_error("no starts"); }
                  };
                },
                nothing),
            "no starts");
  EXPECT_EQ(error(
                [](walk_stream_job& job) {
                  job.on_progress = [](progress const&) { throw std::runtime_error("cancelled"); };
                },
                nothing),
            "cancelled");
}

TEST(DealStream, SharesOfTheLargestJobCoverIt)
{
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t walks = 0;
  for (int p = 0; p < 3; ++p) { walks += stream_share{p, 3, 7}.num_walks(most, 7); }
  EXPECT_EQ(walks, most);
  EXPECT_EQ(stream_share{}.num_batches(most, most), 1);
}

TEST(DealStream, SharesCoverTheJob)
{
  for (std::int64_t const n : {1, 9, 10, 11, 100, 101}) {
    for (std::int64_t const batch : {1, 3, 10, 200}) {
      for (int const places : {1, 2, 3, 8}) {
        std::vector<int> made(static_cast<std::size_t>(n), 0);
        std::int64_t walks = 0;
        for (int p = 0; p < places; ++p) {
          stream_share const share{p, places, batch};
          walks += share.num_walks(n, batch);
          for (std::int64_t k = 0; k < share.num_batches(n, batch); ++k) {
            std::int64_t const first = share.batch_of(k) * batch;
            for (std::int64_t i = first; i < std::min(first + batch, n); ++i) { ++made[static_cast<std::size_t>(i)]; }
          }
        }
        EXPECT_EQ(walks, n);
        EXPECT_EQ(made, std::vector<int>(made.size(), 1)) << n << " walks, " << places << " places of " << batch;
      }
    }
  }
}

}  // namespace
}  // namespace tendril::test
