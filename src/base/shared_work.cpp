#include "base/shared_work.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "base/parallel.hpp"  // exception_keeper

namespace tendril::base {
namespace {

constexpr double part_of_share = 0.5;       // of what a side is expected to do of the rest, in one turn
constexpr std::int64_t first_part = 64;     // of all items, in the first turn of a front whose rate is not known
constexpr std::int64_t most_growth = 4;     // of a worker's turns while the rates of a job are new
constexpr std::int64_t least_of_least = 4;  // a turn at the end may be so many times shorter than the least

}  // namespace

shared_items::shared_items(item_range all, work_side const& front, work_side const& back, int num_workers,
                           std::int64_t multiple)
    : front_(front),
      back_(back),
      multiple_(multiple),
      first_(all.first),
      begin_(all.first),
      end_(all.first + all.size),
      front_rate_(front.rate),
      back_rate_(back.rate),
      num_workers_(num_workers),
      workers_there_(num_workers),
      back_turns_(static_cast<std::size_t>(num_workers))
{
}

double shared_items::share_of_front() const
{
  if (front_rate_ <= 0 || back_rate_ <= 0) { return 0.5; }
  return front_rate_ / (front_rate_ + back_rate_);
}

item_range shared_items::take_front(double now)
{
  std::lock_guard const lock(mutex_);
  std::int64_t size = 0;
  if (rest() > 0) {
    auto const all = static_cast<double>(rest());
    // A front that does nearly everything need not leave half of its share for later.
    double const share = share_of_front();
    double const part = std::max(part_of_share, share * share * share * share);
    size = front_rate_ > 0 ? static_cast<std::int64_t>(all * share * part) : rest() / first_part;
    size = front_turn_.before_first && front_.first > 0 ? front_.first : std::max(size, front_.least);
    // One more turn must not last longer than the back needs for all the rest.
    if (size != front_.first && workers_there_ > 0 && front_rate_ > 0 && back_rate_ > 0 &&
        static_cast<double>(size) / front_rate_ > all / back_rate_) {
      size = static_cast<std::int64_t>(all * share_of_front());
      if (size < std::max<std::int64_t>(1, front_.least / least_of_least)) { size = 0; }
    }
    size = std::min((size + multiple_ - 1) / multiple_ * multiple_, front_.most);
    size = std::min(size, rest());
  }
  front_left_ = size == 0;
  item_range const taken{begin_, size};
  begin_ += size;
  front_turn_ = {now, size, false};
  return taken;
}

item_range shared_items::take_back(int worker, double now)
{
  std::lock_guard const lock(mutex_);
  turn& own = back_turns_[static_cast<std::size_t>(worker)];
  std::int64_t size = 0;
  if (rest() > 0) {
    auto const all = static_cast<double>(rest());
    double const own_part = all * (1 - share_of_front()) / num_workers_;
    size = std::max(static_cast<std::int64_t>(own_part * part_of_share), back_.least);
    // A first turn measures. Rates of the past may be wrong, and no turn is much longer than the one before.
    if (back_.rate <= 0 || front_.rate <= 0) {
      size = std::min(size, own.before_first ? back_.least : most_growth * std::max(own.size, back_.least));
    }
    if (!front_left_ && front_rate_ > 0 && back_rate_ > 0) {
      double const front_is_free = front_turn_.since + static_cast<double>(front_turn_.size) / front_rate_;
      double const front_needs = std::max(0.0, front_is_free - now) + all / front_rate_;
      if (static_cast<double>(size) * num_workers_ / back_rate_ > front_needs) {
        size = static_cast<std::int64_t>(own_part);
        if (size < std::max<std::int64_t>(1, back_.least / least_of_least)) { size = 0; }
      }
    }
    size = std::min({size, back_.most, rest()});
  }
  if (size == 0) { --workers_there_; }
  end_ -= size;
  own = {now, size, false};
  return {end_, size};
}

void shared_items::learn(double& rate, turn const& done, double now, int num_workers)
{
  double const seconds = std::max(now - done.since, 1e-9);
  double const measured = static_cast<double>(done.size) * num_workers / seconds;
  rate = rate > 0 ? (rate + measured) / 2 : measured;
}

void shared_items::finish_front(double now)
{
  std::lock_guard const lock(mutex_);
  learn(front_rate_, front_turn_, now, 1);
  front_done_.items += static_cast<double>(front_turn_.size);
  front_done_.seconds += now - front_turn_.since;
  front_turn_.size = 0;
}

void shared_items::finish_back(int worker, double now)
{
  std::lock_guard const lock(mutex_);
  // Each worker tells of its own turns: the side's mean moves as slowly as all of them together.
  turn const& own = back_turns_[static_cast<std::size_t>(worker)];
  double measured = 0;
  learn(measured, own, now, num_workers_);
  back_done_.items += static_cast<double>(own.size);
  back_done_.seconds += now - own.since;
  back_rate_ = back_measured_ ? back_rate_ + (measured - back_rate_) / (2 * num_workers_)
                              : (back_rate_ > 0 ? (back_rate_ + measured) / 2 : measured);
  back_measured_ = true;
}

void shared_items::stop() noexcept
{
  std::lock_guard const lock(mutex_);
  end_ = begin_;
}

double shared_items::front_rate() const
{
  std::lock_guard const lock(mutex_);
  return front_done_.rate(1);
}

double shared_items::back_rate() const
{
  std::lock_guard const lock(mutex_);
  return back_done_.rate(num_workers_);
}

std::int64_t shared_items::front_items() const
{
  std::lock_guard const lock(mutex_);
  return begin_ - first_;
}

void work_at(shared_items& items, int num_workers, std::function<void(item_range)> const& front,
             std::function<void(int worker, item_range)> const& back)
{
  auto const start = std::chrono::steady_clock::now();
  auto const now = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  exception_keeper keeper;
  auto const keep_working = [&](auto const& take, auto const& finish, auto const& work) {
    keeper.run([&] {
      for (item_range turn = take(); !turn.empty(); turn = take()) {
        work(turn);
        finish();
      }
    });
    if (keeper.failed()) { items.stop(); }
  };
  // A front that takes nothing needs no thread.
  item_range first = items.take_front(now());
  std::thread side;
  if (!first.empty()) {
    side = std::thread([&] {
      auto const take = [&] { return first.empty() ? items.take_front(now()) : std::exchange(first, item_range{}); };
      keep_working(
          take, [&] { items.finish_front(now()); }, front);
    });
  }
  run_team(num_workers, [&](int worker) {
    keep_working([&] { return items.take_back(worker, now()); }, [&] { items.finish_back(worker, now()); },
                 [&](item_range turn) { back(worker, turn); });
  });
  if (side.joinable()) { side.join(); }
  keeper.rethrow();
}

}  // namespace tendril::base
