// Which of two sides makes the items of a job, or both. Sides that work at once may slow each other: a GPU that reads lists
// in host memory takes a third of the rate at which a CPU reads there. So rates are measured each way, and the best is taken.

#pragma once

#include <cstdint>

namespace tendril::base {

/// Who makes items.
enum class work_sides { front, back, both };

/// What was measured at a kind of job, in items a second; 0: nothing.
class work_rates {
 public:
  double front = 0, back = 0;                ///< Each alone.
  double both = 0;                           ///< All items, where both worked at once.
  double front_beside = 0, back_beside = 0;  ///< Each side's part of them while it worked.
  int trials_of_front = 0, trials_of_back = 0, trials_of_both = 0;
  std::int64_t settled = 0;  ///< Parts made since there is nothing left to try.

  /// A way is known after so many trials: the first one also allocates memory and starts threads.
  static constexpr int enough_trials = 2;

  /// Takes over that `items` were made in `seconds`. A rate rises to what was measured at once, and falls by a quarter of
  /// the difference: what disturbs a measurement makes it slower.
  void learn(work_sides who, std::int64_t items, double seconds);

  /// A rate after `measured` was.
  [[nodiscard]] static double learned(double rate, double measured);

  /// Whether both sides at once may be worth a trial: rates of both alone are known, and neither is small beside the other.
  [[nodiscard]] bool both_may_pay() const;

  /// Whether no way needs a trial.
  [[nodiscard]] bool is_settled() const;

  /// The way whose rate is the highest; front where nothing is known.
  [[nodiscard]] work_sides best() const;

  /// The way that is to be tried again: after 4, 8, 16, … parts one of those, in turn, that reached half of the best rate,
  /// since their trials may all have been disturbed. best() if it is none.
  [[nodiscard]] work_sides tried_again() const;
};

/// How much of a job is made to measure a way whose rate is not known: the part in `trials` of the rest, unless that is
/// below `least` items, which take too short a time; then all of the rest.
struct work_trials {
  std::int64_t least = 1;
  std::int64_t most = 1;
  bool front_needs_all = false;  ///< The front's rate grows with its items, so a part of them tells too little.

  static constexpr std::int64_t trials = 64;
  static constexpr std::int64_t trials_again = 8;  ///< A way is tried again in this part of a long rest.
};

/// Items of a job, and who makes them.
struct work_part {
  work_sides who;
  std::int64_t size;
};

/// What to do with the rest of a job: a trial of a way whose rate is not known, or all of it in the best way.
/// @param rest  Items, above 0.
[[nodiscard]] work_part next_part(std::int64_t rest, work_rates const& known, work_trials const& trials);

}  // namespace tendril::base
