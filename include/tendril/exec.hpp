#pragma once

#include <cstdint>
#include <functional>

#include <tendril/buffer.hpp>  // memory_resource, host_memory

namespace tendril {

/// How far a long call has come.
struct progress {
  char const* what;    ///< The stage, for a person: "reading", "building", "walking".
  std::int64_t done;   ///< Units done, in [0, total].
  std::int64_t total;  ///< Units in all; 0 where that is not known.
};

/// Runs work on this machine's cores. Passing it as a call's last argument selects the CPU executor.
struct cpu_exec {
  int num_threads = 0;                       ///< Threads to use; 0 means every core the process may use.
  memory_resource* memory = &host_memory();  ///< Where results and tables are allocated.

  /// Called now and then from the calling thread, never concurrently. What it throws ends the call and comes
  /// out of it, with nothing left behind: the way to cancel.
  std::function<void(progress const&)> on_progress = {};
};

}  // namespace tendril
