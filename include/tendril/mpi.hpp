#pragma once

#include <memory>
#include <string>

#include <tendril/transport.hpp>

// Ranks as processes of an MPI job, on one machine or several. In a library of its own, tendril::mpi, since it needs an
// installed MPI; where it was built without one, every call says what to install.

namespace tendril {

/// Whether this build has MPI.
[[nodiscard]] bool has_mpi() noexcept;

/// Takes part in the job that mpirun started: initialises MPI, unless the program has, and finalises it at the end. One at a
/// time; the process's thread that makes it makes all calls of it.
class mpi_session {
 public:
  /// @throws io_error  without MPI in this build, or for an MPI that fails.
  explicit mpi_session(transport::seconds deadline = transport::usual_deadline);
  mpi_session(mpi_session const&) = delete;
  mpi_session& operator=(mpi_session const&) = delete;
  /// Where all ranks have ended their calls, MPI is finalised. Where one has not, the job is aborted: it could wait for ever.
  ~mpi_session();

  [[nodiscard]] transport& ranks() noexcept { return *ranks_; }

 private:
  std::unique_ptr<transport> ranks_;
  bool initialised_here_ = false;
};

}  // namespace tendril
