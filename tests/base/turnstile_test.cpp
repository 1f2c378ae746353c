// A turnstile lets items pass in order, whatever threads bring them, and lets everybody go when the job ends.

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/turnstile.hpp"

namespace tendril::test {
namespace {

TEST(Turnstile, LetsItemsOfSeveralThreadsPassInOrder)
{
  constexpr std::int64_t threads = 5, items = 200;
  base::turnstile gate;
  std::vector<std::int64_t> passed;
  {
    std::vector<std::jthread> team;
    for (std::int64_t t = 0; t < threads; ++t) {
      team.emplace_back([&, t] {
        for (std::int64_t i = t; i < items; i += threads) {
          EXPECT_GE(gate.wait(i), 0);
          passed.push_back(i);  // no lock: only one thread is here at a time
          gate.advance();
        }
      });
    }
  }
  ASSERT_EQ(std::ssize(passed), items);
  for (std::int64_t i = 0; i < items; ++i) { EXPECT_EQ(passed[static_cast<std::size_t>(i)], i); }
}

TEST(Turnstile, EndsAllWaitsWhenTheJobHasEnded)
{
  base::turnstile gate;
  std::atomic<int> stopped{0};
  {
    std::vector<std::jthread> team;
    for (std::int64_t item = 1; item < 4; ++item) {
      team.emplace_back([&, item] {
        try {
          gate.wait(item);
        } catch (base::turnstile::stopped const&) {
          ++stopped;
        }
      });
    }
    gate.stop();
  }
  EXPECT_EQ(stopped, 3);
  EXPECT_THROW(gate.wait(0), base::turnstile::stopped) << "later ones too";
}

}  // namespace
}  // namespace tendril::test
