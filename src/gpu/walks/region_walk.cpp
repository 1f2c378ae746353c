// Which region passes when, and the loads. While walks use the regions that are on the GPU, the next one is on its way, in
// the place of the oldest ones. Kernels: region_walk.cu.

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/place.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/pinned.hpp"
#include "gpu/walks/prefill.hpp"
#include "gpu/walks/region_launch.hpp"
#include "gpu/walks/regions.hpp"
#include "place/region_ring.hpp"
#include "plan/planner.hpp"  // expected_steps, is_second_order

namespace tendril::gpu {
namespace {

constexpr std::uint64_t load_unit = 16;
constexpr std::uint64_t bytes_beyond = 4 * list_codes::words_beyond;  // of a region, that reading its lists may touch

/// The stream of loads, before kernels that wait. No more than two loads are waited for.
class load_line {
 public:
  load_line()
  {
    int least = 0;
    int greatest = 0;
    TENDRIL_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    TENDRIL_CUDA_TRY(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
    for (cudaEvent_t& event : loaded_) {
      cudaError_t const made = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
      if (made != cudaSuccess) { destroy(); }
      TENDRIL_CUDA_TRY(made);
    }
  }
  ~load_line()
  {
    (void)cudaStreamSynchronize(stream_);  // the buffer is freed next, whatever became of their loads
    destroy();
  }
  load_line(load_line const&) = delete;
  load_line& operator=(load_line const&) = delete;

  /// @return the number of the load.
  std::int64_t load(void const* from, void* to, std::int64_t bytes, int blocks)
  {
    load_region(from, to, bytes, blocks, stream_);
    TENDRIL_CUDA_TRY(cudaEventRecord(loaded_[count_ % loaded_.size()], stream_));
    return static_cast<std::int64_t>(count_++);
  }
  /// `stream` waits for one of the last two loads.
  void hold_until_loaded(std::int64_t load, cuda_stream stream) const
  {
    TENDRIL_CUDA_TRY(cudaStreamWaitEvent(stream, loaded_[static_cast<std::size_t>(load) % loaded_.size()], 0));
  }

 private:
  void destroy() noexcept
  {
    for (cudaEvent_t const event : loaded_) {
      if (event != nullptr) { (void)cudaEventDestroy(event); }
    }
    if (stream_ != nullptr) { (void)cudaStreamDestroy(stream_); }
  }

  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 2> loaded_{};
  std::size_t count_ = 0;
};

std::int64_t padded_waits(std::int64_t num_walks) { return (num_walks + waits_a_run - 1) / waits_a_run * waits_a_run; }

/// What a region takes of the buffer beside its own bytes: it is loaded in units, with words that reading its last list may
/// touch.
constexpr auto beyond = static_cast<std::int64_t>(bytes_beyond + 3 * load_unit);

std::int64_t stretch_of(place::regions const& cut, std::int64_t region)
{
  return (cut.bytes(region) + beyond) / static_cast<std::int64_t>(load_unit) * static_cast<std::int64_t>(load_unit);
}

/// One batch.
class region_run {
 public:
  region_run(walk_job const& job, region_tuning const& tuning, place::regions const& cut, std::int64_t buffer_bytes,
             walk_batch const& batch, walk_shape const& shape, gpu_exec const& exec)
      : job_(job),
        tuning_(tuning),
        cut_(cut),
        batch_(batch),
        shape_(shape),
        words_(job.graph.as<compressed_view>().targets().words()),
        walks_(batch.size, memory_of(exec)),
        waits_(padded_waits(batch.size), memory_of(exec)),
        counts_(static_cast<std::int64_t>(num_waits) + 1, memory_of(exec)),
        begins_(cut_.size() + 1, memory_of(exec)),
        windows_(cut_.size(), memory_of(exec)),
        read_counts_(static_cast<std::int64_t>(num_waits), kept_pinned_memory()),
        set_windows_(cut_.size(), kept_pinned_memory()),
        lists_(buffer_bytes, memory_of(exec)),
        ring_(buffer_bytes, cut_.size())
  {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(begins_.data(), cut_.begins.data(), cut_.begins.size() * sizeof cut_.begins[0],
                                     cudaMemcpyHostToDevice, shape_.stream));
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(shape_.stream));  // the stream of loads may use the memory from here on
  }

