// Sets of GPUs: what they refuse, and how messages name them.

#include <tendril/gpu_set.hpp>

#include <vector>

#include <gtest/gtest.h>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "support/messages.hpp"

namespace tendril {
namespace {

TEST(GpuSet, HoldsOrdinalsInOrder)
{
  gpu_set const two{3, 1};
  ASSERT_EQ(two.size(), 2);
  EXPECT_EQ(two[0], 3);
  EXPECT_EQ(two[1], 1);
  EXPECT_EQ(std::vector<int>(two.begin(), two.end()), (std::vector<int>{3, 1}));
  EXPECT_EQ(two, (gpu_set{3, 1}));
  EXPECT_FALSE(two == (gpu_set{1, 3}));
  EXPECT_TRUE(gpu_set().empty());
}

TEST(GpuSet, Names)
{
  EXPECT_EQ(to_string(gpu_set()), "in host memory");
  EXPECT_EQ(to_string(gpu_set(2)), "on GPU 2");
  EXPECT_EQ(to_string(gpu_set{0, 3}), "on GPUs 0, 3");
}

TEST(GpuSet, RefusesWhatIsNoSet)
{
  EXPECT_EQ(test::message_of<argument_error>([] { (void)gpu_set{0, -1}; }), "devices: GPU -1, expected 0 or more");
  EXPECT_EQ(test::message_of<argument_error>([] {
              (void)gpu_set{4, 4};
            }),
            "devices: GPU 4 twice, expected different ones");
  EXPECT_EQ(test::message_of<argument_error>([] { (void)gpu_set(std::span<int const>(std::vector<int>(17, 0))); }),
            "devices: 17 GPUs, expected at most 16");
}

TEST(GpuSet, CallsRunOnOneGpu)
{
  EXPECT_EQ(gpu_exec(gpu_set{2}).device, 2);
  EXPECT_EQ(test::message_of<argument_error>([] {
              (void)gpu_exec(gpu_set{0, 1});
            }),
            "devices: 2 GPUs, expected one: a call runs on one GPU");
  EXPECT_EQ(test::message_of<argument_error>([] { (void)gpu_exec(gpu_set()); }),
            "devices: 0 GPUs, expected one: a call runs on one GPU");
}

TEST(GpuSet, GraphsSayWhereTheyAre) { EXPECT_TRUE(graph().placement().empty()); }

}  // namespace
}  // namespace tendril
