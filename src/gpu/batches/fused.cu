// A single mini-batch in one launch: seeds, picks, numbering and edges of all hops, with barriers of the whole grid between
// them where the launches of the other executors end. Each part is what those launches do (src/gpu/batches/begin.cuh,
// src/gpu/picks/pick_kernels.cuh, src/gpu/batches/number_tile.cuh), so that the batch is the same. PGSampler (section III)
// fuses the hops by a queue without barriers; here vertices are numbered as the batch grows, which asks for two a hop: behind
// the picks, since the slot that came first for a vertex is known when all have been put into the table; and behind the
// numbers, since they say where each vertex of the next hop has its slots. CPU twin: src/cpu/batches/minibatch.cpp.
//
// What a call is comes with the launch's arguments, and the counts go to pinned host memory, so that no copy comes before or
// after. All blocks run at once: the launch is cooperative.
//
// Floor, for 1,024 seeds (15, 10, 5): 8 barriers of 1 us; three hops of some eight dependent accesses of 0.5 to 0.8 us each,
// whatever their number; 750,000 picks at most in the last one, a gather of 4 bytes and two accesses of the table each.

#include <algorithm>

#include <cuda_runtime_api.h>

#include "gpu/batches/begin.cuh"
#include "gpu/batches/fused.hpp"
#include "gpu/batches/number_tile.cuh"
#include "gpu/batches/pick.cuh"
#include "gpu/device/grid_barrier.cuh"
#include "gpu/picks/summed_picks.cuh"

