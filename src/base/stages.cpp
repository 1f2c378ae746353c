#include "base/stages.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/thread_limit.hpp"  // available_threads

namespace tendril::base {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);  // between two calls of `watch`

/// What the threads agree on.
class shared_line {
 public:
  shared_line(std::int64_t num_items, std::span<std::int64_t const> depths)
      : num_items_(num_items), depths_(depths), done_(depths.size(), 0)
  {
  }

  /// Waits until stage `s` may take item `i`. @return whether it shall; if not, the work is over.
  bool await_turn(std::size_t s, std::int64_t i)
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      bool const free = done_.back() > i - depths_[s];
      return failure_ || (free && (s == 0 || done_[s - 1] > i));
    });
    return !failure_;
  }

  void finish(std::size_t s)
  {
    {
      std::lock_guard const lock(mutex_);
      ++done_[s];
    }
    changed_.notify_all();
  }

  void fail(std::exception_ptr why) noexcept
  {
    {
      std::lock_guard const lock(mutex_);
      if (!failure_) { failure_ = std::move(why); }
    }
    changed_.notify_all();
  }

  /// Calls `watch` until all items are through, or something fails.
  void stand_by(std::function<void(std::int64_t)> const& watch)
  {
    std::unique_lock lock(mutex_);
    auto const over = [&] { return failure_ || done_.back() == num_items_; };
    for (bool last = false; !last;) {
      last = changed_.wait_for(lock, interval, over);
      std::int64_t const done = done_.back();
      if (failure_ || !watch) { continue; }
      lock.unlock();
      watch(done);
      lock.lock();
    }
  }

  /// Only after every thread has ended.
  void rethrow() const
  {
    if (failure_) { std::rethrow_exception(failure_); }
  }

 private:
  std::int64_t num_items_;
  std::span<std::int64_t const> depths_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> done_;  // items that each stage is done with
  std::exception_ptr failure_;
};

/// A stage's thread. @return seconds of work.
double work(shared_line& line, std::size_t s, stage const& do_stage, std::int64_t num_items) noexcept
{
  std::chrono::steady_clock::duration busy{};
  try {
    for (std::int64_t i = 0; i < num_items && line.await_turn(s, i); ++i) {
      auto const start = std::chrono::steady_clock::now();
      do_stage(i);
      busy += std::chrono::steady_clock::now() - start;
      line.finish(s);
    }
  } catch (...) {
    line.fail(std::current_exception());
  }
  return std::chrono::duration<double>(busy).count();
}

/// All stages in the calling thread, item by item.
std::vector<double> run_in_turn(std::int64_t num_items, std::span<stage const> stages,
                                std::function<void(std::int64_t done)> const& watch)
{
  using clock = std::chrono::steady_clock;
  std::vector<double> seconds(stages.size(), 0);
  auto told = clock::now();
  for (std::int64_t i = 0; i < num_items; ++i) {
    for (std::size_t s = 0; s < stages.size(); ++s) {
      auto const start = clock::now();
      stages[s](i);
      seconds[s] += std::chrono::duration<double>(clock::now() - start).count();
    }
    if (watch && clock::now() - told > interval) {
      watch(i + 1);
      told = clock::now();
    }
  }
  if (watch) { watch(num_items); }
  return seconds;
}

}  // namespace

std::vector<double> run_stages(std::int64_t num_items, std::int64_t depth, std::span<stage const> stages,
                               std::function<void(std::int64_t done)> const& watch)
{
  return run_stages(num_items, std::vector<std::int64_t>(stages.size(), depth), stages, watch);
}

std::vector<double> run_stages(std::int64_t num_items, std::span<std::int64_t const> depths,
                               std::span<stage const> stages, std::function<void(std::int64_t done)> const& watch)
{
  int const team = static_cast<int>(stages.size()) + 1;
  if (available_threads(team) < team) { return run_in_turn(num_items, stages, watch); }
  std::vector<double> seconds(stages.size(), 0);
  shared_line line(num_items, depths);
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t s = 0; s < stages.size(); ++s) {
        threads.emplace_back([&, s] { seconds[s] = work(line, s, stages[s], num_items); });
      }
      line.stand_by(watch);
    } catch (...) {
      line.fail(std::current_exception());
    }
  }
  line.rethrow();
  return seconds;
}

}  // namespace tendril::base
