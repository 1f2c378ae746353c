#include "ranks.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tendril/error.hpp>
#include <tendril/mpi.hpp>

#include "death_watch.hpp"

namespace tendril::cli {
namespace {

std::unique_ptr<death_watch>& watch()
{
  static std::unique_ptr<death_watch> one;
  return one;
}

std::unique_ptr<mpi_session>& session()
{
  static std::unique_ptr<mpi_session> one;
  return one;
}

}  // namespace

void join_job()
{
  if (!started_by_mpi()) { return; }
  session() = std::make_unique<mpi_session>();
  watch() = std::make_unique<death_watch>(session()->ranks());
  if (!is_first_rank() && std::freopen("/dev/null", "w", stdout) == nullptr) {
    throw io_error("/dev/null: cannot open");
  }
}

void leave_job()
{
  watch().reset();
  session().reset();
}

transport* job_ranks() { return session() ? &session()->ranks() : nullptr; }

int rank_on_this_machine()
{
  if (!session()) { return 0; }
  for (char const* const name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (char const* const rank = std::getenv(name)) { return std::atoi(rank); }
  }
  return session()->ranks().rank();
}

bool is_first_rank() { return !session() || session()->ranks().rank() == 0; }

bool tells_of(std::string& message, std::optional<int> about, bool of_argument)
{
  transport* const ranks = job_ranks();
  if (ranks == nullptr) { return true; }
  bool const tells = ranks->speaks(message, about, transport::seconds(2), of_argument);
  if (!about) { message = fmt::format("rank {} of {}: {}", ranks->rank(), ranks->size(), message); }
  return tells;
}

void expect_verb_of_ranks(CLI::App const& application)
{
  transport const* const ranks = job_ranks();
  if (ranks == nullptr) { return; }
  for (CLI::App const* const verb : application.get_subcommands()) {
    if (verb->get_name() == "walk" || verb->get_name() == "sample") {
      for (CLI::Option const* const option : verb->get_options()) {
        if (option->results() != std::vector<std::string>{"-"}) { continue; }
        throw argument_error(fmt::format("{} -: started by mpirun as {} ranks, expected a file that all can open",
                                         option->get_name(), ranks->size()));
      }
      continue;
    }
    if (verb->get_name() == "bench") { continue; }  // which says itself what ranks measure
    throw argument_error(
        fmt::format("{}: started by mpirun as {} ranks, expected one process: ranks share the verbs walk and sample",
                    verb->get_name(), ranks->size()));
  }
}

void expect_agreement(transport& ranks, std::vector<agreement> const& all)
{
  for (auto const& [what, value] : all) {
    auto const values = ranks.all_gather(what, value);
    for (int rank = 1; rank < ranks.size(); ++rank) {
      std::string const& theirs = values[static_cast<std::size_t>(rank)];
      if (theirs == values[0]) { continue; }
      throw rank_error(rank, fmt::format("rank {} of {}: {} is {}, expected as on rank 0: {}", rank, ranks.size(), what,
                                         theirs, values[0]));
    }
  }
}

std::int64_t sum_over(transport* ranks, std::string_view what, std::int64_t value)
{
  return ranks != nullptr ? ranks->all_reduce(what, value, reduction::sum) : value;
}

double longest_of(transport* ranks, std::string_view what, double seconds)
{
  if (ranks == nullptr) { return seconds; }
  return 1e-9 * static_cast<double>(ranks->all_reduce(what, static_cast<std::int64_t>(1e9 * seconds), reduction::max));
}

}  // namespace tendril::cli
