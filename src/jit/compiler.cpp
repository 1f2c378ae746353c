#include "jit/compiler.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "jit/code_cache.hpp"

extern char** environ;

namespace tendril::jit {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(std::string const& text, char separator)
{
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    if (!part.empty()) { parts.push_back(part); }
  }
  return parts;
}

/// The absolute path of a program; empty if there is none.
std::string locate(std::string const& program)
{
  auto const runs = [](fs::path const& path) {
    std::error_code failed;
    return fs::is_regular_file(path, failed) && access(path.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos) { return runs(program) ? fs::absolute(program).string() : ""; }
  char const* const path = std::getenv("PATH");
  for (std::string const& folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    if (runs(fs::path(folder) / program)) { return fs::absolute(fs::path(folder) / program).string(); }
  }
  return "";
}

/// The environment, but for the language: messages are searched for words.
std::vector<std::string> environment()
{
  std::vector<std::string> out = {"LC_ALL=C"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view const text = *entry;
    if (!text.starts_with("LC_ALL=") && !text.starts_with("LANGUAGE=")) { out.emplace_back(text); }
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts)
{
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) { out.push_back(text.data()); }
  out.push_back(nullptr);
  return out;
}

/// Runs a program with its output in a file. @return its exit status, -1 if it was killed.
int run(std::vector<std::string> command, fs::path const& output)
{
  std::vector<std::string> variables = environment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  int const failed = posix_spawn(&child, command.front().c_str(), &actions, nullptr, pointers(command).data(),
                                 pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) { throw io_error(fmt::format("{}: cannot run: {}", command.front(), std::strerror(failed))); }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) { throw io_error(fmt::format("{}: lost: {}", command.front(), std::strerror(errno))); }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string without(std::string text, std::string const& word)
{
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    text.erase(at, word.size());
  }
  return text;
}

}  // namespace

std::string compiler::name() const { return fs::path(program).filename().string(); }

std::string compiler::identity() const
{
  std::error_code failed;
  auto const changed = fs::last_write_time(program, failed).time_since_epoch().count();
  return fmt::format("{} {} {} {}", program, fmt::join(options, " "), fs::file_size(program, failed), changed);
}

compiler find_compiler(std::string const& wanted)
{
  char const* const variable = std::getenv("CXX");
  std::string const first = !wanted.empty() ? wanted : variable == nullptr ? "" : variable;
  if (std::vector<std::string> words = split(first, ' '); !words.empty()) {
    std::string const program = locate(words.front());
    if (program.empty()) {
      throw io_error(fmt::format("C++ compiler: there is no program '{}', expected {}", words.front(),
                                 wanted.empty() ? "$CXX to name one" : "one"));
    }
    return {program, {words.begin() + 1, words.end()}};
  }
  for (char const* const program : {"c++", "g++", "clang++"}) {
    if (std::string path = locate(program); !path.empty()) { return {std::move(path), {}}; }
  }
  throw io_error(
      "C++ compiler: none of c++, g++, clang++ is on the path, expected one to compile texts with (or $CXX to name "
      "it)");
}

std::vector<std::string> library_options()
{
  std::vector<std::string> options{"-std=c++20",        "-O3", "-shared", "-fPIC", "-fvisibility=hidden",
                                   "-ffp-contract=off", "-w"};
#ifdef TENDRIL_MARCH
  options.push_back(std::string("-march=") + TENDRIL_MARCH);
#endif
  return options;
}

compiled compile_library(compiler const& with, std::string const& unit, std::span<jit::embedded_text const> files,
                         fs::path const& folder, std::string const& library)
{
  for (auto const& file : files) {
    fs::path const path = folder / file.name;
    fs::create_directories(path.parent_path());
    jit::write_text(path, file.text);
  }
  jit::write_text(folder / "unit.cpp", unit);
  std::vector<std::string> command = {with.program};
  for (std::string& option : library_options()) { command.push_back(std::move(option)); }
  command.insert(command.end(), with.options.begin(), with.options.end());  // a level of optimisation among them wins
  command.insert(command.end(),
                 {"-I", folder.string(), "-o", (folder / library).string(), (folder / "unit.cpp").string()});
  int const status = run(std::move(command), folder / "output");
  std::string output = without(jit::read_text(folder / "output"), folder.string() + "/");
  if (status == 0) { return {true, std::move(output)}; }
  if (output.empty()) { output = fmt::format("{} exited with {}", with.program, status); }
  return {false, std::move(output)};
}

}  // namespace tendril::jit
