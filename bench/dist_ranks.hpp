// Runs measurements on ranks: threads of this process, or the processes that mpirun started.

#pragma once

#include <functional>

#include <tendril/exec.hpp>
#include <tendril/transport.hpp>

namespace tendril::bench {

inline cpu_exec on_threads(int threads)
{
  cpu_exec exec;
  exec.num_threads = threads;
  return exec;
}

/// Runs on so many threads of this process as ranks; or, where mpirun started as many processes, on those. One rank alone is
/// always a thread, of the first process: the others wait.
inline void run_on(transport* processes, int ranks, std::function<void(transport&)> const& body)
{
  if (processes == nullptr) {
    run_ranks(ranks, body);
    return;
  }
  processes->barrier("a measurement");
  if (ranks == processes->size()) {
    body(*processes);
  } else if (processes->rank() == 0) {
    run_ranks(ranks, body);
  }
  processes->barrier("the end of a measurement");
}

}  // namespace tendril::bench
