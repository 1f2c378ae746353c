// The samplers that the race is measured against draw from the same distribution.

#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "gpu/device/workspace.hpp"
#include "gpu/walks/scan_walk.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/small_graphs.hpp"
#include "support/statistics.hpp"

namespace tendril::test {
namespace {

class ComparisonWalk : public gpu_test {
 protected:
  /// How often each edge of a star was chosen.
  std::vector<std::int64_t> draw(gpu::comparison sampler, std::vector<float> const& weights, std::int64_t n)
  {
    graph const star = to_gpu(make_star(weights), exec);
    buffer<vertex_id> starts(n, memory_of(exec));
    buffer<vertex_id> rows(2 * n, memory_of(exec));
    EXPECT_EQ(cudaMemset(starts.data(), 0, static_cast<std::size_t>(n) * sizeof(vertex_id)), cudaSuccess);
    gpu::workspace space;
    space.reset(exec.stream);
    gpu::walk_job job;
    job.graph = star.view();
    job.weighted = true;
    job.step_key = core::make_key(5, core::domain::first_order_walk);
    gpu::walk_batch const batch{
        starts.data(), n, 0, star.num_vertices(), 1, false, false, rows.data(), nullptr, space.next_walk(),
        space.status()};
    gpu::walk_shape shape{};
    shape.device = exec.device;
    shape.stream = exec.stream;
    gpu::comparison_walk(sampler, job, batch, shape);
    synchronize(exec);
    auto const out = copied(rows.data(), static_cast<std::size_t>(2 * n));
    std::vector<std::int64_t> counts(weights.size());
    for (std::size_t i = 1; i < out.size(); i += 2) {
      EXPECT_LE(out[i] - 1, weights.size() - 1);
      ++counts[out[i] - 1];
    }
    return counts;
  }
};

std::vector<float> uneven(std::size_t size)
{
  std::vector<float> w(size);
  for (std::size_t i = 0; i < size; ++i) {
    w[i] = i % 5 == 3 ? 0.0F : static_cast<float>((1 + i % 4) * (i % 11 == 0 ? 20 : 1));
  }
  return w;
}

TEST_F(ComparisonWalk, DrawsInProportionToTheWeights)
{
  using enum gpu::comparison;
  for (auto const sampler : {direct_reservoir, zigzag_reservoir, exponential_jumps}) {
    for (std::size_t const degree : {1, 2, 31, 33, 128, 129, 300, 1000}) {
      auto const weights = uneven(degree);
      auto const counts = draw(sampler, weights, 2'000'000);
      EXPECT_TRUE(drawn_from(counts, {weights.begin(), weights.end()}))
          << "sampler " << static_cast<int>(sampler) << ", degree " << degree;
      if (degree > 2) {
        auto biased = std::vector<double>(weights.begin(), weights.end());
        for (std::size_t i = 0; i < degree / 2; ++i) { biased[i] *= 1.04; }
        EXPECT_FALSE(drawn_from(counts, biased)) << "a bias of 4 % went unnoticed";
      }
    }
  }
}

TEST_F(ComparisonWalk, RefusesWalksWithoutWeights)
{
  EXPECT_THROW(gpu::comparison_walk(gpu::comparison::direct_reservoir, {}, {}, {}), argument_error);
}

}  // namespace
}  // namespace tendril::test
