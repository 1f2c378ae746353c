// What a build without MPI says.

#include <tendril/mpi.hpp>

namespace tendril {

bool has_mpi() noexcept { return false; }

mpi_session::mpi_session(transport::seconds)
{
  throw rank_error(0,
                   "this build has no MPI, expected one under mpirun: install MPI (Debian: libopenmpi-dev) and build "
                   "again");
}

mpi_session::~mpi_session() = default;

}  // namespace tendril
