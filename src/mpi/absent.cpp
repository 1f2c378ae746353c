// What a build without MPI says.

#include <tendril/error.hpp>
#include <tendril/mpi.hpp>

namespace tendril {

bool has_mpi() noexcept { return false; }

mpi_session::mpi_session(transport::seconds)
{
  throw io_error(
      "this build has no MPI, expected one under mpirun: install MPI (Debian: libopenmpi-dev) and build again");
}

mpi_session::~mpi_session() = default;

}  // namespace tendril
