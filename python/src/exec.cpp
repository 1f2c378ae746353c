#include "exec.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <pthread.h>

#include <tendril/error.hpp>

#include "bind.hpp"

namespace tendril::python {
namespace {

using clock = std::chrono::steady_clock;

/// Between two looks at the signals: taking the GIL can wait for a whole switch interval (5 ms) of another thread.
constexpr auto signal_interval = std::chrono::milliseconds(50);

std::atomic<std::int64_t> num_looks{0};  // for tests

/// The thread in which Python handles signals.
pthread_t main_thread;

void note_main_thread()
{
  namespace nb = nanobind;
  nb::object const thread = nb::module_::import_("threading").attr("main_thread")();
  main_thread = nb::cast<pthread_t>(thread.attr("ident"));
}

/// Looks for signals. The library asks in any of its threads, several at a time; one of them may be Python's main thread.
class signal_watch {
 public:
  void look()
  {
    if (pthread_equal(pthread_self(), main_thread) == 0) { return; }
    num_looks.fetch_add(1, std::memory_order_relaxed);
    auto const now = clock::now();
    if (now < next_) { return; }
    next_ = now + signal_interval;
    nanobind::gil_scoped_acquire const gil;
    if (PyErr_CheckSignals() != 0) { throw nanobind::python_error(); }
  }

 private:
  clock::time_point next_ = clock::now() + signal_interval;
};

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
  exec.check_cancel = [watch = std::make_shared<signal_watch>()] { watch->look(); };
  exec.on_progress = [look = exec.check_cancel](progress const&) { look(); };
  return exec;
}

void bind_exec(nanobind::module_& module)
{
  note_main_thread();
  pthread_atfork(nullptr, nullptr, [] { main_thread = pthread_self(); });
  module.def("forked", &forked);
  module.def(
      "set_leak_warnings", [](bool warn) { nanobind::set_leak_warnings(warn); }, nanobind::arg("warn"));
  module.def("signal_looks", [] { return num_looks.load(std::memory_order_relaxed); });
}

}  // namespace tendril::python
