#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/ranges.hpp>

namespace tendril::python {

/// The executor of a call from Python. The call runs without the GIL; now and then it takes it for a moment to see
/// whether a signal came in (Ctrl-C), and then ends with what the signal's handler raised.
/// @throws argument_error if num_threads is negative.
[[nodiscard]] cpu_exec make_exec(int num_threads);

/// Calls f(i) for each i in [0, size), for simple passes over arrays: on one thread where a second would cost more than it
/// brings. f must not throw. Ends as a call does if a signal comes in.
template <class F>
void for_each_element(std::int64_t size, int num_threads, F f)
{
  constexpr std::int64_t worth_a_thread = 1 << 16;
  auto const pass = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) { f(i); }
  };
  if (size <= worth_a_thread) {
    pass(0, size);
  } else {
    for_each_range(make_exec(num_threads), size, worth_a_thread, pass);
  }
}

}  // namespace tendril::python
