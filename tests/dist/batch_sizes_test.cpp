// How many walks of a rank go in one batch.

#include <gtest/gtest.h>

#include "dist/superstep.hpp"

namespace tendril::test {
namespace {

using dist::most_batch_walks;
using dist::walking_share;

TEST(BatchSizes, FitIntoTheCachesOfThreads)
{
  EXPECT_EQ(most_batch_walks(1, 1, 1), 8192);
  EXPECT_EQ(most_batch_walks(1, 4, 1), 8192);
  EXPECT_EQ(most_batch_walks(3, 2, 1), 3 * 8192);
  EXPECT_EQ(most_batch_walks(1000, 2, 1), 131'072);
}

TEST(BatchSizes, GrowWithRanksSoThatChunksAreFilled)
{
  EXPECT_EQ(most_batch_walks(1, 16, 1), 16 * 2048);
  EXPECT_EQ(most_batch_walks(2, 16, 1), 2 * 16 * 2048);
  EXPECT_EQ(most_batch_walks(1, 1000, 1), 131'072);
}

TEST(BatchSizes, MakeUpForWalksThatHaveEnded)
{
  EXPECT_EQ(most_batch_walks(1, 2, 0.5), 2 * 8192);
  EXPECT_EQ(most_batch_walks(1, 2, 1.0 / 16), 131'072);
  EXPECT_EQ(most_batch_walks(1, 2, 1e-300), 131'072);
  EXPECT_EQ(most_batch_walks(1, 2, 0), 131'072);
}

TEST(BatchSizes, KnowTheMeanLengthOfAWalk)
{
  EXPECT_EQ(walking_share(80, 0), 1);
  EXPECT_EQ(walking_share(0, 0.5), 1);
  EXPECT_EQ(walking_share(80, 1), 0);
  EXPECT_DOUBLE_EQ(walking_share(1, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(walking_share(2, 0.5), (0.5 + 0.25) / 2);
  EXPECT_NEAR(walking_share(80, 1e-18), 1, 1e-12);
}

}  // namespace
}  // namespace tendril::test
