#include "samplers/walks/deal_stream.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "base/thread_limit.hpp"  // available_threads

namespace tendril::samplers {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);  // between two calls of on_progress
constexpr int threads_a_place = 6;                         // its own, and those of its stages

/// What the threads of places agree on.
class team_of_places {
 public:
  explicit team_of_places(int size) : done_(static_cast<std::size_t>(size), 0), reports_(done_.size()) {}

  base::turnstile starts, sink;

  void tell(int place, std::int64_t walks)
  {
    std::lock_guard const lock(mutex_);
    done_[static_cast<std::size_t>(place)] = walks;
  }

  void finish(int place, walk_stream_report const& report)
  {
    {
      std::lock_guard const lock(mutex_);
      reports_[static_cast<std::size_t>(place)] = report;
      ++num_ended_;
    }
    changed_.notify_all();
  }

  /// Ends the work of all. The first exception counts: those after it only tell of the end.
  void fail(std::exception_ptr why) noexcept
  {
    {
      std::lock_guard const lock(mutex_);
      if (!failure_) { failure_ = std::move(why); }
    }
    starts.stop();
    sink.stop();
    changed_.notify_all();
  }

  /// Calls `watch` until all have ended, or one fails.
  void stand_by(std::function<void(std::int64_t done)> const& watch)
  {
    std::unique_lock lock(mutex_);
    auto const over = [&] { return failure_ || num_ended_ == done_.size(); };
    for (bool last = false; !last;) {
      last = changed_.wait_for(lock, interval, over);
      std::int64_t const done = std::accumulate(done_.begin(), done_.end(), std::int64_t{0});
      if (failure_ || !watch) { continue; }
      lock.unlock();
      watch(done);
      lock.lock();
    }
  }

  /// What all did. Only after every thread has ended.
  [[nodiscard]] std::vector<walk_stream_report> const& reports() const
  {
    if (failure_) { std::rethrow_exception(failure_); }
    return reports_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> done_;  ///< Walks of each place.
  std::vector<walk_stream_report> reports_;
  std::size_t num_ended_ = 0;
  std::exception_ptr failure_;
};

/// Times of stages that work side by side are those of the slowest place; the sink serves one batch after another.
walk_stream_report sum_of(std::vector<walk_stream_report> const& parts)
{
  walk_stream_report sum;
  for (auto const& part : parts) {
    sum.num_walks += part.num_walks;
    sum.steps += part.steps;
    sum.num_batches += part.num_batches;
    sum.batch_walks = std::max(sum.batch_walks, part.batch_walks);
    sum.batch_bytes += part.batch_bytes;
    sum.copied_bytes += part.copied_bytes;
    sum.starts_seconds += part.starts_seconds;
    sum.walk_seconds = std::max(sum.walk_seconds, part.walk_seconds);
    sum.copy_seconds = std::max(sum.copy_seconds, part.copy_seconds);
    sum.sink_seconds += part.sink_seconds;
  }
  return sum;
}

}  // namespace

walk_stream_report deal_stream(walk_stream_job const& job, int num_places, std::int64_t batch, make_share const& make)
{
  int const threads = num_places * threads_a_place;
  if (num_places == 1 || base::available_threads(threads) < threads) { return make(job, {.batch = batch}); }
  auto const begin = std::chrono::steady_clock::now();
  team_of_places team(num_places);
  {
    std::vector<std::jthread> places;
    try {
      for (int place = 0; place < num_places; ++place) {
        places.emplace_back([&, place] {
          try {
            walk_stream_job its = job;
            its.on_progress = [&team, place](progress const& report) { team.tell(place, report.done); };
            team.finish(place, make(its, {place, num_places, batch, &team.starts, &team.sink}));
          } catch (...) {
            team.fail(std::current_exception());
          }
        });
      }
      team.stand_by([&](std::int64_t done) {
        if (job.on_progress) { job.on_progress({"walking", done, job.num_walks}); }
      });
    } catch (...) {
      team.fail(std::current_exception());
    }
  }
  walk_stream_report out = sum_of(team.reports());
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

}  // namespace tendril::samplers
