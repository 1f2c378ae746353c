// Threads that work on one call together. They are kept between calls and sleep soon after a call's end: waiting threads of
// OpenMP spin for milliseconds, which a process with other work, or other processes, pay for.

#pragma once

#include <memory>
#include <type_traits>

namespace tendril::base {

/// Calls work(context, i) for each i in [0, size): 0 by the calling thread, others by threads of their own where these can
/// be had; the calling thread calls what is left. So members must share their work by what they take, not by their number.
/// Inside of a member's work it calls all by itself. The work must not throw. Any number of threads may call it at once.
void run_team(int size, void (*work)(void* context, int member), void* context);

/// The number of this thread in the innermost team whose work it does; 0 outside of teams.
[[nodiscard]] int team_member() noexcept;

/// The same, with f(i).
template <class F>
void run_team(int size, F&& f)
{
  using callable = std::remove_reference_t<F>;
  run_team(
      size, [](void* context, int member) { (*static_cast<callable*>(context))(member); },
      const_cast<std::remove_const_t<callable>*>(std::addressof(f)));
}

}  // namespace tendril::base
