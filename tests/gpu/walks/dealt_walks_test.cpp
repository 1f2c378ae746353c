// Walks that several GPUs make together are the CPU's, to the byte and in order, for every application, in rows and ragged; what
// one GPU throws ends the work of all. On a machine with one GPU, that one stands for several.

#include <stdexcept>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/walk_stream.hpp>

#include "support/collected_walks.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

/// A copy on each GPU; where there is one alone, three on it.
class DealtWalks : public gpu_test {
 protected:
  [[nodiscard]] static std::vector<graph> copies_of(graph const& g)
  {
    std::vector<graph> copies = to_gpus(g, all_gpus());
    while (copies.size() < 3) { copies.push_back(copies.front()); }
    return copies;
  }

  [[nodiscard]] static std::vector<walker> walkers_on(std::vector<graph> const& copies, walk_params const& params)
  {
    std::vector<walker> walkers;
    for (graph const& copy : copies) { walkers.emplace_back(copy, params, 1, gpu_exec(copy.device())); }
    return walkers;
  }
};

TEST_F(DealtWalks, AreTheCpusForEveryApplication)
{
  graph const g = make_zoo(1);
  auto const copies = copies_of(g);
  auto const starts = starts_everywhere(g, 9);
  std::int64_t const n = std::ssize(starts);
  for (auto const& app : all_applications(23)) {
    auto const walkers = walkers_on(copies, app.params);
    walker const here(g, app.params, n);
    walks const expected = here.run(starts, 0xfffffff0LL);
    for (std::int64_t const batch : {11, 1'000'000}) {  // many batches; fewer than there are GPUs
      collected_walks out;
      auto const report = stream_walks(walkers, {.num_walks = n,
                                                 .first_walk = 0xfffffff0LL,  // logical ids cross 2^32
                                                 .starts = starts_from(starts, 1),
                                                 .sink = out.sink(),
                                                 .batch_bytes = 4 * batch * 4 * (1 + 24 + 1)});
      ASSERT_EQ(out.vertices, copied(expected.vertices)) << app.name << ", " << batch;
      ASSERT_EQ(out.lengths, copied(expected.lengths)) << app.name << ", " << batch;
      EXPECT_EQ(report.num_walks, n);
      EXPECT_EQ(report.steps, out.num_steps());
      EXPECT_EQ(report.copied_bytes, n * 4 * (24 + 1));
      EXPECT_EQ(report.num_batches, (n + report.batch_walks - 1) / report.batch_walks);
    }
    if (app.params.dead_ends != dead_end::stop) { continue; }
    collected_ragged out;
    (void)stream_walks(walkers, {.num_walks = n,
                                 .first_walk = 5,
                                 .starts = starts_from(starts, 1),
                                 .ragged_sink = out.sink(),
                                 .batch_bytes = 20'000});
    ASSERT_EQ(out.walks, ragged_of(here.run_ragged(starts, 5))) << app.name;
  }
}

TEST_F(DealtWalks, OnOneGraphOverAllGpusAreTheCpusToo)
{
  graph const g = make_zoo(1);
  auto const copies = spread_over_gpus(g, all_gpus());
  ASSERT_EQ(std::ssize(copies), num_gpus());
  auto const starts = starts_everywhere(g, 9);
  std::int64_t const n = std::ssize(starts);
  for (auto const& app : all_applications(23)) {
    walks const expected = walker(g, app.params, n).run(starts, 3);
    collected_walks out;
    (void)stream_walks(walkers_on(copies, app.params), {.num_walks = n,
                                                        .first_walk = 3,
                                                        .starts = starts_from(starts, 1),
                                                        .sink = out.sink(),
                                                        .batch_bytes = 44 * 4 * (1 + 24 + 1)});
    ASSERT_EQ(out.vertices, copied(expected.vertices)) << app.name;
    ASSERT_EQ(out.lengths, copied(expected.lengths)) << app.name;
  }
}

TEST_F(DealtWalks, RaggedOnesGetMoreRoomWhereTheyNeedIt)
{
  graph const g = generate_rmat({.scale = 12, .edge_factor = 16, .seed = 2}, {.symmetrize = true}, {});
  walk_params const params{.length = 2147483646, .stop_prob = 0.05};
  std::int64_t const n = 8 * g.num_vertices();
  std::vector<vertex_id> starts(static_cast<std::size_t>(n));
  every_vertex(8)(0, starts);
  collected_ragged out;
  auto const report = stream_walks(walkers_on(copies_of(g), params),
                                   {.num_walks = n, .starts = every_vertex(8), .ragged_sink = out.sink()});
  EXPECT_EQ(out.walks, ragged_of(walker(g, params, 1).run_ragged(starts, 0)));
  EXPECT_EQ(report.num_walks, n);
}

TEST_F(DealtWalks, OfManyRootsAreTheCpus)
{
  graph const g = make_zoo(2);
  auto const copies = copies_of(g);
  std::vector<vertex_id> roots;
  for (std::int64_t i = 0; i < 500 * 5; ++i) { roots.push_back(static_cast<vertex_id>(i * 31 % g.num_vertices())); }
  multidim_params const params{.length = 31, .seed = 9};
  auto const expected = multidim_walk(g, roots, 5, params, cpu_exec{}, 11);
  for (std::int64_t const bytes : {0, 50'000}) {
    collected_walks out;
    (void)stream_multidim_walks(copies, 5, params,
                                {.num_walks = 500,
                                 .first_walk = 11,
                                 .starts = starts_from(roots, 1, 5),
                                 .sink = out.sink(),
                                 .batch_bytes = bytes});
    EXPECT_EQ(out.vertices, copied(expected.vertices)) << bytes;
    EXPECT_EQ(out.lengths, copied(expected.lengths)) << bytes;
  }
}

TEST_F(DealtWalks, EndWithWhatWasThrownFirst)
{
  graph const g = make_zoo(3);
  auto const walkers = walkers_on(copies_of(g), {.length = 9});
  auto const error = [&]<class Error>(Error const*, bool ragged, std::function<void(walk_stream_job&)> const& spoil) {
    collected_walks rows;
    collected_ragged lists;
    walk_stream_job job{.num_walks = 60'000, .starts = every_vertex(1000), .batch_bytes = 20'000};
    if (ragged) {
      job.ragged_sink = lists.sink();
    } else {
      job.sink = rows.sink();
    }
    auto spoiled = job;
    spoil(spoiled);
    std::string const message = message_of<Error>([&] { (void)stream_walks(walkers, spoiled); });
    rows = {};
    lists = {};
    EXPECT_EQ(stream_walks(walkers, job).num_walks, 60'000) << "after " << message;
    return message;
  };
  for (bool const ragged : {false, true}) {
    EXPECT_EQ(error(static_cast<std::runtime_error*>(nullptr), ragged,
                    [&](walk_stream_job& job) {
                      if (ragged) {
                        job.ragged_sink = [](ragged_rows const& rows) {
                          if (rows.first > 3000) { throw std::runtime_error("disk full"); }
                        };
                      } else {
                        job.sink = [](walk_rows const& rows) {
                          if (rows.first > 3000) { throw std::runtime_error("disk full"); }
                        };
                      }
                    }),
              "disk full");
    EXPECT_EQ(error(static_cast<std::runtime_error*>(nullptr), ragged,
                    [](walk_stream_job& job) {
                      job.on_progress = [](progress const&) { throw std::runtime_error("cancelled"); };
                    }),
              "cancelled");
    EXPECT_EQ(error(static_cast<argument_error*>(nullptr), ragged,
                    [](walk_stream_job& job) {
                      job.starts = [](std::int64_t first, std::span<vertex_id> into) {
                        std::fill(into.begin(), into.end(), 0U);
                        if (first <= 5000 && first + std::ssize(into) > 5000) {
                          into[static_cast<std::size_t>(5000 - first)] = 60'000;
                        }
                      };
                    }),
              "start 5000: vertex 60000 is out of range, the graph has 64 vertices");
  }
}

TEST_F(DealtWalks, NeedCopiesOfOneGraph)
{
  graph const g = make_zoo(3);
  collected_walks out;
  walk_stream_job const job{.num_walks = 10, .starts = every_vertex(1), .sink = out.sink()};
  auto const refusal = [&](std::vector<walker> const& walkers) {
    return message_of<argument_error>([&] { (void)stream_walks(walkers, job); });
  };
  EXPECT_EQ(refusal({}), "no walker, expected one for each GPU");
  std::vector<walker> mixed;
  mixed.emplace_back(to_gpu(g, exec), walk_params{}, 1, exec);
  mixed.emplace_back(g, walk_params{}, 1);
  EXPECT_EQ(refusal(mixed), "copy 1: the graph is in host memory, expected in the memory of a GPU");
  std::vector<walker> two;
  two.emplace_back(to_gpu(g, exec), walk_params{}, 1, exec);
  two.emplace_back(to_gpu(g, exec), walk_params{.seed = 1}, 1, exec);
  EXPECT_EQ(refusal(two), "walker 1: another walk than that of walker 0, expected the same on each GPU");
  EXPECT_EQ(message_of<argument_error>([&] { (void)to_gpus(g, gpu_set()); }),
            "copies of a graph: no GPU, expected one or more");
}

}  // namespace
}  // namespace tendril::test
