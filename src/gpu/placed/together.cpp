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

void work_together(graph const& graph, shared_job const& job, gpu_exec const& exec)
{
  if (job.num_items == 0) { return; }
  work_share const share = graph.placed()->share;
  auto const rates = graph.derived().get(known_rates_table(), [] { return known_rates(); });
  side_rates const known = rates->find(job.kind.value());
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

  base::work_side const front{
      .least = aligned(std::clamp<std::int64_t>(job.num_items / 8, 1, items_of(gpu_turn_reads, job)), job),
      .most = share == work_share::cpu ? 0 : std::max(job.aligned, job.most_on_gpu / job.aligned * job.aligned),
      .rate = known.gpu,
      .first = job.first_on_gpu};
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
  rates->learn(job.kind.value(), {items.front_rate(), items.back_rate()});
}

}  // namespace tendril::gpu
