#include "progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.hpp"

namespace tendril::cli {
namespace {

constexpr auto patience_at_terminals = std::chrono::milliseconds(250);
constexpr auto interval = std::chrono::milliseconds(100);

int terminal_columns()
{
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_terminal()
{
  char const* const term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

std::string bar(double share, int width)
{
  static constexpr std::string_view eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  int const filled = static_cast<int>(share * width * 8);
  std::string text;
  for (int i = 0; i < filled / 8; ++i) { text += "█"; }
  text += eighths[filled % 8];
  int const cells = filled / 8 + (filled % 8 != 0 ? 1 : 0);
  text.append(static_cast<std::size_t>(std::max(0, width - cells)), ' ');
  return text;
}

}  // namespace

progress_bar::progress_bar(progress_shown shown)
    : enabled_(shown == progress_shown::always || (shown == progress_shown::at_terminals && is_terminal())),
      patience_(shown == progress_shown::always ? clock::duration::zero() : patience_at_terminals)
{
}

void progress_bar::update(char const* what, std::int64_t done, std::int64_t total, char const* unit, double units_each)
{
  if (!enabled_) { return; }
  auto const now = clock::now();
  if (what_ != what) {
    what_ = what;
    started_ = now;
    last_drawn_ = now - interval;
    done_at_start_ = done;
  }
  if (now - started_ < patience_ || now - last_drawn_ < interval) { return; }
  last_drawn_ = now;

  double const seconds = std::chrono::duration<double>(now - started_).count();
  double const pace = seconds > 0 ? static_cast<double>(done - done_at_start_) / seconds : 0;
  std::string tail;
  if (unit != nullptr) { tail += fmt::format("  {} {}/s", si(pace * units_each), unit); }
  if (total <= 0) {
    std::fputs(fmt::format("\r\x1b[K{:<10} {}{}", what, si(static_cast<double>(done)), tail).c_str(), stderr);
  } else {
    double const share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    if (pace > 0) { tail += fmt::format("  ETA {}", duration(std::ceil(static_cast<double>(total - done) / pace))); }
    // What is left of the line after the stage, the brackets and the percentage belongs to the bar.
    int const width = std::clamp(terminal_columns() - 21 - static_cast<int>(tail.size()), 8, 40);
    std::fputs(fmt::format("\r\x1b[K{:<10} │{}│ {:3.0f}%{}", what, bar(share, width), 100 * share, tail).c_str(),
               stderr);
  }
  std::fflush(stderr);
  drawn_ = true;
}

std::function<void(progress const&)> progress_bar::callback()
{
  if (!enabled_) { return {}; }
  return [this](progress const& report) { update(report.what, report.done, report.total); };
}

void progress_bar::clear()
{
  if (!drawn_) { return; }
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace tendril::cli
