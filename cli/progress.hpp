// A progress bar for people at a terminal; in a pipe only where it is asked for.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include <tendril/exec.hpp>  // progress

namespace tendril::cli {

/// Where progress is drawn.
enum class progress_shown {
  never,
  at_terminals,  ///< Where standard error is a terminal, and only for stages that take a moment.
  always         ///< Wherever standard error leads, and the start of every stage.
};

/// One line on standard error that is drawn over and over, with the share done, the rate and the time left. Not
/// thread-safe.
class progress_bar {
 public:
  explicit progress_bar(progress_shown shown);
  progress_bar(progress_bar const&) = delete;
  progress_bar& operator=(progress_bar const&) = delete;
  ~progress_bar() { clear(); }

  /// `done` of `total` (0: not known) units of a stage; a new `what` starts a new stage. With a `unit` the line
  /// tells `units_each` * done a second.
  void update(char const* what, std::int64_t done, std::int64_t total, char const* unit = nullptr,
              double units_each = 1);

  /// For calls that report through `cpu_exec::on_progress`; empty where nothing would be drawn.
  [[nodiscard]] std::function<void(progress const&)> callback();

  /// Takes the line off the screen.
  void clear();

  [[nodiscard]] bool enabled() const noexcept { return enabled_; }

 private:
  using clock = std::chrono::steady_clock;
  bool enabled_ = false;
  clock::duration patience_;  // stages shorter than this are not drawn
  bool drawn_ = false;
  std::string what_;
  clock::time_point started_, last_drawn_;
  std::int64_t done_at_start_ = 0;
};

}  // namespace tendril::cli
