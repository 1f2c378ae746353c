#include "gpu/together/together.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>

#include <tendril/threads.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

constexpr double alone_reads = 65536;      // a GPU has done so many before threads have begun
constexpr double alone_seconds = 3e-4;     // of a job that the GPU does alone
constexpr double gpu_turn_reads = 131072;  // 0.3 ms over the bus, which a launch is short against
constexpr double gpu_bulk_reads = 10e9;    // a second, of lists that have passed
constexpr double cpu_thread_reads = 60e6;  // a second, where nothing was measured yet
constexpr double cpu_turn_reads = 8192;    // 0.1 ms of a thread
constexpr double beside_gpu = 0.65;        // of a CPU's rate while a GPU reads the same memory
constexpr double beside_cpu = 0.65;        // of a GPU's rate while a CPU reads there
constexpr double most_of_part = 0.9;       // of what a GPU is expected to make, in a turn that is to be large
constexpr double least_trial = 2.5e-4;     // seconds of the CPU that are enough to measure it
constexpr double most_trial = 4e-3;
constexpr int size_class_bits = 3;  // jobs of one kind whose sizes differ by less than 2^3 have one rate
constexpr std::int64_t most_item_bytes = std::int64_t{64} << 20U;  // page-locked twice by each thread
constexpr std::int64_t lane_bytes = std::int64_t{2} << 20U;        // of results, in one part: a core's cache

std::int64_t items_of(double reads, shared_job const& job)
{
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(reads / std::max(job.reads, 1.0)));
}

std::int64_t aligned(std::int64_t items, shared_job const& job)
{
  return (items + job.aligned - 1) / job.aligned * job.aligned;
}

/// Whether the GPU makes a job of this size in another way than small ones.
bool is_bulk(shared_job const& job) { return job.bulk.least > 0 && job.num_items >= job.bulk.least; }

/// Jobs that gain by size have a rate for each doubling of it.
std::uint64_t kind_of(shared_job const& job)
{
  job_kind kind = job.kind;
  auto const reads = static_cast<std::uint64_t>(static_cast<double>(job.num_items) * std::max(job.reads, 1.0));
  kind.add(std::uint64_t{is_bulk(job) ? 1U : 0U});
  kind.add(static_cast<std::uint64_t>(std::bit_width(reads)) / (is_bulk(job) ? 1U : size_class_bits));
  return kind.value();
}

using steady = std::chrono::steady_clock;

std::chrono::nanoseconds since(steady::time_point start)
{
  return std::chrono::duration_cast<std::chrono::nanoseconds>(steady::now() - start);
}

int threads_of(shared_job const& job)
{
  return job.num_threads > 0 ? std::min(job.num_threads, available_threads()) : available_threads();
}

/// Threads of the CPU beside the one that serves the GPU.
int threads_beside(shared_job const& job) { return std::min(threads_of(job), threads_beside_gpu()); }

/// The parts of one job, one after the other.
class shared_run {
 public:
  shared_run(shared_job const& job, base::work_rates const& rates, gpu_exec const& exec)
      : job_(job), rates_(rates), exec_(exec)
  {
  }

  /// Without the items before `first`. Leaves the last copies of staged results to the stream, so its rates are too high.
  shared_run(shared_job const& job, std::int64_t first, gpu_exec const& exec)
      : job_(job), leaves_copies_(true), exec_(exec), done_(first)
  {
  }

  /// Makes the next items, and waits for them, but for copies that it leaves.
  void make(base::work_part const& part)
  {
    base::item_range const range{done_, std::min(aligned(part.size, job_), job_.num_items - done_)};
    auto const start = steady::now();
    switch (part.who) {
      case base::work_sides::front: job_.on_gpu(range); break;
      case base::work_sides::back: share(range, {.least = 1, .most = 0}, threads_of(job_)); break;
      case base::work_sides::both: share(range, front(range.size), threads_beside(job_)); break;
    }
    rates_.learn(part.who, range.size, std::chrono::duration<double>(since(start)).count());
    done_ += range.size;
  }

