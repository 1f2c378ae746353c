#include "pipes.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <tendril/error.hpp>

#include "usage.hpp"

namespace tendril::cli {
namespace {

constexpr char const* standard_input = "standard input";

/// A file that keeps an input, by the path under which it can be opened.
struct kept_input {
  std::string path, shown;
};

std::vector<kept_input>& kept_inputs()
{
  static std::vector<kept_input> inputs;
  return inputs;
}

io_error failure(std::string const& shown, std::string_view what)
{
  return io_error(fmt::format("{}: {}: {}", shown, what, std::strerror(errno)));
}

/// A new file without a name, open for reading and writing.
int unnamed_file(std::string const& shown)
{
  char const* const folder = std::getenv("TMPDIR");
  std::string const where = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  std::string path = where + "/tendril-input-XXXXXX";
  int const file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) { throw failure(shown, fmt::format("cannot keep in {}", where)); }
  unlink(path.c_str());
  return file;
}

void copy(int from, int to, std::string const& shown)
{
  std::vector<char> block(std::size_t{1} << 20U);
  for (;;) {
    ssize_t const size = read(from, block.data(), block.size());
    if (size < 0 && errno == EINTR) { continue; }
    if (size < 0) { throw failure(shown, "cannot read"); }
    if (size == 0) { return; }
    for (ssize_t done = 0; done < size;) {
      ssize_t const written = write(to, block.data() + done, static_cast<std::size_t>(size - done));
      if (written < 0 && errno == EINTR) { continue; }
      if (written <= 0) { throw failure(shown, "cannot keep in $TMPDIR"); }
      done += written;
    }
  }
}

/// Whether the rest of an open file is all of a file that can be mapped.
bool is_whole_file(int file)
{
  struct stat info {};
  return fstat(file, &info) == 0 && S_ISREG(info.st_mode) && lseek(file, 0, SEEK_CUR) == 0;
}

bool is_pipe(std::string const& path)
{
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
}

/// @return the path under which the input can be opened any number of times.
std::string keep(std::string const& given)
{
  bool const is_standard = given == "-";
  std::string const shown = is_standard ? standard_input : given;
  int const from = is_standard ? STDIN_FILENO : open(given.c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0) { throw failure(shown, "cannot open"); }
  if (fcntl(from, F_GETFD) < 0) { throw failure(shown, "cannot read"); }  // closed: its number is not for another file
  int file = from;
  if (!is_whole_file(from)) {
    file = unnamed_file(shown);
    copy(from, file, shown);
    if (!is_standard) { close(from); }
  }
  kept_inputs().push_back({fmt::format("/proc/self/fd/{}", file), shown});
  return kept_inputs().back().path;
}

}  // namespace

void keep_piped_inputs(CLI::App const& application)
{
  std::string taken;
  for (CLI::App* verb : application.get_subcommands()) {
    for (CLI::Option* option : verb->get_options()) {
      if (!is_input(*option) || option->results().size() != 1) { continue; }
      std::string const given = option->results().front();
      if (given == "-" && !taken.empty()) {
        throw argument_error(
            fmt::format("{}: - is standard input, which {} takes, expected a file", option->get_name(), taken));
      }
      if (given != "-" && !is_pipe(given)) { continue; }
      if (given == "-") { taken = option->get_name(); }
      std::string const path = keep(given);
      option->clear();
      option->add_result(path);
      option->run_callback();
    }
  }
}

std::string shown_path(std::string const& path)
{
  for (auto const& input : kept_inputs()) {
    if (input.path == path) { return input.shown; }
  }
  return path;
}

std::string with_shown_paths(std::string message)
{
  for (auto const& input : kept_inputs()) {
    for (std::size_t at = message.find(input.path); at != std::string::npos; at = message.find(input.path, at)) {
      message.replace(at, input.path.size(), input.shown);
      at += input.shown.size();
    }
  }
  return message;
}

}  // namespace tendril::cli
