// Pieces of a job for several workers.

#include <tendril/several_gpus.hpp>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/expects.hpp"       // TENDRIL_EXPECTS
#include "base/thread_limit.hpp"  // available_threads

namespace tendril {
namespace {

/// What workers and the one who takes agree on.
class piece_counter {
 public:
  piece_counter(int num_workers, std::int64_t num_pieces)
      : num_pieces_(num_pieces), window_(2 * std::int64_t{num_workers}), is_made_(static_cast<std::size_t>(window_))
  {
  }

  /// The next piece for a worker; nothing if there is none, or the job has failed.
  std::optional<std::int64_t> begin()
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || next_ == num_pieces_ || next_ < num_taken_ + window_; });
    if (failure_ || next_ == num_pieces_) { return std::nullopt; }
    return next_++;
  }

  void made(std::int64_t piece)
  {
    {
      std::lock_guard const lock(mutex_);
      is_made_[index(piece)] = true;
    }
    changed_.notify_all();
  }

  /// Waits until a piece is made. @return false if the job has failed.
  bool await(std::int64_t piece)
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || is_made_[index(piece)]; });
    return !failure_;
  }

  void taken(std::int64_t piece)
  {
    {
      std::lock_guard const lock(mutex_);
      is_made_[index(piece)] = false;
      ++num_taken_;
    }
    changed_.notify_all();
  }

  void fail(std::exception_ptr why) noexcept
  {
    {
      std::lock_guard const lock(mutex_);
      if (!failure_) { failure_ = std::move(why); }
    }
    changed_.notify_all();
  }

  /// Only after every worker has ended.
  void rethrow() const
  {
    if (failure_) { std::rethrow_exception(failure_); }
  }

 private:
  [[nodiscard]] std::size_t index(std::int64_t piece) const { return static_cast<std::size_t>(piece % window_); }

  std::int64_t num_pieces_, window_, next_ = 0, num_taken_ = 0;
  std::vector<bool> is_made_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
};

}  // namespace

void deal_pieces(int num_workers, std::int64_t num_pieces, std::function<void(int, std::int64_t)> const& make,
                 std::function<void(std::int64_t)> const& take)
{
  TENDRIL_EXPECTS(num_workers > 0, "{} workers, expected one or more", num_workers);
  TENDRIL_EXPECTS(num_pieces >= 0, "pieces of a job: expected at least one sample each");
  if (num_pieces == 0) { return; }
  if (base::available_threads(num_workers + 1) < num_workers + 1) {
    for (std::int64_t piece = 0; piece < num_pieces; ++piece) {
      make(0, piece);
      take(piece);
    }
    return;
  }
  piece_counter pieces(num_workers, num_pieces);
  {
    std::vector<std::jthread> workers;
    try {
      for (int worker = 0; worker < num_workers; ++worker) {
        workers.emplace_back([&, worker] {
          try {
            while (auto const piece = pieces.begin()) {
              make(worker, *piece);
              pieces.made(*piece);
            }
          } catch (...) {
            pieces.fail(std::current_exception());
          }
        });
      }
      for (std::int64_t piece = 0; piece < num_pieces && pieces.await(piece); ++piece) {
        take(piece);
        pieces.taken(piece);
      }
    } catch (...) {
      pieces.fail(std::current_exception());
    }
  }
  pieces.rethrow();
}

}  // namespace tendril
