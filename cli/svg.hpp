// Pictures for pages of HTML, as text that is XML too. Colours are classes of cli/page.css, for light and dark screens.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tendril::cli {

/// Text as XML has it: markup escaped; what is not UTF-8, and control characters, replaced.
[[nodiscard]] std::string escaped(std::string_view text);

/// Maps values in [low, high] to positions in [from, to].
struct axis {
  double low, high, from, to;
  bool logarithmic = false;

  [[nodiscard]] double at(double value) const;

  /// Round values in the range: powers of ten, or at most `count` steps of 1, 2 or 5 times one.
  [[nodiscard]] std::vector<double> ticks(int count = 6) const;
};

class svg_picture {
 public:
  struct point {
    double x, y;
  };

  svg_picture(double width, double height) : width_(width), height_(height) {}

  void line(point from, point to, std::string_view style);
  /// @param title  What a pointer that rests on it shows; or nothing.
  void rectangle(point corner, double width, double height, std::string_view style, std::string_view title = {});
  /// @param anchor  start, middle or end: the part of the text that lies at `at`.
  void text(point at, std::string_view text, std::string_view style = "label", std::string_view anchor = "start");
  void curve(std::vector<point> const& points, std::string_view style);
  /// Round dots as one path, a fraction of the size of circles.
  void dots(std::vector<point> const& points, double radius, std::string_view style);

  /// The picture. @param description  For readers that don't show it.
  [[nodiscard]] std::string str(std::string_view description) const;

 private:
  double width_, height_;
  std::string parts_;
};

}  // namespace tendril::cli
