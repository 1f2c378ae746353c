#include "gpu/placed/together.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include <omp.h>

#include "gpu/device/check.hpp"
#include "graph/derived_cache.hpp"

namespace tendril::gpu {
namespace {

constexpr double alone_reads = 65536;      // a GPU has done so many before threads have begun
constexpr double alone_seconds = 3e-4;     // of a job that the GPU does alone
constexpr double gpu_turn_reads = 131072;  // 0.3 ms over the bus, which a launch is short against
constexpr double gpu_bulk_reads = 10e9;    // a second, of lists that have passed
constexpr double cpu_thread_reads = 60e6;  // a second, where nothing was measured yet
constexpr double cpu_turn_reads = 8192;    // 0.1 ms of a thread
constexpr std::int64_t most_item_bytes = std::int64_t{64} << 20U;  // page-locked twice by each thread
constexpr std::int64_t lane_bytes = std::int64_t{4} << 20U;        // of results, in one part

/// Items a second.
struct side_rates {
  double gpu = 0, cpu = 0;
};

/// Rates of the jobs that were done on a graph, by their kind. They decide about the first turns of the next job alone.
struct known_rates {
  mutable std::mutex mutex;
  mutable std::unordered_map<std::uint64_t, side_rates> of_kind;

  known_rates() = default;
  known_rates(known_rates&& other) noexcept : of_kind(std::move(other.of_kind)) {}

  [[nodiscard]] side_rates find(std::uint64_t kind) const
  {
    std::lock_guard const lock(mutex);
    auto const it = of_kind.find(kind);
    return it == of_kind.end() ? side_rates{} : it->second;
  }

  void learn(std::uint64_t kind, side_rates const& measured) const
  {
    std::lock_guard const lock(mutex);
    auto& known = of_kind[kind];
    if (measured.gpu > 0) { known.gpu = measured.gpu; }
    if (measured.cpu > 0) { known.cpu = measured.cpu; }
  }
};

struct known_rates_table : single_table<known_rates> {};

std::int64_t items_of(double reads, shared_job const& job)
{
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(reads / std::max(job.reads, 1.0)));
}

std::int64_t aligned(std::int64_t items, shared_job const& job)
{
  return (items + job.aligned - 1) / job.aligned * job.aligned;
}

}  // namespace

int threads_beside_gpu() { return std::max(1, omp_get_num_procs() - 1); }

bool is_shared(graph const& graph)
{
  placed_lists const* const placed = graph.placed();
  if (placed == nullptr) { return false; }
  switch (placed->share) {
    case work_share::gpu: return false;
    case work_share::automatic: return placed->host_bytes > 0 || placed->host_edge_bytes > 0;
    case work_share::cpu:
    case work_share::both: break;
  }
  return true;
}

std::int64_t bulk_items(bulk_work const& bulk, std::int64_t num_items, double gpu_rate, double cpu_rate)
{
  if (bulk.least <= 0) { return 0; }
  double const seconds = (static_cast<double>(num_items) + gpu_rate * bulk.seconds) / (gpu_rate + cpu_rate);
  auto const items = static_cast<std::int64_t>((seconds - bulk.seconds) * gpu_rate);
  return items < bulk.least ? 0 : std::min(items, num_items);
}

void work_together(graph const& graph, shared_job const& job, gpu_exec const& exec)
{
  if (job.num_items == 0) { return; }
  work_share const share = graph.placed()->share;
  auto const rates = graph.derived().get(known_rates_table(), [] { return known_rates(); });
  job_kind kind = job.kind;
  kind.add(std::uint64_t{job.bulk.least > 0 && job.num_items >= 2 * job.bulk.least ? 1U : 0U});
  side_rates const known = rates->find(kind.value());
  if (share == work_share::automatic) {
    auto const n = static_cast<double>(job.num_items);
    bool const is_short = n * job.reads < alone_reads || (known.gpu > 0 && n / known.gpu < alone_seconds);
    if (is_short || job.item_bytes > most_item_bytes) {
      job.on_gpu({0, job.num_items});
      return;
    }
  }
  int const threads = share == work_share::cpu ? omp_get_num_procs() : threads_beside_gpu();
  lanes own(exec.device, threads);
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));

  double const cpu_rate = known.cpu > 0 ? known.cpu : cpu_thread_reads * threads / job.reads;
  std::int64_t const in_bulk = bulk_items(job.bulk, job.num_items, gpu_bulk_reads / job.reads, cpu_rate);
  base::work_side front{
      .least = aligned(std::clamp<std::int64_t>(job.num_items / 8, 1, items_of(gpu_turn_reads, job)), job),
      .most = share == work_share::cpu ? 0 : std::max(job.aligned, job.most_on_gpu / job.aligned * job.aligned),
      .rate = known.gpu,
      .first = in_bulk};
  if (in_bulk > 0) { front.least = job.bulk.least; }
  std::int64_t const room = std::max<std::int64_t>(1, lane_bytes / std::max<std::int64_t>(1, job.item_bytes));
  base::work_side const back{.least = std::min(items_of(cpu_turn_reads, job), room), .most = room, .rate = known.cpu};
  base::shared_items items(job.num_items, front, back, threads, job.aligned);
  base::work_at(
      items, threads,
      [&](base::item_range turn) {
        device_guard const guard(exec.device);
        job.on_gpu(turn);
      },
      [&](int thread, base::item_range turn) {
        device_guard const guard(exec.device);
        lane& mine = own.of(thread);
        mine.begin_part();
        job.on_cpu(turn, thread, mine);
        mine.end_part();
      });
  own.finish();
  rates->learn(kind.value(), {items.front_rate(), items.back_rate()});
}

}  // namespace tendril::gpu
