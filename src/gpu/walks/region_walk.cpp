// Which region passes when, and the loads. While walks use one region, the next one is on its way into the other of two
// buffers. Kernels: region_walk.cu.

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

namespace tendril::gpu {
namespace {

constexpr std::uint64_t load_unit = 16;
constexpr std::uint64_t bytes_beyond = 4 * list_codes::words_beyond;  // of a region, that reading its lists may touch

/// The stream of loads, before kernels that wait, and an event for each buffer.
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
    (void)cudaStreamSynchronize(stream_);  // buffers are freed next, whatever became of their loads
    destroy();
  }
  load_line(load_line const&) = delete;
  load_line& operator=(load_line const&) = delete;

  void load(std::size_t slot, void const* from, void* to, std::int64_t bytes, int blocks)
  {
    load_region(from, to, bytes, blocks, stream_);
    TENDRIL_CUDA_TRY(cudaEventRecord(loaded_[slot], stream_));
  }
  /// `stream` waits for the load of a buffer.
  void hold_until_loaded(std::size_t slot, cuda_stream stream) const
  {
    TENDRIL_CUDA_TRY(cudaStreamWaitEvent(stream, loaded_[slot], 0));
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
};

std::int64_t padded_waits(std::int64_t num_walks) { return (num_walks + waits_a_run - 1) / waits_a_run * waits_a_run; }

std::int64_t buffer_bytes(place::regions const& cut)
{
  return cut.largest_bytes() + static_cast<std::int64_t>(bytes_beyond + 2 * load_unit);
}

/// One batch.
class region_run {
 public:
  region_run(walk_job const& job, walk_regions const& regions, walk_batch const& batch, walk_shape const& shape,
             gpu_exec const& exec)
      : job_(job),
        regions_(regions),
        batch_(batch),
        shape_(shape),
        words_(job.graph.as<compressed_view>().targets().words()),
        walks_(batch.size, memory_of(exec)),
        waits_(padded_waits(batch.size), memory_of(exec)),
        counts_(static_cast<std::int64_t>(num_waits) + 1, memory_of(exec)),
        read_counts_(static_cast<std::int64_t>(num_waits), kept_pinned_memory())
  {
    for (auto& slot : slots_) { slot = buffer<unsigned char>(buffer_bytes(regions.cut), memory_of(exec)); }
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(shape_.stream));  // the stream of loads may use the memory from here on
  }

