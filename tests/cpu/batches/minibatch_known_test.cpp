// Mini-batches have known digests: those of the first release that made them, and those of an epoch, one batch at a time
// and in bulk, by one thread and by two. GPUs: tests/gpu/batches/minibatch_known_gpu_test.cpp.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cpu/batches/minibatch_known.hpp"

namespace tendril::test {
namespace {

TEST(MinibatchKnown, BatchesStayWhatTheyWere)
{
  graph const g = known_graph();
  EXPECT_EQ(digest_of_first_batches(
                [&](std::vector<vertex_id> const& seeds, minibatch_params const& params, std::uint64_t number) {
                  return lists_of(neighbor_sample(g, seeds, params, cpu_exec{}, number));
                }),
            first_batches_digest);
}

TEST(MinibatchKnown, AnEpochHasOneDigest)
{
  for (auto const& epoch : known_epochs()) {
    auto const seeds = known_epoch::seeds();
    auto const times = epoch.times();
    for (int const threads : {1, 2}) {
      minibatch_sampler sampler(epoch.graph, epoch.params, cpu_exec{.num_threads = threads});
      std::vector<batch_lists> alone;
      for (std::size_t i = 0; i < known_epoch::num_batches(); ++i) {
        auto const own = known_epoch::cut(seeds, times, i, epoch.graph.num_vertices().size());
        alone.push_back(lists_of(sampler.sample(own, known_epoch::first_batch + i)));
      }
      std::vector<batch_lists> bulk;
      for (auto const& batch :
           sampler.sample_batches(0, seeds, known_epoch::batch_size, {.first = known_epoch::first_batch}, times)) {
        bulk.push_back(lists_of(batch));
      }
      say(epoch, fmt::format("CPU, threads {}, one by one", threads), digest_of(alone));
      say(epoch, fmt::format("CPU, threads {}, bulk", threads), digest_of(bulk));
      EXPECT_EQ(digest_of(alone), epoch.digest) << epoch.name;
      EXPECT_EQ(digest_of(bulk), epoch.digest) << epoch.name;
    }
  }
}

}  // namespace
}  // namespace tendril::test
