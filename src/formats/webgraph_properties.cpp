// The `.properties` file of a WebGraph BV graph. Format: Boldi & Vigna, WWW'04; flag names as WebGraph writes them.

#include "formats/webgraph_properties.hpp"

#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/types.hpp>  // max_num_vertices

#include "formats/text_numbers.hpp"  // quoted

namespace tendril::formats {
namespace {

struct property {
  std::string value;
  std::int64_t line = 0;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f'; }

std::string_view stripped(std::string_view text)
{
  while (!text.empty() && is_space(text.front())) { text.remove_prefix(1); }
  while (!text.empty() && is_space(text.back())) { text.remove_suffix(1); }
  return text;
}

/// Java escapes what could be taken for a separator; no key or value of interest here holds any other escape.
std::string unescape(std::string_view text)
{
  std::string plain;
  for (char const c : text) {
    if (c != '\\') { plain.push_back(c); }
  }
  return plain;
}

std::map<std::string, property> parse_lines(std::string_view text)
{
  std::map<std::string, property> properties;
  std::int64_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    std::size_t const end = text.find('\n');
    std::string_view const line = stripped(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#' || line.front() == '!') { continue; }
    std::size_t const separator = line.find_first_of("=: \t");
    std::string_view value = separator == std::string_view::npos ? "" : stripped(line.substr(separator));
    if (!value.empty() && (value.front() == '=' || value.front() == ':')) { value = stripped(value.substr(1)); }
    properties[unescape(line.substr(0, separator))] = {unescape(value), line_number};
  }
  return properties;
}

class property_reader {
 public:
  property_reader(std::string const& path, std::string_view text) : path_(path), properties_(parse_lines(text)) {}

  [[nodiscard]] property const* find(char const* key) const
  {
    auto const it = properties_.find(key);
    return it == properties_.end() ? nullptr : &it->second;
  }

  /// An integer in [low, high]; `otherwise` where the key is missing, an error if there is no `otherwise` either.
  [[nodiscard]] std::int64_t integer(char const* key, std::int64_t low, std::int64_t high,
                                     std::optional<std::int64_t> otherwise = {}) const
  {
    property const* const found = find(key);
    if (found == nullptr) {
      if (otherwise) { return *otherwise; }
      throw format_error(fmt::format("{}: no property '{}', expected an integer", path_, key));
    }
    std::string const& text = found->value;
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
      fail(*found, fmt::format("{}: {}, expected an integer in [{}, {}]", key, quoted(text), low, high));
    }
    return value;
  }

  [[noreturn]] void fail(property const& where, std::string const& what) const
  {
    throw format_error(fmt::format("{}:{}: {}", path_, where.line, what));
  }

 private:
  std::string const& path_;
  std::map<std::string, property> properties_;
};

/// The code that a flag's last word names: "GAMMA", or "ZETA" with the file's k, or "ZETA3".
std::optional<coding> parse_code(std::string_view name, std::uint32_t k)
{
  static std::map<std::string_view, bit_code> const codes = {
      {"DELTA", bit_code::delta},   {"GAMMA", bit_code::gamma},
      {"GOLOMB", bit_code::golomb}, {"SKEWED_GOLOMB", bit_code::skewed_golomb},
      {"UNARY", bit_code::unary},   {"ZETA", bit_code::zeta},
      {"NIBBLE", bit_code::nibble}};
  if (name.size() == 5 && name.starts_with("ZETA") && name[4] >= '1' && name[4] <= '7') {
    return coding{bit_code::zeta, static_cast<std::uint32_t>(name[4] - '0')};
  }
  auto const it = codes.find(name);
  if (it == codes.end()) { return {}; }
  return coding{it->second, k};
}

void parse_flags(property_reader const& reader, property const& flags, std::uint32_t k, bool one_block_code,
                 webgraph_properties& result)
{
  std::map<std::string_view, coding*> const parts = {
      {"OUTDEGREES_", &result.outdegrees}, {"REFERENCES_", &result.references}, {"BLOCK_COUNT_", &result.block_counts},
      {"BLOCKS_", &result.blocks},         {"INTERVALS_", &result.intervals},   {"RESIDUALS_", &result.residuals},
      {"OFFSETS_", &result.offsets}};
  for (std::string_view rest = flags.value; !rest.empty();) {
    std::size_t const bar = rest.find('|');
    std::string_view const flag = stripped(rest.substr(0, bar));
    rest.remove_prefix(bar == std::string_view::npos ? rest.size() : bar + 1);
    bool known = false;
    for (auto const& [prefix, part] : parts) {
      if (!flag.starts_with(prefix)) { continue; }
      if (auto const code = parse_code(flag.substr(prefix.size()), k)) {
        *part = *code;
        known = true;
        if (one_block_code && part == &result.blocks) { result.block_counts = *code; }
      }
    }
    if (!known) {
      reader.fail(flags,
                  fmt::format("compression flag {} is not known, expected one such as OUTDEGREES_DELTA", quoted(flag)));
    }
  }
}

}  // namespace

webgraph_properties parse_webgraph_properties(std::string const& path, std::string_view text)
{
  property_reader const reader(path, text);
  webgraph_properties result;

  if (property const* const name = reader.find("graphclass"); name != nullptr && !name->value.ends_with(".BVGraph")) {
    reader.fail(*name, fmt::format("graphclass: {}, expected it.unimi.dsi.webgraph.BVGraph", quoted(name->value)));
  }
  (void)reader.integer("version", 0, 1, 0);
  property const* const endianness = reader.find("endianness");
  if (endianness != nullptr && endianness->value != "big") {
    reader.fail(*endianness, fmt::format("endianness: {}, expected big", quoted(endianness->value)));
  }

  constexpr std::int64_t any = std::int64_t{1} << 40;
  result.num_vertices = reader.integer("nodes", 0, max_num_vertices);
  result.num_arcs = reader.integer("arcs", 0, any);
  result.window = reader.integer("windowsize", 0, any, result.window);
  result.min_interval_length = reader.integer("minintervallength", 0, any, result.min_interval_length);
  auto const k = static_cast<std::uint32_t>(reader.integer("zetak", 1, std::int64_t{1} << 30, 3));
  result.residuals.parameter = k;
  if (property const* const flags = reader.find("compressionflags"); flags != nullptr) {
    // WebGraph for Rust, which alone writes `endianness`, has one code for blocks and their counts.
    parse_flags(reader, *flags, k, endianness != nullptr, result);
  }
  for (coding const* const part : {&result.outdegrees, &result.references, &result.block_counts, &result.blocks,
                                   &result.intervals, &result.residuals}) {
    if (part->code == bit_code::zeta && part->parameter > 31) {
      reader.fail(*reader.find("zetak"), fmt::format("zetak: {}, expected 1 to 31", part->parameter));
    }
  }
  return result;
}

}  // namespace tendril::formats
