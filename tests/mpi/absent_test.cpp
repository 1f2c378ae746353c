// What a build without MPI says where mpirun starts it. This program has no MPI, whether or not the library was built with one.

#include <tendril/mpi.hpp>

#include <string>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/transport.hpp>

#include "support/scoped_variable.hpp"

namespace tendril::test {
namespace {

/// What joining a job of MPI says; "" where it succeeds.
std::string refusal()
{
  try {
    mpi_session const session;
    return {};
  } catch (io_error const& failed) {
    return failed.what();
  }
}

constexpr char const* what_to_do =
    "this build has no MPI, expected one under mpirun: install MPI (Debian: libopenmpi-dev) and build again";

TEST(WithoutMpi, SaysSo) { EXPECT_FALSE(has_mpi()); }

TEST(WithoutMpi, RanksOfAJobAreToldWhatToInstall)
{
  for (char const* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {  // of Open MPI and of MPICH
    scoped_variable const ranks(variable, "2");
    ASSERT_TRUE(started_by_mpi()) << variable;
    EXPECT_EQ(refusal(), what_to_do) << variable;
  }
}

TEST(WithoutMpi, OneProcessNeedsNone)
{
  // The command joins a job where there is one alone, so that a build without MPI works by itself and under "mpirun -n 1".
  for (char const* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    scoped_variable const ranks(variable, "1");
    EXPECT_FALSE(started_by_mpi()) << variable;
  }
}

}  // namespace
}  // namespace tendril::test