  [[nodiscard]] std::int64_t rest() const { return job_.num_items - done_; }
  [[nodiscard]] base::work_rates const& rates() const { return rates_; }
  /// For how long a thread of the CPU was at work on staged results, on average.
  [[nodiscard]] std::chrono::nanoseconds staged() const { return staged_; }

 private:
  [[nodiscard]] double gpu_bulk_rate() const { return gpu_bulk_reads / std::max(job_.reads, 1.0); }
  [[nodiscard]] double cpu_beside() const
  {
    if (rates_.back_beside > 0) { return rates_.back_beside; }
    double const alone = rates_.back > 0 ? rates_.back : cpu_thread_reads * threads_beside(job_) / job_.reads;
    return beside_gpu * alone;
  }

  /// Items of which the GPU makes the first in bulk.
  [[nodiscard]] std::int64_t in_bulk(std::int64_t size) const
  {
    if (!is_bulk(job_)) { return 0; }
    bulk_work bulk = job_.bulk;
    if (rates_.front > 0) {  // what it took of all items, without those that take no time of their own
      auto const all = static_cast<double>(size);
      bulk.seconds = std::max(0.0, all / rates_.front - all / gpu_bulk_rate());
    }
    return aligned(bulk_items(bulk, size, gpu_bulk_rate(), cpu_beside()), job_);
  }

  /// Items that the GPU makes in one turn where large turns pay: most of its part, so that both sides still end together.
  [[nodiscard]] std::int64_t at_once(std::int64_t size) const
  {
    double const gpu = rates_.front_beside > 0 ? rates_.front_beside : beside_cpu * rates_.front;
    double const part = gpu > 0 ? gpu / (gpu + cpu_beside()) : 0.5;
    return std::clamp<std::int64_t>(
        aligned(static_cast<std::int64_t>(static_cast<double>(size) * part * most_of_part), job_), 1, size);
  }

  [[nodiscard]] base::work_side front(std::int64_t size) const
  {
    std::int64_t const least = std::clamp<std::int64_t>(size / 8, 1, items_of(gpu_turn_reads, job_));
    base::work_side out{.least = aligned(least, job_), .rate = rates_.front_beside, .first = in_bulk(size)};
    if (out.first > 0) { out.least = job_.bulk.least; }
    if (job_.gains_by_size) { out.first = at_once(size); }
    return out;
  }

  void share(base::item_range range, base::work_side const& front, int threads)
  {
    base::work_side back = std::visit([&](auto const& of_cpu) { return turns_of(of_cpu); }, job_.on_cpu);
    back.rate = front.most == 0 ? rates_.back : rates_.back_beside;
    threads = static_cast<int>(std::clamp<std::int64_t>(range.size / back.least, 1, threads));
    base::shared_items items(range, front, back, threads, job_.aligned);
    std::visit([&](auto const& of_cpu) { work(items, threads, range, of_cpu); }, job_.on_cpu);
    if (front.most == 0) { return; }
    if (items.front_rate() > 0) { rates_.front_beside = items.front_rate(); }
    if (items.back_rate() > 0) { rates_.back_beside = items.back_rate(); }
  }

  /// Items of `bytes` bytes, one at least.
  [[nodiscard]] std::int64_t items_in(std::int64_t bytes) const
  {
    return std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, job_.item_bytes));
  }

  [[nodiscard]] base::work_side turns_of(lane_work const&) const
  {
    std::int64_t const room = items_in(lane_bytes);
    return {.least = std::min(items_of(cpu_turn_reads, job_), room), .most = room};
  }

  [[nodiscard]] base::work_side turns_of(staged_work const& of_cpu) const
  {
    std::int64_t const room = items_in(of_cpu.turn_bytes);
    return {.least = (room + 3) / 4, .most = room};
  }

  void work(base::shared_items& items, int threads, base::item_range, lane_work const& of_cpu)
  {
    lanes own(exec_.device, threads);
    work_at(items, threads, [&](int thread, base::item_range turn) {
      device_guard const guard(exec_.device);
      lane& mine = own.of(thread);
      mine.begin_part();
      of_cpu(turn, thread, mine);
      mine.end_part();
    });
    own.finish();
  }

  void work(base::shared_items& items, int threads, base::item_range range, staged_work const& of_cpu)
  {
    staged_results results(exec_.device, range, job_.item_bytes, of_cpu.out);
    auto const start = steady::now();
    of_cpu.begin(range, results);
    staged_ += since(start);
    std::atomic<std::int64_t> written{0};
    staged_results::writer const write = [&](base::item_range part, std::byte* to) {
      auto const begin = steady::now();
      of_cpu.write(part, to);
      written += since(begin).count();
    };
    work_at(items, threads, [&](int, base::item_range turn) { results.make(turn, write); });
    staged_ += std::chrono::nanoseconds(written / threads);
    leaves_copies_ ? results.finish(exec_.stream) : results.finish();
  }

  template <class Back>
  void work_at(base::shared_items& items, int threads, Back const& back)
  {
    auto const front = [&](base::item_range turn) {
      device_guard const guard(exec_.device);
      job_.on_gpu(turn);
    };
    base::work_at(items, threads, front, back);
  }

  shared_job const& job_;
  base::work_rates rates_;
  bool leaves_copies_ = false;
  gpu_exec const& exec_;
  std::int64_t done_ = 0;
  std::chrono::nanoseconds staged_{0};
};

