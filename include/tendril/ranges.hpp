#pragma once

#include <cstdint>
#include <functional>

#include <tendril/exec.hpp>

namespace tendril {

/// Calls f(begin, end) for consecutive ranges of at most `grain` that cover [0, size), on the threads of `exec`, in any
/// order. A program's own loops then use the library's threads, which sleep soon after a call. The ranges are the same
/// whatever the number of threads. The first exception of f comes out; ranges that have not begun are left out then.
/// @param grain  At least 1. As many elements should be worth the few microseconds that waking a thread takes.
void for_each_range(cpu_exec const& exec, std::int64_t size, std::int64_t grain,
                    std::function<void(std::int64_t begin, std::int64_t end)> const& f);

}  // namespace tendril
