#include "arguments.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tendril/error.hpp>

#include "text.hpp"

namespace tendril::cli {
namespace {

/// An option that has another name since; the old one is still understood.
struct renamed_option {
  std::string_view before, now;
  std::string_view app = {};  ///< Of this application alone; empty: of all.
};

constexpr std::array<renamed_option, 6> renamed_options{{{"--dedup", "--drop-duplicates"},
                                                         {"--no-self-loops", "--drop-self-loops"},
                                                         {"--labels", "--num-labels"},
                                                         {"--node-types", "--num-node-types"},
                                                         {"--lognormal", "--weight-sigma"},
                                                         {"--roots", "--budget", "saint-walk"}}};

/// Whether the words choose an application.
bool have_app(std::vector<std::string> const& words, std::string_view app)
{
  auto const found = std::find(words.begin(), words.end(), "--app");
  return (found != words.end() && found + 1 != words.end() && found[1] == app) ||
         std::find(words.begin(), words.end(), fmt::format("--app={}", app)) != words.end();
}

bool is_option(std::string_view word)
{
  return word.size() > 1 && word[0] == '-' &&
         (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) != 0);
}

std::string command_of(CLI::App const& app)
{
  return app.get_parent() == nullptr ? app.get_name() : command_of(*app.get_parent()) + " " + app.get_name();
}

/// The names with two dashes that --help shows.
std::vector<std::string> shown_options(CLI::App const& app)
{
  std::vector<std::string> names;
  for (auto const* option : app.get_options()) {
    if (option->get_group().empty()) { continue; }
    for (auto const& name : option->get_lnames()) { names.push_back("--" + name); }
  }
  return names;
}

std::string did_you_mean(std::string_view word, std::vector<std::string> const& known)
{
  std::string const near = nearest(word, known);
  return near.empty() ? std::string() : fmt::format(", did you mean {}?", near);
}

CLI::App const& verb_named(CLI::App const& application, std::string const& word)
{
  std::vector<std::string> names;
  for (auto const* verb : application.get_subcommands({})) {
    if (verb->get_name() == word) { return *verb; }
    names.push_back(verb->get_name());
  }
  throw argument_error(fmt::format("'{}' is no verb{} (try 'tendril --help')", word, did_you_mean(word, names)));
}

/// @param name  Without a value: "--length", or one dash and letters.
void expect_option(CLI::App const& app, std::string const& name)
{
  bool const is_long = name.starts_with("--");
  std::string const known = is_long ? name : name.substr(0, 2);  // "-oFILE" is "-o FILE"
  if (known == "--" || app.get_option_no_throw(known) != nullptr) { return; }
  std::string const command = command_of(app);
  throw argument_error(fmt::format("{}: no option of '{}'{} (try '{} --help')", name, command,
                                   did_you_mean(is_long ? name : "-" + name, shown_options(app)), command));
}

}  // namespace

std::vector<std::string> checked_arguments(CLI::App const& application, int argc, char const* const* argv)
{
  std::vector<std::string> words(argv, argv + argc);
  auto const begin = words.begin() + std::min(argc, 1);
  auto const end = std::find(begin, words.end(), "--");
  bool const quiet = std::find(begin, end, "--quiet") != end;
  CLI::App const* app = &application;
  for (auto word = begin; word != end; ++word) {
    if (!is_option(*word)) {
      if (app == &application) { app = &verb_named(application, *word); }
      continue;
    }
    std::size_t const value = word->starts_with("--") ? word->find('=') : std::string::npos;
    std::string name = word->substr(0, value);
    for (auto const& [before, now, of] : renamed_options) {
      if (name != before || app->get_option_no_throw(std::string(now)) == nullptr) { continue; }
      if (!of.empty() && !have_app(words, of)) { continue; }
      if (!quiet) { std::fputs(fmt::format("tendril: {} is now {}\n", before, now).c_str(), stderr); }
      word->replace(0, name.size(), now);
      name = now;
    }
    expect_option(*app, name);
    if (word->size() == name.size() + 1 && value != std::string::npos) {
      throw argument_error(fmt::format("{}: '', expected a value", name));
    }
  }
  return words;
}

std::string surplus_argument(CLI::App const& application)
{
  auto words = application.remaining();
  for (CLI::App const* verb : application.get_subcommands()) {
    for (auto const& word : verb->remaining()) { words.push_back(word); }
  }
  return words.empty() ? std::string() : fmt::format("'{}': one argument too many", words.front());
}

std::string help_command(CLI::App const& application)
{
  auto const verbs = application.get_subcommands();
  return command_of(verbs.empty() ? application : *verbs.front()) + " --help";
}

}  // namespace tendril::cli
