// Hands out the walks of a batch to threads in small runs, so that uneven lengths balance, and reports progress.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/parallel.hpp"  // exception_keeper, num_threads, run_team

namespace tendril::cpu {

/// A thread's view of the work: `next()` gives the index of the next walk, or -1 when there is none.
class walk_source {
 public:
  struct shared_state {
    std::int64_t size = 0;
    std::int64_t run_length = 256;
    std::atomic<std::int64_t> next{0};
    base::exception_keeper keeper;
  };

  walk_source(shared_state& shared, cpu_exec const& exec, bool reports)
      : shared_(shared), exec_(exec), reports_(reports && exec.on_progress)
  {
  }

  [[nodiscard]] std::int64_t next()
  {
    if (position_ == end_ && !take_run()) { return -1; }
    return position_++;
  }

 private:
  bool take_run()
  {
    if (shared_.keeper.failed()) { return false; }
    std::int64_t const begin = shared_.next.fetch_add(shared_.run_length, std::memory_order_relaxed);
    if (begin >= shared_.size) { return false; }
    position_ = begin;
    end_ = std::min(begin + shared_.run_length, shared_.size);
    base::check_cancel(exec_);
    if (reports_) { exec_.on_progress({"walking", begin, shared_.size}); }
    return true;
  }

  shared_state& shared_;
  cpu_exec const& exec_;
  bool reports_;  // in the calling thread only
  std::int64_t position_ = 0, end_ = 0;
};

/// Runs work(source) on the threads of `exec`, each with its own source over [0, size). The first exception comes out.
/// @param run_length  Walks that a thread takes at a time.
template <class Work>
void run_walks(std::int64_t size, cpu_exec const& exec, Work work, std::int64_t run_length = 256)
{
  walk_source::shared_state shared;
  shared.size = size;
  shared.run_length = run_length;
  std::int64_t const runs = (size + run_length - 1) / run_length;
  int const threads = static_cast<int>(std::min<std::int64_t>(base::num_threads(exec), runs));
  base::run_team(threads, [&](int member) {
    walk_source source(shared, exec, member == 0);
    shared.keeper.run([&] { work(source); });
  });
  shared.keeper.rethrow();
}

}  // namespace tendril::cpu
