// The model behind `tendril bench dist --simulate`: what it must say where the answer is known.

#include "bench/dist_model.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "dist/records.hpp"

namespace tendril::test {
namespace {

using bench::expected_chunks;
using bench::host_plan;
using bench::network;
using bench::plan_hosts;
using bench::walk_costs;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr network ideal{infinite, 0};

/// 100 M steps a second: a superstep of 100,000 steps takes 1 ms.
walk_costs uniform_walk() { return {.steps_per_second = 100e6, .steps_a_superstep = 100'000}; }

TEST(DistModel, OneHostHasTheMeasuredRate)
{
  walk_costs walk = uniform_walk();
  walk.superstep_seconds = 1e-4;
  walk.message_seconds = 1;
  host_plan const p = plan_hosts(walk, {1, 1}, {.hosts = 1});
  EXPECT_DOUBLE_EQ(p.steps_per_second, 100e6);
  EXPECT_DOUBLE_EQ(p.superstep_seconds, 1e-3);
  EXPECT_DOUBLE_EQ(p.efficiency, 1);
  EXPECT_EQ(p.bytes_a_step, 0);
  EXPECT_EQ(p.limit, "compute");
}

TEST(DistModel, AnIdealNetworkLeavesCompute)
{
  host_plan const p = plan_hosts(uniform_walk(), ideal, {.hosts = 1000, .crossing = 0.999});
  EXPECT_DOUBLE_EQ(p.superstep_seconds, 1e-3);
  EXPECT_DOUBLE_EQ(p.steps_per_second, 1000 * 100e6);
  EXPECT_DOUBLE_EQ(p.efficiency, 1);
  EXPECT_EQ(p.limit, "compute");
}

TEST(DistModel, AllWaitForTheBusiestHost)
{
  host_plan const p = plan_hosts(uniform_walk(), ideal, {.hosts = 16, .crossing = 0.9, .busiest = 1.25});
  EXPECT_DOUBLE_EQ(p.superstep_seconds, 1.25e-3);
  EXPECT_DOUBLE_EQ(p.efficiency, 0.8);
}

TEST(DistModel, ASuperstepsOwnTimeDoesNotGrowWithItsSteps)
{
  walk_costs walk = uniform_walk();
  walk.superstep_seconds = 4e-4;
  host_plan const p = plan_hosts(walk, ideal, {.hosts = 16, .crossing = 0.9, .busiest = 2});
  EXPECT_DOUBLE_EQ(p.superstep_seconds, 4e-4 + 2 * 6e-4);
}

TEST(DistModel, HalfTheBandwidthTakesTwiceAsLongWhereBandwidthIsTheLimit)
{
  bench::host_cut const cut{.hosts = 16, .crossing = 0.9};
  host_plan const whole = plan_hosts(uniform_walk(), {1e9, 0}, cut), half = plan_hosts(uniform_walk(), {5e8, 0}, cut);
  EXPECT_EQ(whole.limit, "bandwidth");
  EXPECT_EQ(half.limit, "bandwidth");
  EXPECT_DOUBLE_EQ(half.superstep_seconds, 2 * whole.superstep_seconds);
  EXPECT_DOUBLE_EQ(half.steps_per_second, whole.steps_per_second / 2);
  EXPECT_DOUBLE_EQ(whole.superstep_seconds, whole.bytes_a_step * 100'000 / 1e9);
}

TEST(DistModel, TwoBatchesHideALatencyUpToTheTimeOfOneStep)
{
  bench::host_cut const cut{.hosts = 16, .crossing = 0.9};
  EXPECT_DOUBLE_EQ(plan_hosts(uniform_walk(), {infinite, 0.9e-3}, cut).superstep_seconds, 1e-3);
  host_plan const p = plan_hosts(uniform_walk(), {infinite, 3e-3}, cut);
  EXPECT_DOUBLE_EQ(p.superstep_seconds, 2e-3);
  EXPECT_EQ(p.limit, "latency");
}

TEST(DistModel, EachOtherHostCostsAMessage)
{
  walk_costs walk = uniform_walk();
  walk.message_seconds = 1e-5;
  host_plan const p = plan_hosts(walk, ideal, {.hosts = 1000, .crossing = 0.999});
  EXPECT_DOUBLE_EQ(p.superstep_seconds, 1e-3 + 999e-5);
  EXPECT_EQ(p.limit, "messages");
}

TEST(DistModel, HostsWorkWhileTheirGpusStep)
{
  walk_costs walk = uniform_walk();
  walk.host_beside = true;
  walk.superstep_seconds = 4e-4;
  walk.message_seconds = 1e-4;
  EXPECT_DOUBLE_EQ(plan_hosts(walk, ideal, {.hosts = 1}).superstep_seconds, 1e-3);
  EXPECT_DOUBLE_EQ(plan_hosts(walk, ideal, {.hosts = 7, .crossing = 0.8}).superstep_seconds, 1e-3);
  host_plan const p = plan_hosts(walk, ideal, {.hosts = 10, .crossing = 0.9});
  EXPECT_DOUBLE_EQ(p.superstep_seconds, 4e-4 + 9e-4);
  EXPECT_EQ(p.limit, "messages");
  walk.superstep_seconds = 5e-3;  // of few walkers, and measured in a slow moment: one with more of them took 1e-3
  EXPECT_DOUBLE_EQ(plan_hosts(walk, ideal, {.hosts = 1}).superstep_seconds, 1e-3);
  walk.superstep_seconds = 4e-4;
  // A batch waits for its GPU, its host and its messages, in turn with the other.
  EXPECT_DOUBLE_EQ(plan_hosts(walk, {infinite, 2e-3}, {.hosts = 10, .crossing = 0.9}).superstep_seconds, 4.3e-3 / 2);
}

TEST(DistModel, WaitingForAnswersMakesSuperstepsSmaller)
{
  walk_costs walk = uniform_walk();
  walk.supersteps_a_move = 2;
  walk.superstep_seconds = 5e-4;
  host_plan const p = plan_hosts(walk, ideal, {.hosts = 2, .crossing = 0.5});
  EXPECT_DOUBLE_EQ(p.superstep_seconds, 5e-4 + 5e-4 / 2);  // half of the steps
  EXPECT_DOUBLE_EQ(p.steps_per_second, 2 * 50'000 / 7.5e-4);
}

TEST(DistModel, MovesAreWork)
{
  walk_costs walk = uniform_walk();
  walk.work_a_move = 2;
  EXPECT_DOUBLE_EQ(plan_hosts(walk, ideal, {.hosts = 2, .crossing = 0.5}).superstep_seconds, 2e-3);
}

TEST(DistModel, ManyRecordsCostTheirBytesAndFewCostAChunk)
{
  double const a_chunk = dist::records_a_chunk<dist::walker_in_step>;
  EXPECT_EQ(expected_chunks(0, a_chunk, 4), 0);
  EXPECT_NEAR(expected_chunks(100, a_chunk, 1), 1, 1e-9);
  EXPECT_NEAR(expected_chunks(100, a_chunk, 4), 4, 1e-9);
  EXPECT_NEAR(expected_chunks(0.01, a_chunk, 1), 0.01, 1e-4);
  EXPECT_DOUBLE_EQ(expected_chunks(1000 * a_chunk, a_chunk, 4), 1000);
}

TEST(DistModel, BytesOfAStepOnTwoHosts)
{
  // A walker and a visit, each of 8 bytes, leave with half of the steps each.
  walk_costs walk = uniform_walk();
  walk.steps_a_superstep = 10'000'000;
  EXPECT_NEAR(plan_hosts(walk, ideal, {.hosts = 2, .crossing = 0.5}).bytes_a_step, 8, 0.1);
  // Two questions of 12 bytes and two answers of 8 for each walker that moves.
  walk.questions_a_move = 2;
  EXPECT_NEAR(plan_hosts(walk, ideal, {.hosts = 2, .crossing = 0.5}).bytes_a_step, 8 + 12 + 8, 0.2);
}

TEST(DistModel, WalkersThatComeHomeAreTheirOwnVisits)
{
  walk_costs walk = uniform_walk();
  walk.steps_a_superstep = 10'000'000;
  walk.in_chunks = false;
  walk.homecoming_tells = true;
  // Of two hosts, half of the steps move; of the other half, half of the walkers are away from home, and tell.
  EXPECT_NEAR(plan_hosts(walk, ideal, {.hosts = 2, .crossing = 0.5}).bytes_a_step, 8 * (0.5 + 0.25), 1e-4);
  // Where all move, all that are away go home.
  EXPECT_NEAR(plan_hosts(walk, ideal, {.hosts = 2, .crossing = 1}).bytes_a_step, 8, 1e-4);
  // Of four, three of four walkers are away, and the half that moves goes home with one of three.
  EXPECT_NEAR(plan_hosts(walk, ideal, {.hosts = 4, .crossing = 0.5}).bytes_a_step, 8 * (0.5 + 0.75 * 5 / 6), 1e-4);
}

}  // namespace
}  // namespace tendril::test
