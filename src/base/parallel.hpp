#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include <omp.h>

#include <tendril/exec.hpp>

#include "base/team.hpp"
#include "base/thread_limit.hpp"  // available_threads

namespace tendril::base {

/// The threads a call uses: what `exec` asks for, or every core the process may run on; fewer where the system does not
/// give so many, one in a forked process.
inline int num_threads(cpu_exec const& exec)
{
  if (forked()) { return 1; }
  return available_threads(exec.num_threads > 0 ? exec.num_threads : omp_get_num_procs());
}

/// Lets the caller cancel the call here.
inline void check_cancel(cpu_exec const& exec)
{
  if (exec.check_cancel) { exec.check_cancel(); }
}

/// Keeps the first exception thrown inside a parallel region, to be thrown again outside of it.
class exception_keeper {
 public:
  template <class F>
  void run(F&& f) noexcept
  {
    try {
      f();
    } catch (...) {
      if (!failed_.exchange(true)) { first_ = std::current_exception(); }
    }
  }
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  void rethrow() const
  {
    if (first_) { std::rethrow_exception(first_); }
  }

 private:
  std::atomic<bool> failed_{false};
  std::exception_ptr first_;
};

/// Calls f(begin, end) for consecutive ranges of at most `grain` that cover [0, size), on the threads of `exec`,
/// in any order. The ranges are the same whatever the number of threads. The first exception comes out. Before each range
/// the caller may cancel the call.
/// @param what  Where given, progress is reported as this, in units of `size`.
template <class F>
void parallel_ranges(cpu_exec const& exec, std::int64_t size, std::int64_t grain, F&& f, char const* what = nullptr)
{
  std::int64_t const num_ranges = (size + grain - 1) / grain;
  int const threads = static_cast<int>(std::clamp<std::int64_t>(num_ranges, 1, num_threads(exec)));
  // The start is always told: other threads may take every range before the caller takes one.
  if (what != nullptr && size > 0 && exec.on_progress) { exec.on_progress({what, 0, size}); }
  std::atomic<std::int64_t> next{0};
  exception_keeper keeper;
  run_team(threads, [&](int member) {
    keeper.run([&] {
      while (!keeper.failed()) {
        std::int64_t const begin = next.fetch_add(1, std::memory_order_relaxed) * grain;
        if (begin >= size) { return; }
        check_cancel(exec);
        if (what != nullptr && member == 0 && begin > 0 && exec.on_progress) { exec.on_progress({what, begin, size}); }
        f(begin, std::min(begin + grain, size));
      }
    });
  });
  keeper.rethrow();
}

}  // namespace tendril::base
