// Jobs whose items the GPU makes, or the CPU, or both at once (base/shared_work.hpp), whichever was measured to be the
// fastest (base/work_choice.hpp): the GPU reads host memory over the bus, where it slows the CPU.

#pragma once

#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <variant>

#include <tendril/exec.hpp>
#include <tendril/work_share.hpp>

#include "base/shared_work.hpp"
#include "base/work_choice.hpp"
#include "gpu/together/lane.hpp"
#include "gpu/together/staged_results.hpp"

namespace tendril::gpu {

/// Names a kind of jobs whose items take about the same time: a hash of all that decides about it.
class job_kind {
 public:
  job_kind(std::initializer_list<std::uint64_t> parts)
  {
    for (std::uint64_t const part : parts) { add(part); }
  }
  void add(std::uint64_t part) { hash_ = std::rotl(hash_ ^ part, 23) * 0x9e3779b97f4a7c15ULL; }
  void add(double part) { add(std::bit_cast<std::uint64_t>(part)); }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0x243f6a8885a308d3ULL;
};

/// A way to make items of which most of the time does not depend on how many they are.
struct bulk_work {
  double seconds = 0;      ///< However many.
  std::int64_t least = 0;  ///< Items that are made this way; 0: there is no such way.
};

/// The items that a GPU begins with in bulk so that the other side does the rest in the same time; 0 if they were too few.
/// @param gpu_rate, cpu_rate  Items a second, of the GPU beside bulk.seconds.
[[nodiscard]] std::int64_t bulk_items(bulk_work const& bulk, std::int64_t num_items, double gpu_rate, double cpu_rate);

/// Makes items on the CPU, by the calling thread alone, and enqueues their copies. Called by several threads, on which the GPU
/// is current, each with its own number and lane, between begin_part() and end_part().
using lane_work = std::function<void(base::item_range, int thread, lane&)>;

/// The same of items whose results, item_bytes each, lie one after the other.
struct staged_work {
  std::byte* out = nullptr;     ///< Of item 0, on the GPU.
  std::int64_t turn_bytes = 0;  ///< Of results, in one turn of a thread, at most; a quarter of it at least.
  std::function<void(base::item_range, staged_results&)> begin;  ///< Called before threads make some of these items.
  staged_results::writer write;  ///< Makes items at some memory. Called by several threads.
};

/// A job of independent items.
struct shared_job {
  std::int64_t num_items = 0;
  double reads = 1;             ///< Of memory at random, an item, about.
  std::int64_t item_bytes = 0;  ///< Of the result.
  job_kind kind{};              ///< Jobs of one kind begin with the rates of the one before.
  std::int64_t aligned = 32;  ///< Turns of the GPU begin at multiples of this: results of 32 begin at lines of memory.

  int num_threads = 0;  ///< Of the CPU, at most; 0: every core.

  bulk_work bulk = {};  ///< How the GPU makes many items at once, if it does that in another way.
  /// Whether the GPU is faster at large turns. Then it begins with most of what it is expected to make.
  bool gains_by_size = false;

  /// Makes items on the GPU, and waits for them. Called by one thread, on which the GPU is current.
  std::function<void(base::item_range)> on_gpu;

  std::variant<lane_work, staged_work> on_cpu;
};

/// Threads of the CPU that work beside the GPU: all but the one that serves the GPU.
[[nodiscard]] int threads_beside_gpu();

/// Rates of jobs that were done, by their kind. Thread-safe.
class known_rates {
 public:
  known_rates() = default;
  known_rates(known_rates&& other) noexcept : of_kind_(std::move(other.of_kind_)) {}

  [[nodiscard]] base::work_rates find(std::uint64_t kind) const;
  void keep(std::uint64_t kind, base::work_rates const& rates) const;

 private:
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, base::work_rates> of_kind_;
};

/// Makes all items. Waits for the stream of `exec` before, since other streams write the result, and for all items; a job
/// that is too small for that, and whose `share` is automatic, is on_gpu(all) alone.
/// @param rates  Of earlier jobs; takes this one's.
/// @throws what either side throws, after both have ended.
void work_together(known_rates const& rates, work_share share, shared_job const& job, gpu_exec const& exec);

/// The CPU makes the items of a job of staged work from `first` on. Waits for the stream of `exec` before, then calls
/// `beside`, which enqueues what the GPU does meanwhile. It is the stream that waits for the last copies.
/// @return How long a thread of the CPU was at work, on average, without waiting for the GPU or for copies.
/// @throws what either side throws, after the CPU has ended.
std::chrono::nanoseconds stage_beside(shared_job const& job, std::int64_t first, std::function<void()> const& beside,
                                      gpu_exec const& exec);

}  // namespace tendril::gpu
