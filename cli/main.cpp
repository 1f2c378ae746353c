// `tendril`: parses the verb, runs it, and turns every exception into one line and an exit code.

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <tendril/error.hpp>
#include <tendril/file.hpp>
#include <tendril/transport.hpp>

#include "arguments.hpp"
#include "common.hpp"
#include "help.hpp"
#include "pipes.hpp"
#include "ranks.hpp"
#include "usage.hpp"
#include "verbs.hpp"
#include "wording.hpp"

#ifdef TENDRIL_CLI_BENCH
namespace tendril::cli {
void add_bench(CLI::App& application);
}
#endif

namespace {

// Exit codes that scripts rely on.
constexpr int failed = 1;     // data or runtime
constexpr int bad_usage = 2;  // the command line itself

void write_to_stderr(char const* text)
{
  [[maybe_unused]] auto const written = write(STDERR_FILENO, text, std::strlen(text));
}

void clear_terminal_line()
{
  if (isatty(STDERR_FILENO) == 1) { write_to_stderr("\r\x1b[K"); }
}

/// Removes unfinished outputs, leaves the terminal's line clean, and ends with the code that shells expect.
extern "C" void end_on_signal(int signal)
{
  tendril::atomic_file::remove_all_unfinished();
  clear_terminal_line();
  _exit(128 + signal);
}

void handle_signals()
{
  struct sigaction action {};
  action.sa_handler = end_on_signal;
  sigemptyset(&action.sa_mask);
  for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) { sigaction(signal, &action, nullptr); }  // nohup stays in force
  }
  signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` fails then, and the failure becomes a line
  tendril::end_process_on_truncated_file();
}

int complain(int code, std::string message, std::optional<int> about = {})
{
  for (char& c : message) {
    if (c == '\n') { c = ' '; }
  }
  if (!tendril::cli::tells_of(message, about, code == bad_usage)) { return code; }
  std::fflush(stdout);
  std::fputs(fmt::format("tendril: error: {}\n", message).c_str(), stderr);
  return code;
}

/// The parser's message, with the command that explains the options.
std::string usage_message(CLI::App const& application, CLI::ParseError const& failure)
{
  std::string message = failure.what();
  constexpr std::string_view unreadable = "Could not convert: ", separator = " = ";
  auto const value = message.find(separator);
  if (message.starts_with(unreadable) && value != std::string::npos) {
    message = fmt::format("{}: '{}', expected a number", message.substr(unreadable.size(), value - unreadable.size()),
                          message.substr(value + separator.size()));
  }
  if (dynamic_cast<CLI::ExtrasError const*>(&failure) != nullptr) {
    message = tendril::cli::surplus_argument(application);
  }
  if (application.get_subcommands().empty() && dynamic_cast<CLI::RequiredError const*>(&failure) != nullptr) {
    message = "no verb";
  }
  return fmt::format("{} (try '{}')", message, tendril::cli::help_command(application));
}

void add_verbs(CLI::App& application)
{
  application.formatter(std::make_shared<tendril::cli::help_formatter>());
  application.set_version_flag("--version", "tendril " TENDRIL_VERSION "\nCUDA: " TENDRIL_CLI_CUDA,
                               "Print the version, and which GPUs this build is for");
  application.set_help_flag("-h,--help", "Print this help");
  application.require_subcommand(1);
  application.footer(
      "Examples:\n"
      "  tendril info graph.npz                                     describe the content of a file\n"
      "  tendril convert edges.txt.gz graph.safetensors             read once; later runs open it in milliseconds\n"
      "  tendril walk graph.safetensors -o walks.npy --length 80    ten DeepWalk walks from every vertex\n"
      "  tendril sample graph.safetensors -o hops.npz --fanouts 25,10 --num-seeds 1024\n"
      "\n"
      "'tendril VERB --help' lists the options of a verb, with examples.\n"
      "Exit codes: 0 success, 1 bad data or failure, 2 wrong usage.");

  tendril::cli::add_info(application);
  tendril::cli::add_convert(application);
  tendril::cli::add_generate(application);
  tendril::cli::add_walk(application);
  tendril::cli::add_join(application);
  tendril::cli::add_sample(application);
  tendril::cli::add_plan(application);
  tendril::cli::add_partition(application);
#ifdef TENDRIL_CLI_BENCH
  tendril::cli::add_bench(application);
#endif
  tendril::cli::check_values(application);
  application.parse_complete_callback([&] {
    tendril::cli::expect_verb_of_ranks(application);
    tendril::cli::expect_same_options(application);
    tendril::cli::refuse_outputs_that_are_inputs(application);
    tendril::cli::keep_piped_inputs(application);
  });
}

int run(CLI::App& application, int argc, char** argv)
{
  add_verbs(application);
  std::vector<std::string> const words = tendril::cli::checked_arguments(application, argc, argv);
  std::vector<char const*> arguments;
  arguments.reserve(words.size());
  for (auto const& word : words) { arguments.push_back(word.c_str()); }
  try {
    application.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (CLI::ParseError const& failure) {
    if (failure.get_exit_code() == 0) { return application.exit(failure); }  // --help, --version
    return complain(bad_usage, usage_message(application, failure));
  }
  if (std::fflush(stdout) != 0) { return complain(failed, fmt::format("standard output: {}", std::strerror(errno))); }
  return 0;
}

}  // namespace

namespace {

/// The verb, as one of the ranks that mpirun started if it did, and what becomes of its exceptions.
int run_and_complain(CLI::App& application, int argc, char** argv)
{
  try {
    tendril::cli::join_job();
    return run(application, argc, argv);
  } catch (tendril::argument_error const& failure) {
    return complain(bad_usage, tendril::cli::in_shell_words(application, failure.what(), true));
  } catch (tendril::cli::source_error const& failure) {
    std::fflush(stdout);
    std::fputs(fmt::format("tendril: error: {}\n", failure.what()).c_str(), stderr);
    return failed;
  } catch (std::bad_alloc const&) {
    return complain(failed, "out of memory");
  } catch (std::length_error const&) {  // a std::vector larger than any memory
    return complain(failed, "out of memory: what the verb works with doesn't fit any memory");
  } catch (tendril::rank_error const& failure) {
    return complain(failure.of_argument() ? bad_usage : failed, failure.what(), failure.rank());
  } catch (std::exception const& failure) {
    return complain(failed, tendril::cli::in_shell_words(application, failure.what(), false));
  }
}

}  // namespace

int main(int argc, char** argv)
{
  handle_signals();
  CLI::App application("Graph sampling for graph machine learning: random walks, neighbourhoods, mini-batches.",
                       "tendril");
  int code = 0;
  try {
    code = run_and_complain(application, argc, argv);
  } catch (std::exception const& failure) {
    return complain(failed, failure.what());
  }
  tendril::cli::leave_job();
  return code;
}
