// A call can be cancelled between any two pieces of its loops, in any of its threads; and a forked process has one thread.

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <tendril/exec.hpp>

#include "base/parallel.hpp"

namespace tendril {
namespace {

struct cancelled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An exec whose call is cancelled at the given check.
cpu_exec cancelling(int threads, std::int64_t at, std::atomic<std::int64_t>& checks)
{
  cpu_exec exec;
  exec.num_threads = threads;
  exec.check_cancel = [at, &checks] {
    if (checks++ == at) { throw cancelled("at the caller's wish"); }
  };
  return exec;
}

TEST(Cancel, IsPossibleBeforeEachRange)
{
  for (int const threads : {1, 2, 5}) {
    std::atomic<std::int64_t> checks{0}, done{0};
    base::parallel_ranges(cancelling(threads, -1, checks), 1000, 10,
                          [&](auto begin, auto end) { done += end - begin; });
    EXPECT_EQ(done, 1000);
    EXPECT_EQ(checks, 100);
  }
}

TEST(Cancel, EndsTheLoopAtOnceWhereTheCallerThrows)
{
  for (int const threads : {1, 2, 5}) {
    for (std::int64_t const at : {0, 1, 50, 99}) {
      std::atomic<std::int64_t> checks{0}, done{0};
      EXPECT_THROW(base::parallel_ranges(cancelling(threads, at, checks), 1000, 10,
                                         [&](auto begin, auto end) { done += end - begin; }),
                   cancelled);
      if (threads == 1) { EXPECT_EQ(done, 10 * at); }
      EXPECT_LE(done, 990);  // other threads may end their ranges, and take some until they hear of it
    }
  }
}

TEST(Cancel, TheLoopOfAnExecThatNobodyCancelsIsWhole)
{
  std::atomic<std::int64_t> done{0};
  base::parallel_ranges({}, 1000, 10, [&](auto begin, auto end) { done += end - begin; });
  EXPECT_EQ(done, 1000);
}

/// What f says in a forked process, as its exit status.
template <class F>
int in_child(F f)
{
  pid_t const child = fork();
  if (child == 0) {
    alarm(60);  // a child that hangs ends by a signal
    _exit(f());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int threads_of_a_loop()
{
  cpu_exec exec;
  exec.num_threads = 4;
  std::atomic<std::int64_t> done{0};
  std::set<std::thread::id> seen;
  std::mutex mutex;
  base::parallel_ranges(exec, 1000, 1, [&](auto, auto) {
    ++done;
    std::lock_guard const lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return done == 1000 ? static_cast<int>(seen.size()) : 0;
}

TEST(Fork, LeavesOneThread)
{
  cpu_exec exec;
  exec.num_threads = 4;
  EXPECT_FALSE(forked());
  EXPECT_EQ(base::num_threads(exec), 4);
  EXPECT_GE(threads_of_a_loop(), 1);  // OpenMP now has a pool, of which the child's runtime knows
  EXPECT_EQ(in_child([] { return forked() ? 1 : 0; }), 1);
  EXPECT_EQ(in_child([&] { return base::num_threads(exec); }), 1);
  EXPECT_EQ(in_child([&] { return base::num_threads({}); }), 1);
  EXPECT_EQ(in_child(threads_of_a_loop), 1);
  EXPECT_EQ(in_child([] { return in_child(threads_of_a_loop); }), 1);
  EXPECT_FALSE(forked());
}

}  // namespace
}  // namespace tendril
