#include "base/thread_limit.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <omp.h>
#include <pthread.h>

#include <tendril/threads.hpp>

#include "base/memory_room.hpp"  // address_space_left

namespace tendril::base {
namespace {

/// Threads of the system that wait until all are released.
class waiting_threads {
 public:
  bool start()
  {
    try {
      threads_.emplace_back([this] {
        std::unique_lock lock(mutex_);
        released_.wait(lock, [this] { return over_; });
      });
    } catch (std::system_error const&) {
      return false;
    }
    return true;
  }

  void release()
  {
    {
      std::lock_guard const lock(mutex_);
      over_ = true;
    }
    released_.notify_all();
    threads_.clear();  // waits for each to end
  }

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  bool over_ = false;
  std::vector<std::jthread> threads_;
};

int try_threads(int wanted)
{
  waiting_threads threads;
  return count_threads(wanted, {[&] { return threads.start(); }, [&] { threads.release(); }});
}

/// Bytes of a thread's stack, as far as the system sets them.
std::int64_t stack_bytes()
{
  pthread_attr_t attributes;
  std::size_t size = 0;
  if (pthread_attr_init(&attributes) != 0) { return 0; }
  pthread_attr_getstacksize(&attributes, &size);
  pthread_attr_destroy(&attributes);
  return static_cast<std::int64_t>(size);
}

/// Addresses that glibc's malloc takes for an arena, of which most threads get one of their own.
constexpr std::int64_t arena_bytes = std::int64_t{64} << 20U;

/// How many threads of a team have room for their stacks and arenas in half of the address space that is left: they need
/// memory for their work, too.
int threads_with_room(int wanted, std::int64_t left)
{
  std::int64_t const a_thread = stack_bytes() + arena_bytes;
  return static_cast<int>(std::min<std::int64_t>(wanted, 1 + std::max<std::int64_t>(left, 0) / 2 / a_thread));
}

/// What the trials so far have shown: of `asked` threads `found` could be had.
class known_limit {
 public:
  int operator()(int wanted)
  {
    if (wanted <= asked_.load(std::memory_order_acquire)) { return std::min(wanted, found_.load()); }
    std::lock_guard const lock(mutex_);
    if (wanted > asked_.load()) {
      found_.store(try_threads(wanted));
      asked_.store(wanted, std::memory_order_release);
    }
    return std::min(wanted, found_.load());
  }

 private:
  std::mutex mutex_;
  std::atomic<int> asked_{1}, found_{1};
};

}  // namespace

int count_threads(int wanted, thread_trial const& trial)
{
  int count = 1;
  while (count < wanted && trial.start()) { ++count; }
  trial.release();
  return count;
}

int available_threads(int wanted)
{
  static known_limit limit;
  if (wanted <= 1) { return wanted; }
  std::int64_t const left = address_space_left();
  return limit(left == std::numeric_limits<std::int64_t>::max() ? wanted : threads_with_room(wanted, left));
}

}  // namespace tendril::base

namespace tendril {

int available_threads(int wanted) { return base::available_threads(wanted > 0 ? wanted : omp_get_num_procs()); }

}  // namespace tendril
