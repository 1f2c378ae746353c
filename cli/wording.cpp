#include "wording.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <CLI/CLI.hpp>

#include "pipes.hpp"

namespace tendril::cli {
namespace {

/// A parameter of the library and the option that sets it, where their names differ by more than dashes.
struct parameter_option {
  std::string_view parameter, option;
};

constexpr std::array<parameter_option, 13> parameter_options{{{"num_vertices", "--vertices"},
                                                              {"num_parts", "--parts"},
                                                              {"num_walks", "--walks"},
                                                              {"walks_each", "--walks"},
                                                              {"num_roots", "--roots"},
                                                              {"num_layers", "--layers"},
                                                              {"num_clusters", "--clusters"},
                                                              {"gpu_bytes", "--graph-memory"},
                                                              {"graph_bytes", "--memory"},
                                                              {"batch_bytes", "--gpu-memory"},
                                                              {"struct_name", "--struct"},
                                                              {"importances", "--importance"},
                                                              {"matrix", "--normalization"}}};

/// Functions that begin a message with their name.
constexpr std::array<std::string_view, 3> functions{"generate_", "build_graph", "random_"};

/// Phrases that speak of more than one parameter, or of none.
struct phrase {
  std::string_view library, shell;
};

constexpr std::array<phrase, 5> phrases{
    {{"a, b, c are ", "--a, --b, --c: "},
     {"unknown type '", "--dtype: '"},
     {"larger ids only with compact or num_vertices set", "larger ids only with 'tendril convert --compact'"},
     {"neither content nor extension tells the format",
      "neither content nor extension tells the format (--from names it)"},
     {"name the columns", "name the columns with --columns"}}};

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

CLI::App const* verb_of(CLI::App const& application)
{
  auto const verbs = application.get_subcommands();
  return verbs.empty() ? nullptr : verbs.front();
}

/// What --app says, or nothing.
std::string app_of(CLI::App const& verb)
{
  auto const* const option = verb.get_option_no_throw("--app");
  return option == nullptr || option->results().empty() ? std::string() : option->results().back();
}

/// The option of a verb that sets a parameter; empty if there is none.
std::string option_for(CLI::App const& verb, std::string_view parameter)
{
  auto const is_given = [&](char const* name) {
    auto const* const option = verb.get_option_no_throw(name);
    return option != nullptr && option->count() > 0;
  };
  if (parameter == "batch_bytes" && is_given("--memory")) { return "--memory"; }
  if (parameter == "num_neighbors" && app_of(verb) == "minibatch") { return "--fanouts"; }
  std::string option = "--" + std::string(parameter);
  std::replace(option.begin(), option.end(), '_', '-');
  if (verb.get_option_no_throw(option) != nullptr) { return option; }
  auto const* const found = std::find_if(parameter_options.begin(), parameter_options.end(),
                                         [&](auto const& known) { return known.parameter == parameter; });
  if (found == parameter_options.end() || verb.get_option_no_throw(std::string(found->option)) == nullptr) {
    return {};
  }
  return std::string(found->option);
}

std::string without_function(std::string message)
{
  auto const name =
      static_cast<std::size_t>(std::find_if_not(message.begin(), message.end(), is_letter) - message.begin());
  bool const is_function = std::any_of(functions.begin(), functions.end(), [&](auto prefix) {
    return message.starts_with(prefix) && message.compare(name, 2, ": ") == 0;
  });
  return is_function ? message.substr(name + 2) : message;
}

/// Whether it is the name of a file or folder that was given to the verb.
bool is_given_file(CLI::App const& verb, std::string_view word)
{
  auto const options = verb.get_options([&](CLI::Option const* option) {
    auto const& given = option->results();
    return option->get_positional() && std::find(given.begin(), given.end(), word) != given.end();
  });
  return !options.empty();
}

/// "stop_prob: 2", "scale is 32", "weights from 1 to 1" and "rule alias: …" begin with a parameter. "parts: 3 parts" may begin with
/// a folder.
std::string with_subject(CLI::App const& verb, std::string const& message)
{
  auto const name =
      static_cast<std::size_t>(std::find_if_not(message.begin(), message.end(), is_letter) - message.begin());
  std::string const option = option_for(verb, std::string_view(message).substr(0, name));
  if (name == 0 || option.empty() || is_given_file(verb, message.substr(0, name))) { return message; }
  std::string_view const rest = std::string_view(message).substr(name);
  if (rest.starts_with(": ")) { return option + std::string(rest); }
  if (rest.starts_with(" is ")) { return option + ": " + std::string(rest.substr(4)); }
  if (rest.starts_with(" from ")) { return option + ":" + std::string(rest); }
  std::size_t const word = rest.find_first_of(" :", 1);
  bool const has_value = rest.starts_with(' ') && word != std::string_view::npos && rest.substr(word).starts_with(": ");
  return has_value ? option + std::string(rest) : message;
}

/// Names with an underscore anywhere, if they are parameters; not as part of a path or of a quoted word.
std::string with_options(CLI::App const& verb, std::string const& message)
{
  constexpr std::string_view of_paths = "./'-\"\\";
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    if (!is_letter(message[at])) {
      out += message[at++];
      continue;
    }
    std::size_t end = at;
    while (end < message.size() && is_letter(message[end])) { ++end; }
    std::string const word = message.substr(at, end - at);
    bool const apart = (at == 0 || of_paths.find(message[at - 1]) == std::string_view::npos) &&
                       (end == message.size() || of_paths.find(message[end]) == std::string_view::npos);
    std::string const option = apart && word.find('_') != std::string::npos ? option_for(verb, word) : std::string();
    out += option.empty() ? word : option;
    at = end;
  }
  return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to)
{
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string in_shell_words(CLI::App const& application, std::string message, bool of_argument)
{
  message = with_shown_paths(std::move(message));
  CLI::App const* const verb = verb_of(application);
  if (verb == nullptr) { return message; }
  message = without_function(std::move(message));
  for (auto const& [library, shell] : phrases) { replace_all(message, library, shell); }
  if (of_argument) { message = with_subject(*verb, message); }
  return with_options(*verb, message);
}

}  // namespace tendril::cli
