#include "usage.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <tendril/error.hpp>

#include "text.hpp"

namespace tendril::cli {
namespace {

/// A file that the command line names.
struct named_file {
  std::string option, path;
};

std::string empty_value(std::string const& value) { return value.empty() ? "'', expected a value" : std::string(); }

std::string beyond_64_bits(std::string const& text)
{
  std::uint64_t natural = 0;
  std::int64_t whole = 0;
  bool const negative = text.starts_with('-');
  auto const read = negative ? std::from_chars(text.data(), text.data() + text.size(), whole)
                             : std::from_chars(text.data(), text.data() + text.size(), natural);
  bool const is_number = read.ptr == text.data() + text.size();
  return is_number && read.ec == std::errc::result_out_of_range
             ? fmt::format("'{}', expected a number of 64 bits", text)
             : std::string();
}

/// What --help calls the value of an option: "GRAPH", "FILE", "OUT", "N".
std::string placeholder(CLI::Option const& option)
{
  return option.get_positional() ? option.get_name() : option.get_type_name();
}

/// The files that reading `path` as a graph opens: a WebGraph has two more beside its .graph.
std::vector<std::string> files_of_graph(std::string const& path)
{
  std::vector<std::string> files = split(path);  // `tendril bench` takes several graphs, apart by commas
  files.push_back(path);
  constexpr std::string_view extension = ".graph";
  if (path.ends_with(extension)) {
    std::string const stem = path.substr(0, path.size() - extension.size());
    files.push_back(stem + ".properties");
    files.push_back(stem + ".offsets");
  }
  return files;
}

bool are_the_same_file(std::string const& a, std::string const& b)
{
  if (a == "-" || b == "-") { return false; }  // standard input and output
  struct stat of_a {};
  struct stat of_b {};
  return stat(a.c_str(), &of_a) == 0 && stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino && !S_ISCHR(of_a.st_mode);  // /dev/null may be both
}

}  // namespace

void check_values(CLI::App& application)
{
  for (CLI::App* verb : application.get_subcommands({})) {
    for (CLI::Option* option : verb->get_options()) {
      option->check(beyond_64_bits);
      option->check(empty_value);
    }
  }
}

bool is_input(CLI::Option const& option)
{
  std::string const kind = placeholder(option);
  return kind == "GRAPH" || kind == "FILE";
}

void refuse_outputs_that_are_inputs(CLI::App const& application)
{
  for (CLI::App const* verb : application.get_subcommands()) {
    std::vector<named_file> inputs, outputs;
    for (CLI::Option const* option : verb->get_options()) {
      std::string const kind = placeholder(*option);
      for (std::string const& value : option->results()) {
        if (kind == "OUT") { outputs.push_back({option->get_name(), value}); }
        if (kind == "FILE") { inputs.push_back({option->get_name(), value}); }
        if (kind != "GRAPH") { continue; }
        for (auto& path : files_of_graph(value)) { inputs.push_back({option->get_name(), std::move(path)}); }
      }
    }
    for (auto const& output : outputs) {
      for (auto const& input : inputs) {
        if (are_the_same_file(output.path, input.path)) {
          throw argument_error(fmt::format("{}: {} and {} name the same file, expected an output that is no input",
                                           output.path, output.option, input.option));
        }
      }
    }
  }
}

}  // namespace tendril::cli