  region_use run()
  {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(counts_.data(), 0, static_cast<std::size_t>(counts_.size()) * 8, shape_.stream));
    begin_region_walks(batch_, state(), shape_);
    std::optional<incoming> ready = load(first_region());
    pass(region_wait::at_once, [](std::int64_t) { return nullptr; });
    while (true) {
      auto const waiting = count_waiting();
      if (std::accumulate(waiting.begin(), waiting.end(), std::uint64_t{0}) == 0) { return use_; }
      auto const region = tuning_.choice.next(cut_, waiting, ready ? ready->region : -1);
      if (!ready && !region) { break; }
      std::optional<incoming> const next = region ? std::optional(load(*region)) : std::nullopt;
      if (ready) { use(*ready, next); }
      ready = next;
    }
    // Too few wait for any region: each reads its lists by itself.
    pass(region_wait::anything, [this](std::int64_t) { return words_; });
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(shape_.stream));
    return use_;
  }

 private:
  /// A region that is on its way to the GPU.
  struct incoming {
    std::int64_t region, load;
  };

  [[nodiscard]] waiting_walks state()
  {
    return {walks_.data(), waits_.data(), counts_.data(), counts_.data() + num_waits};
  }

  [[nodiscard]] std::int64_t first_region() const
  {
    std::int64_t region = 0;
    while (cut_.bytes(region) == 0) { ++region; }
    return region;
  }

  /// Enqueues the load of a region that has bytes. No pass is under way that uses what it drives out.
  incoming load(std::int64_t region)
  {
    std::uint64_t const from = from_of(region);
    std::uint64_t const behind = cut_.begins[static_cast<std::size_t>(region) + 1] + bytes_beyond;
    std::int64_t const to = ring_.take(region, stretch_of(cut_, region));
    ++use_.loads;
    use_.bytes += cut_.bytes(region);
    return {region,
            line_.load(reinterpret_cast<unsigned char const*>(words_) + from, lists_.data() + to,
                       static_cast<std::int64_t>((behind - from) / load_unit * load_unit), tuning_.load_blocks)};
  }

  /// @param window  The words of a region, for walks; null: it can't be read. The pass before has ended.
  template <class Window>
  void pass(std::uint8_t wanted, Window&& window)
  {
    for (std::int64_t r = 0; r < cut_.size(); ++r) { set_windows_[r] = window(r); }
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(windows_.data(), set_windows_.data(),
                                     static_cast<std::size_t>(cut_.size()) * sizeof(std::uint32_t const*),
                                     cudaMemcpyHostToDevice, shape_.stream));
    // Those that wait for it won't any more: its count, which is of region `wanted` - 1, and the pool's.
    auto* const counts = counts_.data();
    TENDRIL_CUDA_TRY(cudaMemsetAsync(counts + num_waits, 0, sizeof *counts, shape_.stream));
    if (wanted != region_wait::anything && wanted != region_wait::at_once) {
      TENDRIL_CUDA_TRY(cudaMemsetAsync(counts + wanted - 1, 0, sizeof *counts, shape_.stream));
    }
    place::region_index const index{begins_.data(), cut_.begins.front(), cut_.shift};
    pass_region(job_, batch_, state(), {index, windows_.data(), wanted, tuning_.load_blocks}, shape_);
  }

  /// Walks with the regions that are on the GPU: `ready`, which has come in or is about to, and what has been there before;
  /// not with `next`.
  void use(incoming const& ready, std::optional<incoming> const& next)
  {
    line_.hold_until_loaded(ready.load, shape_.stream);
    auto const wanted = region_wait::for_region(static_cast<std::uint32_t>(ready.region));
    pass(static_cast<std::uint8_t>(wanted), [&](std::int64_t region) {
      bool const there = ring_.holds(region) && !(next && next->region == region);
      return there ? window_of(region) : nullptr;
    });
  }

  /// How many walks wait for each region. Synchronises.
  [[nodiscard]] std::span<std::uint64_t const> count_waiting()
  {
    auto const size = static_cast<std::size_t>(cut_.size());
    TENDRIL_CUDA_TRY(
        cudaMemcpyAsync(read_counts_.data(), counts_.data(), size * 8, cudaMemcpyDeviceToHost, shape_.stream));
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(shape_.stream));
    return {read_counts_.data(), size};
  }

  /// Where the lists' first word would be if all of them were where this region is.
  [[nodiscard]] std::uint32_t const* window_of(std::int64_t region) const
  {
    // Such a pointer may point to anything: it is only computed as a number.
    auto const origin = reinterpret_cast<std::uintptr_t>(lists_.data() + ring_.begin(region)) - from_of(region);
    return reinterpret_cast<std::uint32_t const*>(origin);  // NOLINT(performance-no-int-to-ptr)
  }
  [[nodiscard]] std::uint64_t from_of(std::int64_t region) const
  {
    return cut_.begins[static_cast<std::size_t>(region)] / load_unit * load_unit;
  }

  walk_job const& job_;
  region_tuning const& tuning_;
  place::regions const& cut_;
  walk_batch const& batch_;
  walk_shape const& shape_;
  std::uint32_t const* words_;
  buffer<waiting_walk> walks_;
  buffer<std::uint8_t> waits_;
  buffer<unsigned long long> counts_;  // of walks that wait for each region; the pool's
  buffer<std::uint64_t> begins_;       // of the regions
  buffer<std::uint32_t const*> windows_;
  buffer<std::uint64_t> read_counts_;
  buffer<std::uint32_t const*> set_windows_;
  buffer<unsigned char> lists_;
  place::region_ring ring_;  // of lists_
  region_use use_;
  load_line line_;  // destroyed first: waits for the loads into lists_
};

