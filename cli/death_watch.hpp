// What remains of a rank that was killed goes with it.

#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include <tendril/transport.hpp>

namespace tendril::cli {

/// Removes unfinished files once another rank of this machine has died: this rank's, and those that `removed_with_ranks` names. mpirun
/// gives ranks no time for that between its last two signals, and they come a second after the death. Ranks that end well do so
/// together, in MPI_Finalize.
class death_watch {
 public:
  explicit death_watch(transport& ranks);
  death_watch(death_watch const&) = delete;
  death_watch& operator=(death_watch const&) = delete;
  ~death_watch();

 private:
  void watch();

  std::vector<pid_t> others_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

/// As long as it lives, a death removes all files whose paths begin so, whichever rank wrote them.
class removed_with_ranks {
 public:
  explicit removed_with_ranks(std::string begin);
  removed_with_ranks(removed_with_ranks const&) = delete;
  removed_with_ranks& operator=(removed_with_ranks const&) = delete;
  ~removed_with_ranks();

 private:
  std::string begin_;
};

}  // namespace tendril::cli
