#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include <omp.h>

#include <tendril/exec.hpp>

namespace tendril::base {

/// The threads a call uses: what `exec` asks for, or every core the process may run on.
inline int num_threads(cpu_exec const& exec) { return exec.num_threads > 0 ? exec.num_threads : omp_get_num_procs(); }

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
/// in any order. The ranges are the same whatever the number of threads. The first exception comes out.
template <class F>
void parallel_ranges(cpu_exec const& exec, std::int64_t size, std::int64_t grain, F&& f)
{
  std::int64_t const num_ranges = (size + grain - 1) / grain;
  int const threads = static_cast<int>(std::min<std::int64_t>(num_threads(exec), num_ranges));
  if (threads <= 1) {
    for (std::int64_t begin = 0; begin < size; begin += grain) { f(begin, std::min(begin + grain, size)); }
    return;
  }
  exception_keeper keeper;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::int64_t r = 0; r < num_ranges; ++r) {
    if (keeper.failed()) { continue; }
    keeper.run([&] { f(r * grain, std::min((r + 1) * grain, size)); });
  }
  keeper.rethrow();
}

}  // namespace tendril::base
