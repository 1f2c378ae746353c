#include "help.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace tendril::cli {
namespace {

constexpr std::size_t name_width = 26;
constexpr std::size_t line_width = 112;

/// "  name   text", the text in lines of its own column.
std::string entry(std::string const& name, std::string_view text)
{
  std::string out = fmt::format("  {:<{}}", name, name_width - 2);
  if (name.size() + 4 > name_width) { out += fmt::format("\n{:{}}", "", name_width); }
  for (;;) {
    std::size_t cut = text.size();
    if (name_width + text.size() > line_width) {
      cut = text.rfind(' ', line_width - name_width);
      if (cut == std::string_view::npos) { cut = text.size(); }
    }
    out += fmt::format("{}\n", text.substr(0, cut));
    if (cut == text.size()) { return out; }
    text.remove_prefix(cut + 1);
    out += fmt::format("{:{}}", "", name_width);
  }
}

/// "-o, --output OUT"
std::string option_name(CLI::Option const& option)
{
  if (option.get_positional()) { return option.get_name(true); }
  std::string name;
  for (auto const& letter : option.get_snames()) { name += fmt::format("{}-{}", name.empty() ? "" : ", ", letter); }
  for (auto const& word : option.get_lnames()) { name += fmt::format("{}--{}", name.empty() ? "" : ", ", word); }
  return option.get_type_size() == 0 ? name : name + " " + option.get_type_name();
}

bool takes_many(CLI::Option const& option) { return option.get_expected_max() > 1; }

std::string usage(CLI::App const& app, std::string const& name)
{
  std::string line = "Usage: " + name;
  if (app.get_parent() == nullptr) { return line + " VERB [OPTIONS]\n"; }
  for (auto const* option : app.get_options()) {
    if (option->get_positional()) { line += " " + option->get_name(true) + (takes_many(*option) ? " ..." : ""); }
  }
  for (auto const* option : app.get_options()) {
    if (option->get_required() && !option->get_positional()) {
      auto const& letters = option->get_snames();
      std::string const option_word = letters.empty() ? "--" + option->get_lnames().front() : "-" + letters.front();
      line += fmt::format(" {} {}", option_word, option->get_type_name());
    }
  }
  return line + " [OPTIONS]\n";
}

}  // namespace

std::string help_formatter::make_help(CLI::App const* app, std::string name, CLI::AppFormatMode /*mode*/) const
{
  std::string out = app->get_description() + "\n\n" + usage(*app, name) + "\n";

  auto const verbs = app->get_subcommands({});
  if (!verbs.empty()) { out += "Verbs:\n"; }
  for (auto const* verb : verbs) { out += entry(verb->get_name(), verb->get_description()); }
  if (!verbs.empty()) { out += "\n"; }

  for (auto const& group : app->get_groups()) {
    auto const options = app->get_options([&](CLI::Option const* option) { return option->get_group() == group; });
    if (group.empty() || options.empty()) { continue; }
    out += group + ":\n";
    for (auto const* option : options) { out += entry(option_name(*option), option->get_description()); }
    out += "\n";
  }
  return out + app->get_footer() + "\n";
}

std::string any_of(std::vector<std::string> const& words)
{
  std::string text;
  std::size_t left = words.size();
  for (auto const& word : words) {
    text += word;
    --left;
    if (left > 0) { text += left == 1 ? " or " : ", "; }
  }
  return text;
}

CLI::Validator one_of(std::vector<std::string> const& known)
{
  return {[known, expected = any_of(known)](std::string& word) {
            bool const found = std::find(known.begin(), known.end(), word) != known.end();
            return found ? std::string() : fmt::format("'{}', expected {}", word, expected);
          },
          ""};
}

CLI::Validator natural()
{
  return {[](std::string& number) {
            return number.find('-') == std::string::npos ? std::string()
                                                         : fmt::format("'{}', expected a number from 0 on", number);
          },
          ""};
}

}  // namespace tendril::cli