  void run()
  {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(counts_.data(), 0, static_cast<std::size_t>(counts_.size()) * 8, shape_.stream));
    begin_region_walks(batch_, state(), shape_);
    load(0);
    pass(region_wait::at_once, {});
    std::optional<std::int64_t> ready = 0;  // the region that has passed, or is about to, into slot_
    while (true) {
      auto const waiting = count_waiting();
      if (std::accumulate(waiting.begin(), waiting.end(), std::uint64_t{0}) == 0) { return; }
      auto const next = regions_.tuning.choice.next(regions_.cut, waiting, ready.value_or(-1));
      if (!ready && !next) { break; }
      std::size_t const slot = slot_;
      if (next) {
        slot_ = 1 - slot_;
        load(*next);
      }
      if (ready) { use(*ready, slot); }
      ready = next;
    }
    // Too few wait for any region: each reads its lists by itself.
    pass(region_wait::anything, {regions_.cut.begins.front(), ~std::uint64_t{0}, words_});
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(shape_.stream));
  }

 private:
  [[nodiscard]] waiting_walks state()
  {
    return {walks_.data(), waits_.data(), counts_.data(), counts_.data() + num_waits};
  }

  void load(std::int64_t region)
  {
    if (regions_.cut.bytes(region) == 0) { return; }
    std::uint64_t const from = from_of(region);
    std::uint64_t const behind = regions_.cut.begins[static_cast<std::size_t>(region) + 1] + bytes_beyond;
    line_.load(slot_, bytes_at(from), slots_[slot_].data(),
               static_cast<std::int64_t>((behind - from) / load_unit * load_unit), regions_.tuning.load_blocks);
  }

  void pass(std::uint8_t wanted, region_window const& window)
  {
    // Those that wait for it won't any more: its count, which is of region `wanted` - 1, and the pool's.
    auto* const counts = counts_.data();
    TENDRIL_CUDA_TRY(cudaMemsetAsync(counts + num_waits, 0, sizeof *counts, shape_.stream));
    if (wanted != region_wait::anything && wanted != region_wait::at_once) {
      TENDRIL_CUDA_TRY(cudaMemsetAsync(counts + wanted - 1, 0, sizeof *counts, shape_.stream));
    }
    place::region_index const index{regions_.begins.data(), regions_.cut.begins.front(), regions_.cut.shift};
    pass_region(job_, batch_, state(), {index, window, wanted, regions_.tuning.load_blocks}, shape_);
  }

  /// Walks with a region that is on its way into a buffer.
  void use(std::int64_t region, std::size_t slot)
  {
    line_.hold_until_loaded(slot, shape_.stream);
    auto const wanted = region_wait::for_region(static_cast<std::uint32_t>(region));
    pass(static_cast<std::uint8_t>(wanted), window_of(region, slot));
  }

  /// How many walks wait for each region. Synchronises.
  [[nodiscard]] std::span<std::uint64_t const> count_waiting()
  {
    auto const size = static_cast<std::size_t>(regions_.cut.size());
    TENDRIL_CUDA_TRY(
        cudaMemcpyAsync(read_counts_.data(), counts_.data(), size * 8, cudaMemcpyDeviceToHost, shape_.stream));
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(shape_.stream));
    return {read_counts_.data(), size};
  }

  [[nodiscard]] region_window window_of(std::int64_t region, std::size_t slot) const
  {
    // Such a pointer may point to anything: it is only computed as a number.
    auto const origin = reinterpret_cast<std::uintptr_t>(slots_[slot].data()) - from_of(region);
    return {regions_.cut.begins[static_cast<std::size_t>(region)],
            static_cast<std::uint64_t>(regions_.cut.bytes(region)),
            reinterpret_cast<std::uint32_t const*>(origin)};  // NOLINT(performance-no-int-to-ptr)
  }
  [[nodiscard]] std::uint64_t from_of(std::int64_t region) const
  {
    return regions_.cut.begins[static_cast<std::size_t>(region)] / load_unit * load_unit;
  }
  [[nodiscard]] unsigned char const* bytes_at(std::uint64_t byte) const
  {
    return reinterpret_cast<unsigned char const*>(words_) + byte;
  }

  walk_job const& job_;
  walk_regions const& regions_;
  walk_batch const& batch_;
  walk_shape const& shape_;
  std::uint32_t const* words_;
  buffer<waiting_walk> walks_;
  buffer<std::uint8_t> waits_;
  buffer<unsigned long long> counts_;  // of walks that wait for each region; the pool's
  buffer<std::uint64_t> read_counts_;
  std::array<buffer<unsigned char>, 2> slots_;
  std::size_t slot_ = 0;  // where the load goes that is under way
  load_line line_;        // destroyed first: waits for the loads into slots_
};

}  // namespace

std::int64_t walk_regions::batch_bytes(std::int64_t num_walks) const
{
  return 2 * buffer_bytes(cut) + num_walks * static_cast<std::int64_t>(sizeof(waiting_walk)) + padded_waits(num_walks);
}

std::shared_ptr<walk_regions const> make_walk_regions(graph const& graph, walk_params const& params,
                                                      walk_plan const& plan, region_tuning const& tuning,
                                                      gpu_exec const& exec)
{
  placed_lists const* const placed = graph.placed();
  bool const by_list_alone =
      plan.shared.rule == sampling_rule::uniform && params.metapath.empty() && !plan::is_second_order(params);
  if (placed == nullptr || !by_list_alone || plan.hops || plan.packed_hops || plan.triples) { return nullptr; }
  auto out = std::make_shared<walk_regions>();
  out->cut = place::cut_regions(placed->cuts, tuning.region_bytes);
  if (out->cut.size() == 0) { return nullptr; }
  out->tuning = tuning;
  out->least_walks = tuning.least_walks >= 0 ? tuning.least_walks : tuning.choice.least_walks(out->cut);
  out->begins = buffer<std::uint64_t>(static_cast<std::int64_t>(out->cut.begins.size()), memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(out->begins.data(), out->cut.begins.data(), out->cut.begins.size() * 8,
                                   cudaMemcpyHostToDevice, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return out;
}

std::string reason_for(walk_regions const& regions)
{
  return fmt::format(
      "lists in host memory: {} regions of up to {:.1f} MB pass through the GPU where at least {} walks are "
      "made together; fewer walks read these lists one by one",
      regions.cut.size(), static_cast<double>(regions.cut.largest_bytes()) / 1e6, regions.least_walks);
}

void region_walk(walk_job const& job, walk_regions const& regions, walk_batch const& batch, walk_shape const& shape,
                 gpu_exec const& exec)
{
  if (!batch.prefilled && (shape.may_stop || shape.may_die)) { prefill(batch, shape); }
  region_run(job, regions, batch, shape, exec).run();
}

}  // namespace tendril::gpu
