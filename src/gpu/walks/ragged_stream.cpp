// Ragged walks made on the GPU, copied and consumed at once: while the GPU makes one slice, the one before is copied and
// in the sink, and the next starts come. Only what walks visit is copied. CPU twin: src/cpu/walks/stream.cpp.

#include "samplers/walks/ragged_stream.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <tendril/gpu.hpp>

#include "base/thread_limit.hpp"  // aside
#include "gpu/device/check.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/walks/ragged.hpp"
#include "gpu/walks/stream.hpp"
#include "samplers/walks/deal_stream.hpp"
#include "samplers/walks/walk_checks.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t num_slots = 2;  // one is made, one is copied and in the sink

/// A GPU as a place of ragged streams. Starts go up on one stream, walks come down on another, kernels run on the
/// caller's.
class ragged_place {
 public:
  static constexpr std::launch aside = base::aside;

  /// @param num_gpus  That share the job.
  ragged_place(walker const& walk, walk_stream_job const& job, int num_gpus, gpu_exec const& exec)
      : walk_(walk), exec_(exec), num_walks_(job.num_walks), num_gpus_(num_gpus), slices_(staged_by_steps(walk), exec)
  {
    if (job.batch_bytes == 0) { free_bytes_ = free_gpu_bytes(exec.device); }
  }

  ~ragged_place()
  {
    up_.settle();  // the memory that copies use goes now
    down_.settle();
  }
  ragged_place(ragged_place const&) = delete;
  ragged_place& operator=(ragged_place const&) = delete;

  /// On the GPU: the staged walk and its length; in each slot its vertices, its offset and its start.
  [[nodiscard]] std::int64_t one_bytes(std::int64_t room) const
  {
    return 4 * (room + 1) + 4 + num_slots * (4 * (room + 1) + 8 + 4);
  }

  [[nodiscard]] std::int64_t slice_of(std::int64_t room) const
  {
    std::int64_t const wanted = wanted_batch(num_walks_, room + 1, num_gpus_);
    return free_bytes_ > 0 ? std::min(wanted, free_bytes_ / 2 / one_bytes(room)) : wanted;
  }

  [[nodiscard]] std::span<vertex_id> starts_of(int which, std::int64_t size)
  {
    device_guard const guard(exec_.device);
    auto& to = starts_[static_cast<std::size_t>(which)];
    samplers::make_room(to.host, size, size, pinned_memory());
    if (to.device.size() < size) {
      samplers::make_room(to.device, size, size, memory_of(exec_));
      synchronize(exec_);  // another stream uses the memory
    }
    return to.host.span().first(static_cast<std::size_t>(size));
  }

  void upload(int which, std::int64_t size)
  {
    device_guard const guard(exec_.device);
    auto& to = starts_[static_cast<std::size_t>(which)];
    up_.copy(to.device.data(), to.host.data(), size, cudaMemcpyHostToDevice);
    up_.wait();
  }

  [[nodiscard]] bool make(int which, samplers::walk_slice const& slice, std::int64_t first_walk, int k)
  {
    device_guard const guard(exec_.device);
    auto& to = slots_[static_cast<std::size_t>(k)];
    auto const maker = stages_of(walk_, starts_[static_cast<std::size_t>(which)].device.span(), first_walk, exec_);
    samplers::make_room(to.offsets, slice.size + 1, slice.size + 1, memory_of(exec_));
    auto const made = slices_.make(maker, slice, walk_.params().length, to.offsets.data(), 0);
    if (!made.fits) { return false; }
    to.num_walks = slice.size;
    std::int64_t const most = slice.size * (slice.length + 1);
    samplers::make_room(to.vertices, made.end, most, memory_of(exec_));
    slices_.join(slice, to.offsets.data(), to.vertices.data());
    samplers::make_room(to.host_offsets, slice.size + 1, slice.size + 1, pinned_memory());
    samplers::make_room(to.host_vertices, made.end, most, pinned_memory());
    synchronize(exec_);
    down_.copy(to.host_offsets.data(), to.offsets.data(), slice.size + 1, cudaMemcpyDeviceToHost);
    down_.copy(to.host_vertices.data(), to.vertices.data(), made.end, cudaMemcpyDeviceToHost);
    copied_bytes_ += 8 * (slice.size + 1) + 4 * made.end;
    return true;
  }

  [[nodiscard]] std::pair<std::span<std::int64_t const>, std::span<vertex_id const>> fetch(int k) const
  {
    device_guard const guard(exec_.device);
    down_.wait();
    auto const& from = slots_[static_cast<std::size_t>(k)];
    auto const end = static_cast<std::size_t>(from.host_offsets[from.num_walks]);
    return {from.host_offsets.span().first(static_cast<std::size_t>(from.num_walks + 1)),
            from.host_vertices.span().first(end)};
  }

  [[nodiscard]] std::int64_t copied_bytes() const { return copied_bytes_; }

 private:
  struct start_batch {
    buffer<vertex_id> host, device;
  };
  struct slot {
    buffer<std::int64_t> offsets, host_offsets;
    buffer<vertex_id> vertices, host_vertices;
    std::int64_t num_walks = 0;
  };

  walker const& walk_;
  gpu_exec exec_;
  std::int64_t num_walks_;       ///< Of the job.
  int num_gpus_;                 ///< That share it.
  std::int64_t free_bytes_ = 0;  ///< 0: the caller sets a limit.
  staged_slices slices_;
  std::array<start_batch, num_slots> starts_;
  std::array<slot, num_slots> slots_;
  side_stream up_, down_;
  std::int64_t copied_bytes_ = 0;
};

}  // namespace

walk_stream_report stream_ragged_walks(std::vector<walker const*> const& walks, walk_stream_job const& job,
                                       std::vector<gpu_exec> const& execs)
{
  samplers::check_stream(job);
  walk_params const& params = walks[0]->params();
  samplers::check_ragged(params.dead_ends);
  for (std::size_t i = 0; i < walks.size(); ++i) {
    (void)stages_of(*walks[i], {}, 0, execs[i]);  // refuses a walker that was made elsewhere
  }
  if (job.num_walks == 0) { return {}; }
  samplers::ragged_job const shape{job.num_walks, params.length, params.stop_prob};
  samplers::stream_footprint const walk{"start", walks[0]->input().num_vertices(), 1, params.length + 1};
  int const num_gpus = static_cast<int>(walks.size());
  std::vector<std::unique_ptr<ragged_place>> places;
  std::int64_t batch = job.num_walks;
  for (std::size_t i = 0; i < walks.size(); ++i) {
    device_guard const guard(execs[i].device);
    places.push_back(std::make_unique<ragged_place>(*walks[i], job, num_gpus, execs[i]));
    batch = std::min(batch, samplers::first_slice(job, shape, *places.back()));
  }
  return samplers::deal_stream(
      job, num_gpus, batch, [&](walk_stream_job const& its, samplers::stream_share const& share) {
        auto const i = static_cast<std::size_t>(share.index);
        device_guard const guard(execs[i].device);
        auto report = samplers::stream_ragged(its, shape, walk, share, *places[i], [&](std::int64_t done) {
          if (its.on_progress) { its.on_progress({"walking", done, job.num_walks}); }
        });
        report.copied_bytes = places[i]->copied_bytes();
        return report;
      });
}

}  // namespace tendril::gpu
