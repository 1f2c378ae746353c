#include "text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include <tendril/error.hpp>

namespace tendril::cli {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours between two words (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b)
{
  std::vector<std::size_t> before, row, next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) { row.push_back(j); }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      bool const swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) { next[j] = std::min(next[j], before[j - 2] + 1); }
    }
    before = std::exchange(row, next);
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::vector<std::string> const& known)
{
  constexpr std::size_t longest = 64;  // no name is as long, and the comparison takes the product of the lengths
  std::string found;
  if (word.size() > longest) { return found; }
  std::size_t least = word.size();
  for (auto const& candidate : known) {
    std::size_t const distance = edit_distance(word, candidate);
    std::size_t const letters = candidate.size() - std::min(candidate.find_first_not_of('-'), candidate.size());
    if (distance <= std::max<std::size_t>(letters / 3, 1) && distance < letters && distance < least) {
      least = distance;
      found = candidate;
    }
  }
  return found;
}

std::string grouped(std::int64_t value)
{
  std::string const digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    std::size_t const left = digits.size() - i;
    if (left % 3 == 0 && i > 0 && digits[i - 1] != '-') { text += ','; }
    text += digits[i];
  }
  return text;
}

std::string si(double value)
{
  constexpr std::array<char const*, 6> prefixes{"", " k", " M", " G", " T", " P"};
  std::size_t power = 0;
  while (std::abs(value) >= 999.5 && power + 1 < prefixes.size()) {
    value /= 1000;
    ++power;
  }
  int const decimals = power == 0 && value == std::floor(value) ? 0 : value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, decimals, prefixes[power]);
}

std::string bytes_text(std::int64_t bytes)
{
  std::string text = si(static_cast<double>(bytes));
  return bytes < 1000 ? text + " B" : text + "B";
}

std::string duration(double seconds)
{
  if (seconds < 0.9995) { return fmt::format("{:.3g} ms", 1000 * seconds); }
  if (seconds < 60 && seconds == std::floor(seconds)) { return fmt::format("{:.0f} s", seconds); }
  if (seconds < 60) { return fmt::format("{:.2f} s", seconds); }
  std::int64_t const whole = std::llround(seconds);
  if (whole < 3600) { return fmt::format("{}:{:02}", whole / 60, whole % 60); }
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string counted(std::int64_t count, std::string_view singular, std::string_view plural)
{
  return fmt::format("{} {}", grouped(count), count == 1 ? singular : plural);
}

std::vector<std::string> split(std::string_view list)
{
  std::vector<std::string> parts;
  for (;;) {
    auto const comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) { return parts; }
    list.remove_prefix(comma + 1);
  }
}

std::int64_t parse_integer(std::string_view text, std::string_view option, std::string_view expected)
{
  std::int64_t value = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) {
    throw argument_error(fmt::format("{}: '{}', expected {}", option, text, expected));
  }
  return value;
}

std::vector<std::int64_t> parse_integers(std::string_view list, std::string_view option, std::string_view expected)
{
  std::vector<std::int64_t> values;
  for (auto const& part : split(list)) { values.push_back(parse_integer(part, option, expected)); }
  return values;
}

std::int64_t parse_bytes(std::string_view text, std::string_view option)
{
  constexpr std::string_view units = "KMGT";
  double factor = 1;
  std::string_view number = text;
  if (!text.empty()) {
    auto const unit = units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
    if (unit != std::string_view::npos) {
      factor = std::exp2(10 * (static_cast<double>(unit) + 1));
      number.remove_suffix(1);
    }
  }
  double value = 0;
  auto const [end, failure] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (failure != std::errc{} || end != number.data() + number.size() || !(value * factor >= 1) ||
      value * factor > 0x1p62) {
    throw argument_error(fmt::format("{}: '{}', expected bytes as in 500000, 64M or 1.5G", option, text));
  }
  return static_cast<std::int64_t>(value * factor);
}

std::int64_t peak_memory()
{
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace tendril::cli
