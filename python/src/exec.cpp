#include "exec.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <omp.h>

#include <tendril/error.hpp>

namespace tendril::python {
namespace {

using clock = std::chrono::steady_clock;

/// Between two looks at the signals: taking the GIL can wait for a whole switch interval (5 ms) of another thread.
constexpr auto signal_interval = std::chrono::milliseconds(50);

}  // namespace

cpu_exec make_exec(int num_threads)
{
  if (num_threads < 0) {
    throw argument_error(fmt::format("num_threads is {}, expected 0 (every core) or more", num_threads));
  }
  constexpr int most_threads = 65535;
  if (num_threads > most_threads) {
    throw argument_error(fmt::format("num_threads is {}, expected at most {}", num_threads, most_threads));
  }
  cpu_exec exec;
  exec.num_threads = num_threads;
  exec.on_progress = [next = clock::now() + signal_interval](progress const&) mutable {
    auto const now = clock::now();
    if (now < next) { return; }
    next = now + signal_interval;
    nanobind::gil_scoped_acquire const gil;
    if (PyErr_CheckSignals() != 0) { throw nanobind::python_error(); }
  };
  return exec;
}

int threads_for(std::int64_t size, int num_threads)
{
  constexpr std::int64_t worth_a_thread = 1 << 16;
  int const wanted = num_threads > 0 ? num_threads : omp_get_num_procs();
  return static_cast<int>(std::clamp<std::int64_t>(size / worth_a_thread, 1, wanted));
}

}  // namespace tendril::python