namespace tendril::gpu {
namespace {

/// How the picks of a hop are made.
enum class fused_rule : std::uint8_t { none, floyd, uniform, alias, summed, last };

/// Where weighted picks read: kernels that know sums of weights take more registers, and arguments.
template <bool by_sums>
struct fused_tables {
  core::alias_bucket const* buckets = nullptr;
};
template <>
struct fused_tables<true> {
  core::alias_bucket const* buckets = nullptr;
  summed_tables sums;
};

template <class View, bool by_sums>
struct fused_part {
  expansion_part<View> picks;
  number_job number;
  fused_tables<by_sums> tables;
  fused_rule rule = fused_rule::none;
};

/// How many jobs there is room for: arguments of a launch take time, so graphs of one type get a smaller set.
struct few_jobs {
  static constexpr bool by_sums = false;
  static constexpr std::size_t hops = 4, seeds = 1;
  static constexpr std::size_t words =
      (sizeof(batch_call) + seeds * sizeof(vertex_call) + sizeof(edge_call)) / sizeof(unsigned long long);
};
template <bool with_sums>
struct all_jobs {
  static constexpr bool by_sums = with_sums;
  static constexpr std::size_t hops = most_fused_launches, seeds = most_fused_types, words = most_fused_words;
};

/// A fused_batch as its kernel reads it.
template <class View, class Room>
struct fused_job {
  begin_job begin;
  std::int64_t begin_threads = 0;
  number_job seeds[Room::seeds];
  std::uint32_t num_seeds = 0;
  std::uint32_t num_hops = 0;
  std::uint32_t num_words = 0;
  std::uint32_t report_words = 0;
  fused_part<View, Room::by_sums> hops[Room::hops];
  unsigned long long call[Room::words];
  unsigned long long* call_there = nullptr;
  unsigned long long const* reported = nullptr;
  unsigned long long* report = nullptr;
  fused_state* state = nullptr;
};

/// Blocks that have a part of it write the call's words, all of them the same, so that they need not wait for one another.
/// The whole grid.
template <class Job>
__device__ void begin_fused(Job const& job)
{
  if (std::int64_t{blockIdx.x} * blockDim.x >= job.begin_threads) { return; }
  for (std::uint32_t i = threadIdx.x; i < job.num_words; i += blockDim.x) { __stcg(job.call_there + i, job.call[i]); }
  __syncthreads();
  begin_work(job.begin);
}

/// The whole grid.
template <class View, bool by_sums>
__device__ __forceinline__ void pick_fused(fused_part<View, by_sums> const& hop)
{
  switch (hop.rule) {
    case fused_rule::none: break;
    case fused_rule::floyd: pick_floyd_lanes(hop.picks); break;
    case fused_rule::uniform: pick_pairs(uniform_choice{}, hop.picks); break;
    case fused_rule::alias: pick_pairs(bucket_choice{hop.tables.buckets}, hop.picks); break;
    case fused_rule::summed:
      if constexpr (by_sums) { pick_pairs(summed_choice<false>{hop.tables.sums}, hop.picks); }
      break;
    case fused_rule::last: pick_pairs(last_choice{}, hop.picks); break;
  }
}

/// Tells the host, and makes ready for the next launch. The block that closed the last hop's counts.
template <class Job>
__device__ void report(Job const& job)
{
  __syncthreads();  // one thread has closed the counts
  for (std::uint32_t i = threadIdx.x; i < job.report_words; i += blockDim.x) {
    job.report[2 + i] = __ldcg(job.reported + i);
  }
  if (threadIdx.x == 0) {
    job.report[0] = __ldcg(&job.state->bad_seed);
    job.state->bad_seed = ~0ULL;
  }
}

template <class View, class Room>
__global__ __launch_bounds__(number_threads,
                             Room::by_sums ? 3 : 4) void fused_kernel(fused_job<View, Room> const __grid_constant__ job)
{
  static_assert(number_threads == pick_threads);
  __shared__ tile_sums sums;
  grid_barrier const barrier(&job.state->barrier);
  begin_fused(job);
  barrier.wait();
  for (std::uint32_t i = 0; i < job.num_seeds; ++i) { number_by_resident_blocks<true>(job.seeds[i], sums); }
  barrier.wait();
  for (std::uint32_t i = 0;; ++i) {
    auto const& hop = job.hops[i];
    bool closes = blockIdx.x == 0;
    if (hop.rule == fused_rule::none) {
      std::int64_t const num_expanded = *hop.number.from.num;
      write_rows<true>(hop.number, num_expanded);
      if (global_thread() == 0) {
        close_batch<false>(hop.number, 0, counts_before::of(hop.number, 0), {}, num_expanded);
      }
    } else {
      pick_fused(hop);
      barrier.wait();
      closes = number_by_resident_blocks<false>(hop.number, sums);
    }
    if (i + 1 == job.num_hops) {
      if (closes) { report(job); }
      return;
    }
    barrier.wait();
  }
}

fused_rule rule_of(fused_hop const& hop, bool replace)
{
  if (hop.number.at == nullptr) { return fused_rule::none; }
  switch (hop.choice) {
    case samplers::edge_choice::uniform: return replace ? fused_rule::uniform : fused_rule::floyd;
    case samplers::edge_choice::last: return fused_rule::last;
    case samplers::edge_choice::alias: return hop.sums.rows == nullptr ? fused_rule::alias : fused_rule::summed;
    case samplers::edge_choice::race:
    case samplers::edge_choice::labor: break;  // refused: fused_launch.cpp
  }
  return fused_rule::none;
}

template <class View, class Room>
void enqueue_with(fused_batch const& batch, gpu_exec const& exec)
{
  constexpr auto kernel = fused_kernel<View, Room>;
  fused_job<View, Room> job;
  job.begin = batch.begin;
  job.begin_threads = std::max({batch.begin.num_zeros, batch.begin.most_seeds, batch.begin.most_groups});
  std::copy_n(batch.seeds.begin(), batch.num_seeds, job.seeds);
  job.num_seeds = static_cast<std::uint32_t>(batch.num_seeds);
  job.num_hops = static_cast<std::uint32_t>(batch.num_hops);
  job.num_words = static_cast<std::uint32_t>(batch.num_words);
  job.report_words = static_cast<std::uint32_t>(batch.report_words);
  std::copy_n(batch.call.begin(), batch.num_words, job.call);
  job.call_there = batch.call_there;
  job.reported = batch.reported;
  job.report = batch.report;
  job.state = batch.state;
  std::int64_t threads = job.begin_threads;
  for (std::size_t i = 0; i < batch.num_hops; ++i) {
    fused_hop const& hop = batch.hops[i];
    job.hops[i].rule = rule_of(hop, batch.replace);
    job.hops[i].number = hop.number;
    job.hops[i].tables.buckets = hop.buckets;
    if constexpr (Room::by_sums) { job.hops[i].tables.sums = hop.sums; }
    std::int64_t const pairs = hop.picks.fanout / 2 + hop.picks.fanout % 2;
    job.hops[i].picks = {{hop.picks, hop.picks.graph.template as<View>()},
                         0,
                         core::fast_divisor(static_cast<std::uint32_t>(std::max<std::int64_t>(pairs, 1)))};
    threads = std::max(threads, hop.picks.most_vertices * pairs);
  }
  unsigned const blocks = filling_blocks<kernel>(threads, number_threads, exec.device);
  void* arguments[] = {&job};
  TENDRIL_CUDA_TRY(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(number_threads), arguments, 0, exec.stream));
}

template <class View>
void enqueue(fused_batch const& batch, gpu_exec const& exec)
{
  bool const by_sums = std::any_of(batch.hops.begin(), batch.hops.begin() + static_cast<std::ptrdiff_t>(batch.num_hops),
                                   [](fused_hop const& hop) { return hop.sums.rows != nullptr; });
  if (by_sums) {
    enqueue_with<View, all_jobs<true>>(batch, exec);
    return;
  }
  bool const is_small =
      batch.num_hops <= few_jobs::hops && batch.num_seeds <= few_jobs::seeds && batch.num_words <= few_jobs::words;
  is_small ? enqueue_with<View, few_jobs>(batch, exec) : enqueue_with<View, all_jobs<false>>(batch, exec);
}

}  // namespace

void run_fused(fused_batch const& batch, graph_form form, gpu_exec const& exec)
{
  form == graph_form::csr ? enqueue<csr_view>(batch, exec) : enqueue<compressed_view>(batch, exec);
}

}  // namespace tendril::gpu
