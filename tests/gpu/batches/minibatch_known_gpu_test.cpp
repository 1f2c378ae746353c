// Digests that mini-batches of the CPU are known to have (tests/cpu/batches/minibatch_known_test.cpp): a GPU's have the same, by
// every executor, one batch at a time and in bulk.

#include "cpu/batches/minibatch_known.hpp"
#include "gpu/batches/minibatch_support.hpp"

namespace tendril::test {
namespace {

class MinibatchKnownOnGpu : public minibatch_gpu_test {};

TEST_F(MinibatchKnownOnGpu, BatchesStayWhatTheyWere)
{
  graph const there = to_gpu(known_graph(), exec);
  EXPECT_EQ(digest_of_first_batches(
                [&](std::vector<vertex_id> const& seeds, minibatch_params const& params, std::uint64_t number) {
                  auto const own = on_gpu(seeds, exec);
                  return copied_lists(neighbor_sample(there, own.span(), params, exec, number));
                }),
            first_batches_digest);
}

TEST_F(MinibatchKnownOnGpu, AnEpochHasOneDigest)
{
  for (auto const& epoch : known_epochs()) {
    hetero_graph const there = to_gpu(epoch.graph, exec);
    auto const seeds = known_epoch::seeds();
    auto const times = epoch.times();
    auto const own_seeds = on_gpu(seeds, exec);
    auto const own_times = on_gpu(times, exec);
    for (auto const executor : executors_of(epoch.graph, epoch.params)) {
      auto const number = static_cast<int>(executor);
      minibatch_sampler sampler(there, epoch.params, exec, executor);
      std::vector<batch_lists> alone;
      for (std::size_t i = 0; i < known_epoch::num_batches(); ++i) {
        gpu_seeds const own(known_epoch::cut(seeds, times, i, epoch.graph.num_vertices().size()), exec);
        alone.push_back(copied_lists(sampler.sample(own.spans(), known_epoch::first_batch + i)));
      }
      auto const bulk = copied_lists(sampler.sample_batches(0, own_seeds.span(), known_epoch::batch_size,
                                                            {.first = known_epoch::first_batch}, own_times.span()));
      say(epoch, fmt::format("GPU, executor {}, one by one", number), digest_of(alone));
      say(epoch, fmt::format("GPU, executor {}, bulk", number), digest_of(bulk));
      EXPECT_EQ(digest_of(alone), epoch.digest) << epoch.name << ", executor " << number;
      EXPECT_EQ(digest_of(bulk), epoch.digest) << epoch.name << ", executor " << number;
    }
  }
}

}  // namespace
}  // namespace tendril::test
