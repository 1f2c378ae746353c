// Threads that each do some items of a job, and have to do one thing of each item in the order of the items.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>

namespace tendril::base {

/// Lets items pass in the order of their numbers, from 0 on. Each number has to come once, from any thread.
class turnstile {
 public:
  /// What a thread that waits gets when the job has ended elsewhere.
  struct stopped final : std::exception {
    [[nodiscard]] char const* what() const noexcept override { return "the job has ended elsewhere"; }
  };

  /// Waits until all items before this one have passed. @return seconds waited. @throws stopped.
  double wait(std::int64_t item)
  {
    auto const since = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || next_ == item; });
    if (stopped_) { throw stopped(); }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  }

  /// The item that waited last has passed.
  void advance()
  {
    {
      std::lock_guard const lock(mutex_);
      ++next_;
    }
    changed_.notify_all();
  }

  /// Ends every wait, from now on too.
  void stop() noexcept
  {
    {
      std::lock_guard const lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t next_ = 0;
  bool stopped_ = false;
};

}  // namespace tendril::base
