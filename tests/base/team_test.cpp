// Teams of threads: every member is called once, whatever calls run at the same time and whether threads can be had.

#include "base/team.hpp"

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parallel.hpp"
#include "support/sanitized.hpp"

namespace tendril::base {
namespace {

using test::is_sanitized;

/// How often each member of a team of `size` was called.
std::vector<int> calls_of_team(int size)
{
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(size));
  run_team(size, [&](int member) {
    EXPECT_EQ(team_member(), member);
    ++calls[static_cast<std::size_t>(member)];
  });
  return {calls.begin(), calls.end()};
}

TEST(Team, EveryMemberIsCalledOnce)
{
  for (int turn = 0; turn < 200; ++turn) {
    for (int const size : {1, 2, 3, 7}) {
      ASSERT_EQ(calls_of_team(size), std::vector<int>(static_cast<std::size_t>(size), 1)) << size;
    }
  }
  EXPECT_EQ(team_member(), 0);
}

TEST(Team, MembersRunAtTheSameTime)
{
  // No member ends before both have begun; a thread that comes late is waited for.
  std::atomic<int> begun{0};
  std::atomic<bool> second_began{false};
  std::thread::id const caller = std::this_thread::get_id();
  run_team(2, [&](int member) {
    ++begun;
    if (member == 1) {
      EXPECT_NE(std::this_thread::get_id(), caller);
      second_began = true;
      second_began.notify_all();
    } else {
      second_began.wait(false);
    }
  });
  EXPECT_EQ(begun, 2);
}

TEST(Team, InsideOfATeamAMemberWorksAlone)
{
  run_team(3, [&](int outer) {
    std::thread::id const own = std::this_thread::get_id();
    int calls = 0;
    run_team(4, [&](int inner) {
      EXPECT_EQ(std::this_thread::get_id(), own);
      EXPECT_EQ(team_member(), inner);
      ++calls;
    });
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(team_member(), outer);
  });
}

TEST(Team, CallsOfSeveralThreadsDontDisturbEachOther)
{
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([] {
      for (int turn = 0; turn < 200; ++turn) { ASSERT_EQ(calls_of_team(3), std::vector<int>(3, 1)); }
    });
  }
  for (auto& caller : callers) { caller.join(); }
}

TEST(Team, AMemberLeavesSignalsToTheProgramButKeepsItsFaults)
{
  std::atomic<bool> second_began{false};
  run_team(2, [&](int member) {
    if (member == 0) {
      second_began.wait(false);
      return;
    }
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (int const signal : {SIGINT, SIGTERM, SIGALRM}) { EXPECT_EQ(sigismember(&blocked, signal), 1) << signal; }
    for (int const fault : {SIGBUS, SIGSEGV}) { EXPECT_EQ(sigismember(&blocked, fault), 0) << fault; }
    second_began = true;
    second_began.notify_all();
  });
}

/// The exit status of a process that is forked off and returns what `work` returns.
template <class Work>
int status_of_child(Work work)
{
  pid_t const child = fork();
  if (child == 0) { _exit(work()); }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Team, AForkedProcessHasThreadsOfItsOwn)
{
  if (is_sanitized) { GTEST_SKIP() << "no threads after a fork"; }
  (void)calls_of_team(4);  // the parent's threads sleep now
  int const status = status_of_child([] {
    alarm(60);  // a child that hangs ends
    std::atomic<bool> second_began{false};
    run_team(2, [&](int member) {
      if (member == 1) {
        second_began = true;
        second_began.notify_all();
      } else {
        second_began.wait(false);
      }
    });
    return 7;
  });
  EXPECT_EQ(status, 7);
  EXPECT_EQ(calls_of_team(4), std::vector<int>(4, 1));
}

TEST(Team, WithoutThreadsTheCallerDoesAll)
{
  if (is_sanitized) { GTEST_SKIP() << "sanitizers need address space"; }
  int const status = status_of_child([] {
    rlimit const none{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};  // less than is mapped: no room for a stack
    setrlimit(RLIMIT_AS, &none);
    std::atomic<std::int64_t> sum{0};
    // More threads than this program has had: their stacks would serve again.
    parallel_ranges({.num_threads = 64}, 1000, 10, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    return sum == 1000 ? 7 : 1;
  });
  EXPECT_EQ(status, 7);
}

TEST(ParallelRanges, EveryRangeIsTakenOnceAndProgressComesFromTheCaller)
{
  std::thread::id const caller = std::this_thread::get_id();
  for (int const threads : {1, 2, 5}) {
    std::int64_t last = -1;
    cpu_exec exec{.num_threads = threads};
    exec.on_progress = [&](progress const& report) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_STREQ(report.what, "counting");
      EXPECT_EQ(report.total, 10'007);
      EXPECT_GT(report.done, last);
      last = report.done;
    };
    std::vector<std::atomic<int>> taken(10'007);
    parallel_ranges(
        exec, 10'007, 10,
        [&](std::int64_t begin, std::int64_t end) {
          EXPECT_LE(end - begin, 10);
          for (std::int64_t i = begin; i < end; ++i) { ++taken[static_cast<std::size_t>(i)]; }
        },
        "counting");
    EXPECT_GE(last, 0);
    for (auto const& times : taken) { ASSERT_EQ(times, 1); }
  }
}

TEST(ParallelRanges, AnExceptionOfARangeOrOfProgressComesOut)
{
  for (int const threads : {1, 4}) {
    cpu_exec exec{.num_threads = threads};
    EXPECT_THROW(parallel_ranges(exec, 1000, 1,
                                 [](std::int64_t begin, std::int64_t) {
                                   if (begin == 500) { throw 5; }
                                 }),
                 int);
    exec.on_progress = [](progress const&) { throw 1.5; };
    EXPECT_THROW(parallel_ranges(
                     exec, 1000, 1, [](std::int64_t, std::int64_t) {}, "counting"),
                 double);
  }
}

}  // namespace
}  // namespace tendril::base
