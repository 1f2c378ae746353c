#include "svg.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tendril::cli {
namespace {

/// The length of the character of UTF-8 that `text` begins with, or 0.
std::size_t utf8_length(std::string_view text)
{
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t const length = byte(0) < 0x80                       ? 1
                             : byte(0) >= 0xc2 && byte(0) <= 0xdf ? 2
                             : byte(0) >= 0xe0 && byte(0) <= 0xef ? 3
                             : byte(0) >= 0xf0 && byte(0) <= 0xf4 ? 4
                                                                  : 0;
  if (length == 0 || length > text.size()) { return 0; }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) { return 0; }
  }
  if (length < 3) { return length; }
  bool const overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  bool const surrogate = byte(0) == 0xed && byte(1) >= 0xa0;
  bool const beyond = byte(0) == 0xf4 && byte(1) >= 0x90;
  bool const no_character = byte(0) == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe;  // U+FFFE and U+FFFF
  return overlong || surrogate || beyond || no_character ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text)
{
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  std::string out;
  while (!text.empty()) {
    std::size_t const length = utf8_length(text);
    char const c = text.front();
    if (length == 0 || (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) {
      out += replacement;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

double axis::at(double value) const
{
  double const share = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + std::clamp(share, 0.0, 1.0) * (to - from);
}

std::vector<double> axis::ticks(int count) const
{
  std::vector<double> values;
  if (logarithmic) {
    double const first = std::ceil(std::log10(low) - 1e-9), last = std::floor(std::log10(high) + 1e-9);
    double const every = std::ceil((last - first + 1) / count);
    for (double exponent = first; exponent <= last; exponent += every) { values.push_back(std::pow(10, exponent)); }
    return values;
  }
  double const least = (high - low) / count, power = std::pow(10, std::floor(std::log10(least)));
  double step = 10 * power;
  for (double const factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= least) { step = factor * power; }
  }
  for (double i = std::ceil(low / step); i * step <= high * (1 + 1e-9); ++i) { values.push_back(i * step); }
  return values;
}

void svg_picture::line(point from, point to, std::string_view style)
{
  parts_ += fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", style, from.x, from.y,
                        to.x, to.y);
}

void svg_picture::rectangle(point corner, double width, double height, std::string_view style, std::string_view title)
{
  parts_ += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}")", style, corner.x,
                        corner.y, width, height);
  parts_ += title.empty() ? "/>" : fmt::format("><title>{}</title></rect>", escaped(title));
}

void svg_picture::text(point at, std::string_view text, std::string_view style, std::string_view anchor)
{
  parts_ += fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", style, at.x, at.y,
                        anchor, escaped(text));
}

void svg_picture::curve(std::vector<point> const& points, std::string_view style)
{
  std::string path;
  for (point const& p : points) { path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", p.x, p.y); }
  if (!path.empty()) { parts_ += fmt::format(R"(<path class="{}" d="{}"/>)", style, path); }
}

void svg_picture::dots(std::vector<point> const& points, double radius, std::string_view style)
{
  std::string path;
  for (point const& p : points) { path += fmt::format("M{:.1f} {:.1f}h0", p.x, p.y); }
  if (!path.empty()) {
    parts_ += fmt::format(R"(<path class="dots {}" stroke-width="{}" d="{}"/>)", style, 2 * radius, path);
  }
}

std::string svg_picture::str(std::string_view description) const
{
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>)", width_,
      height_, escaped(description), parts_);
}

}  // namespace tendril::cli
