#include "ranks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <tendril/error.hpp>
#include <tendril/mpi.hpp>

#include "content_hash.hpp"
#include "death_watch.hpp"
#include "text.hpp"
#include "usage.hpp"  // is_input

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

/// The options that never change a file. Every other option of a shared verb must have the same value on all ranks.
/// --memory is none of them: it decides which rank makes which trees.
constexpr std::array<std::string_view, 11> may_differ{"--threads",  "--json",        "--quiet",      "--progress",
                                                      "--deadline", "--device",      "--gpu-memory", "--graph-memory",
                                                      "--spread",   "--table-bytes", "--executor"};

/// Whether ranks share the work of a verb, and write its file together.
bool is_shared(CLI::App const& verb) { return verb.get_name() == "walk" || verb.get_name() == "sample"; }

/// The value of an option as ranks compare it.
std::string value_of(CLI::Option const& option)
{
  if (option.count() == 0) { return "not given"; }
  if (is_input(option)) { return "a file"; }
  if (option.get_expected_max() == 0) { return "given"; }
  return fmt::format("{}", fmt::join(option.results(), " "));
}

agreement content(std::string_view option, std::string_view size, content_hash const& hash)
{
  return {fmt::format("the content of {}", option), fmt::format("{} with the hash {:016x}", size, hash.value())};
}

std::vector<agreement> agreements_in(std::string_view text)
{
  std::vector<agreement> out;
  auto const next = [&] {
    std::size_t const end = std::min(text.find('\0'), text.size());
    std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
  };
  while (!text.empty()) {
    std::string what = next();
    out.push_back({std::move(what), next()});
  }
  return out;
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
    if (is_shared(*verb)) {
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
  std::string mine;
  for (auto const& [what, value] : all) {
    for (std::string const* const one : {&what, &value}) { mine.append(*one).push_back('\0'); }
  }
  auto const texts = ranks.all_gather("what ranks must agree on", mine);
  for (int rank = 1; rank < ranks.size(); ++rank) {
    std::string const& text = texts[static_cast<std::size_t>(rank)];
    if (text == texts[0]) { continue; }
    auto const theirs = agreements_in(text), expected = agreements_in(texts[0]);
    std::size_t i = 0;
    while (i + 1 < std::min(theirs.size(), expected.size()) && theirs[i].what == expected[i].what &&
           theirs[i].value == expected[i].value) {
      ++i;
    }
    throw rank_error(rank, fmt::format("rank {} of {}: {} is {}, expected as on rank 0: {}", rank, ranks.size(),
                                       theirs[i].what, theirs[i].value, expected[i].value));
  }
}

void expect_same_options(CLI::App const& application)
{
  transport* const ranks = job_ranks();
  if (ranks == nullptr) { return; }
  for (CLI::App const* const verb : application.get_subcommands()) {
    if (!is_shared(*verb)) { continue; }
    std::vector<agreement> all{{"the version", TENDRIL_VERSION}, {"the verb", verb->get_name()}};
    for (CLI::Option const* const option : verb->get_options()) {
      std::string const name = option->get_name();
      if (std::find(may_differ.begin(), may_differ.end(), name) != may_differ.end()) { continue; }
      all.push_back({name, value_of(*option)});
    }
    expect_agreement(*ranks, all);
  }
}

agreement content_of(std::string_view option, std::span<vertex_id const> vertices)
{
  content_hash hash;
  for (vertex_id const v : vertices) { hash.mix(v); }
  return content(option, counted(std::ssize(vertices), "vertex", "vertices"), hash);
}

agreement content_of(std::string_view option, std::span<float const> values)
{
  content_hash hash;
  for (float const value : values) { hash.mix(std::bit_cast<std::uint32_t>(value)); }
  return content(option, counted(std::ssize(values), "number", "numbers"), hash);
}

agreement content_of(std::string_view option, std::string_view text)
{
  content_hash hash;
  hash.mix(text);
  return content(option, counted(std::ssize(text), "byte", "bytes"), hash);
}

void expect_same_vertices(std::string const& option, std::span<vertex_id const> vertices)
{
  transport* const ranks = job_ranks();
  if (ranks == nullptr) { return; }
  expect_agreement(*ranks, {content_of(option, vertices)});
}

cpu_exec beating(cpu_exec exec, transport* ranks)
{
  if (ranks == nullptr) { return exec; }
  exec.on_progress = [ranks, draw = exec.on_progress](progress const& report) {
    if (draw) { draw(report); }
    ranks->beat();
  };
  return exec;
}

void work_beating(transport* ranks, std::function<void()> const& work)
{
  ranks != nullptr ? ranks->beat_during(work) : work();
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

std::string ranks_line(transport const* ranks, bool sharded, std::int64_t sent_bytes)
{
  if (ranks == nullptr) { return {}; }
  return fmt::format("ranks   {}, each with {}; {} sent in all\n", ranks->size(),
                     sharded ? "a part of the graph" : "the whole graph", bytes_text(sent_bytes));
}

}  // namespace tendril::cli
