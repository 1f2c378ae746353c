// Two sides share the items of one job, each at its own rate: the front side is one worker that takes many items a turn
// (a GPU), the back side is several workers that take few (threads of a CPU). Who makes an item never matters.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <vector>

namespace tendril::base {

/// Consecutive items.
struct item_range {
  std::int64_t first = 0;
  std::int64_t size = 0;

  [[nodiscard]] bool empty() const { return size == 0; }
};

/// What is known about one side before a job.
struct work_side {
  std::int64_t least = 1;  ///< Items of a turn that are worth the turn. Turns are shorter only at the end.
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  double rate = 0;         ///< Items a second of the whole side in an earlier job of the same kind; 0: not known.
  std::int64_t first = 0;  ///< Items of the front's first turn; 0: as rates say. For a front that gains by large turns.
};

/// Gives out the items of a job. The front takes them in ascending order from the first, the back in descending order
/// from the last, until they meet. A turn is half of what the side would do of the rest if both sides went on at their
/// rates, so that turns get shorter and both sides end together. A side leaves early if the other side would do the rest
/// sooner than it can do one more turn.
///
/// Times are seconds of one clock of the caller. Thread-safe.
class shared_items {
 public:
  /// @param num_workers  Of the back, 1 or more.
  /// @param multiple     Turns of the front begin at multiples of this, as all items do.
  shared_items(item_range all, work_side const& front, work_side const& back, int num_workers,
               std::int64_t multiple = 1);

  /// The next turn; empty: the worker leaves and must not ask again.
  [[nodiscard]] item_range take_front(double now);
  [[nodiscard]] item_range take_back(int worker, double now);

  /// The worker did the turn that it took last.
  void finish_front(double now);
  void finish_back(int worker, double now);

  /// Nothing more is given out.
  void stop() noexcept;

  // What was measured: items of all turns by the time that they took; 0: nothing.
  [[nodiscard]] double front_rate() const;
  [[nodiscard]] double back_rate() const;
  [[nodiscard]] std::int64_t front_items() const;  ///< Given to the front so far.

 private:
  /// The turn of a worker, and the last one before.
  struct turn {
    double since = 0;
    std::int64_t size = 0;
    bool before_first = true;
  };

  /// What a side has done.
  struct work_done {
    double items = 0, seconds = 0;  ///< The sum of the seconds of all workers.

    [[nodiscard]] double rate(int num_workers) const { return seconds > 0 ? items * num_workers / seconds : 0; }
  };

  /// A running mean of rates, in which a turn of the past counts half of the turn after it.
  static void learn(double& rate, turn const& done, double now, int num_workers);
  [[nodiscard]] double share_of_front() const;
  [[nodiscard]] std::int64_t rest() const { return end_ - begin_; }

  mutable std::mutex mutex_;
  work_side front_, back_;
  std::int64_t multiple_;
  std::int64_t first_, begin_, end_;
  double front_rate_, back_rate_;  // known or measured
  bool back_measured_ = false;
  work_done front_done_, back_done_;
  bool front_left_ = false;
  int num_workers_, workers_there_;
  turn front_turn_;
  std::vector<turn> back_turns_;
};

/// Works at all items: `front` on a thread of its own, `back` on a team that the calling thread belongs to. What either throws ends
/// the call: every worker finishes its turn and takes no other, then the first exception comes out. No thread outlives
/// the call.
void work_at(shared_items& items, int num_workers, std::function<void(item_range)> const& front,
             std::function<void(int worker, item_range)> const& back);

}  // namespace tendril::base
