// How many threads this process can have: `ulimit -u`, `ulimit -v` and limits of a container may leave fewer than there
// are cores. A call that knows how many it can have shares its work among as many.

#pragma once

#include <functional>
#include <future>

namespace tendril::base {

/// Where std::async does its work: on a thread of its own, or, where the system gives none, in the call that asks for the
/// result.
inline constexpr std::launch aside = std::launch::async | std::launch::deferred;

/// A way to start threads that do nothing.
struct thread_trial {
  std::function<bool()> start;    ///< Starts one. @return whether that was possible.
  std::function<void()> release;  ///< Ends all.
};

/// The most threads of a team, the caller among them, up to `wanted`: starts the others until one fails, and ends them.
[[nodiscard]] int count_threads(int wanted, thread_trial const& trial);

/// The same by threads of the system. The first call for a number tries, later calls know the answer; where `ulimit -v` is
/// set, no more than have room for their stacks. Thread-safe.
/// @return `wanted`, or fewer, at least 1; what is below 1 comes back as it is.
[[nodiscard]] int available_threads(int wanted);

}  // namespace tendril::base
