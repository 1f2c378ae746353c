#pragma once

#include <cstdint>

#include <tendril/exec.hpp>

namespace tendril::python {

/// The executor of a call from Python. The call runs without the GIL; now and then it takes it for a moment to see
/// whether a signal came in (Ctrl-C), and then ends with what the signal's handler raised.
/// @throws argument_error if num_threads is negative.
[[nodiscard]] cpu_exec make_exec(int num_threads);

/// Threads for a simple pass over `size` elements: one where a second would cost more than it brings.
[[nodiscard]] int threads_for(std::int64_t size, int num_threads);

}  // namespace tendril::python
