// Whoever sends records between the GPUs of the same ranks shares a connection, as long as all ranks have it.

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/transport.hpp>

#include "gpu/device/check.hpp"
#include "gpu/ranks/messages.hpp"
#include "support/gpu_test.hpp"

namespace tendril::test {
namespace {

class Connections : public gpu_test {
 protected:
  /// Calls work(ranks, device) on two ranks, whose GPU is current.
  template <class Work>
  static void on_two_ranks(Work work)
  {
    run_ranks(
        2,
        [&](transport& ranks) {
          int const device = ranks.rank() % num_gpus();
          gpu::device_guard const guard(device);
          work(ranks, device);
        },
        transport::seconds(60));
  }
};

TEST_F(Connections, AreShared)
{
  on_two_ranks([](transport& ranks, int device) {
    auto const first = gpu::connect_gpus(ranks, device);
    EXPECT_EQ(gpu::connect_gpus(ranks, device), first);
    EXPECT_EQ(gpu::connect_gpus(ranks, device), first);
  });
}

TEST_F(Connections, OneThatARankHasLetGoIsMadeAnew)
{
  on_two_ranks([](transport& ranks, int device) {
    auto first = gpu::connect_gpus(ranks, device);
    auto const* const before = first.get();
    if (ranks.rank() == 0) { first.reset(); }
    auto const second = gpu::connect_gpus(ranks, device);
    if (ranks.rank() == 1) { EXPECT_NE(second.get(), before); }
    EXPECT_EQ(gpu::connect_gpus(ranks, device), second);
  });
}

TEST_F(Connections, OneThatHasFailedIsMadeAnew)
{
  on_two_ranks([](transport& ranks, int device) {
    auto const first = gpu::connect_gpus(ranks, device);
    if (ranks.rank() == 1) { first->abort(); }
    auto const second = gpu::connect_gpus(ranks, device);
    EXPECT_NE(second, first);
    EXPECT_FALSE(second->is_aborted());
    first->abort();
    EXPECT_FALSE(second->is_aborted());
    EXPECT_EQ(gpu::connect_gpus(ranks, device), second);
  });
}

}  // namespace
}  // namespace tendril::test