/// Whether a step reads the list of its vertex, and no table in its place.
bool steps_by_lists(walk_params const& params, walk_plan const& plan)
{
  switch (plan.shared.rule) {
    case sampling_rule::uniform: return !plan.hops && !plan.packed_hops && !plan.triples;
    case sampling_rule::alias:
    case sampling_rule::its: return plan.shared.weight_sums;
    case sampling_rule::reject: return params.weighted && !plan.edge_records;
    case sampling_rule::automatic:
    case sampling_rule::scan: break;
  }
  return false;
}

}  // namespace

place::regions walk_regions::cut_for(std::int64_t num_walks) const
{
  std::int64_t const bytes =
      tuning.region_bytes > 0 ? tuning.region_bytes : place::region_bytes(all_bytes(), num_walks);
  return place::cut_regions(cuts, bytes);
}

std::int64_t walk_regions::buffer_bytes(place::regions const& cut, std::int64_t free) const
{
  std::int64_t const least = place::buffer_bytes(cut, 0, beyond);
  std::int64_t const wanted = place::buffer_bytes(cut, tuning.buffer_share, beyond);
  if (least > free) { return 0; }
  return std::clamp(free / 4, least, wanted);
}

double walk_regions::passing_seconds() const
{
  place::regions const cut = cut_for(0);
  std::int64_t const held = place::buffer_bytes(cut, tuning.buffer_share, beyond) - cut.largest_bytes();
  return place::passing_seconds(all_bytes(), reads, static_cast<double>(held) / static_cast<double>(all_bytes()));
}

std::shared_ptr<walk_regions const> make_walk_regions(graph const& graph, walk_params const& params,
                                                      walk_plan const& plan, region_tuning const& tuning)
{
  placed_lists const* const placed = graph.placed();
  if (placed == nullptr || !params.metapath.empty() || plan::is_second_order(params)) { return nullptr; }
  if (!steps_by_lists(params, plan) || placed->cuts.size() < 2) { return nullptr; }
  auto out = std::make_shared<walk_regions>();
  out->cuts = placed->cuts;
  out->tuning = tuning;
  out->reads = plan::expected_steps(params, 1) * (1 - placed->visits_on_gpu);
  out->least_walks =
      tuning.least_walks >= 0 ? tuning.least_walks : place::least_walks(out->passing_seconds(), out->reads);
  return out;
}

std::string reason_for(walk_regions const& regions, std::int64_t expected_walks)
{
  if (!regions.pay(expected_walks)) {
    return fmt::format("lists in host memory: {} walks read them one by one, regions would pass from {} walks on",
                       expected_walks, regions.least_walks);
  }
  constexpr double mega = 1e6;
  place::regions const cut = regions.cut_for(expected_walks);
  return fmt::format(
      "lists in host memory: {:.1f} MB pass through {:.1f} MB of the GPU in {} regions, as at least {} walks are made "
      "together",
      static_cast<double>(cut.all_bytes()) / mega,
      static_cast<double>(place::buffer_bytes(cut, regions.tuning.buffer_share, beyond)) / mega, cut.size(),
      regions.least_walks);
}

region_use region_walk(walk_job const& job, region_tuning const& tuning, place::regions const& cut,
                       std::int64_t buffer_bytes, walk_batch const& batch, walk_shape const& shape,
                       gpu_exec const& exec)
{
  if (!batch.prefilled && (shape.may_stop || shape.may_die)) { prefill(batch, shape); }
  region_use use = region_run(job, tuning, cut, buffer_bytes, batch, shape, exec).run();
  use.walks = batch.size;
  return use;
}

}  // namespace tendril::gpu