/// Who makes the next items of a job on a graph that is sampled as `share` says.
base::work_part next_part(shared_run const& run, shared_job const& job, work_share share)
{
  switch (share) {
    case work_share::gpu: return {base::work_sides::front, run.rest()};
    case work_share::cpu: return {base::work_sides::back, run.rest()};
    case work_share::both: return {base::work_sides::both, run.rest()};
    case work_share::automatic: break;
  }
  double const cpu_reads = cpu_thread_reads * threads_beside(job);
  return base::next_part(run.rest(), run.rates(),
                         {.least = items_of(least_trial * cpu_reads, job),
                          .most = items_of(most_trial * cpu_reads, job),
                          .front_needs_all = is_bulk(job) || job.gains_by_size});
}

/// Jobs that the GPU does before threads of the CPU would have begun, or whose single results are too large for lanes.
bool is_for_gpu_alone(shared_job const& job, base::work_rates const& known)
{
  auto const n = static_cast<double>(job.num_items);
  bool const is_short = n * job.reads < alone_reads || (known.front > 0 && n / known.front < alone_seconds);
  return is_short || job.item_bytes > most_item_bytes;
}

}  // namespace

int threads_beside_gpu() { return std::max(1, available_threads() - 1); }

std::int64_t bulk_items(bulk_work const& bulk, std::int64_t num_items, double gpu_rate, double cpu_rate)
{
  if (bulk.least <= 0) { return 0; }
  double const seconds = (static_cast<double>(num_items) + gpu_rate * bulk.seconds) / (gpu_rate + cpu_rate);
  auto const items = static_cast<std::int64_t>((seconds - bulk.seconds) * gpu_rate);
  return items < bulk.least ? 0 : std::min(items, num_items);
}

base::work_rates known_rates::find(std::uint64_t kind) const
{
  std::lock_guard const lock(mutex_);
  auto const it = of_kind_.find(kind);
  return it == of_kind_.end() ? base::work_rates{} : it->second;
}

void known_rates::keep(std::uint64_t kind, base::work_rates const& rates) const
{
  std::lock_guard const lock(mutex_);
  of_kind_[kind] = rates;
}

void work_together(known_rates const& rates, work_share share, shared_job const& job, gpu_exec const& exec)
{
  if (job.num_items == 0) { return; }
  std::uint64_t const kind = kind_of(job);
  base::work_rates const known = rates.find(kind);
  if (share == work_share::automatic && is_for_gpu_alone(job, known)) {
    job.on_gpu({0, job.num_items});
    return;
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  shared_run run(job, known, exec);
  while (run.rest() > 0) { run.make(next_part(run, job, share)); }
  rates.keep(kind, run.rates());
}

std::chrono::nanoseconds stage_beside(shared_job const& job, std::int64_t first, std::function<void()> const& beside,
                                      gpu_exec const& exec)
{
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  beside();
  shared_run run(job, first, exec);
  if (run.rest() > 0) { run.make({base::work_sides::back, run.rest()}); }
  return run.staged();
}

}  // namespace tendril::gpu
