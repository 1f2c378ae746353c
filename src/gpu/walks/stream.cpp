// Walks made on the GPU, copied and consumed at once: a line of four stages (base/stages.hpp), each with a batch of its
// own. Starts go up on one stream, walks come down on another, kernels run on the caller's. CPU twin:
// src/cpu/walks/stream.cpp.

#include <tendril/walk_stream.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "base/stages.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/walks/stream.hpp"
#include "samplers/walks/stream_checks.hpp"

namespace tendril {
namespace {

constexpr std::int64_t num_slots = 4;  // one for each stage

/// Walks in GPU memory.
struct gpu_rows {
  buffer<vertex_id> vertices;
  buffer<std::int32_t> lengths;
};

/// Memory of a batch.
struct slot {
  buffer<vertex_id> host_starts, starts;
  gpu_rows made;
  buffer<vertex_id> host_vertices;
  buffer<std::int32_t> host_lengths;
};

/// Makes walks from starts in GPU memory, into `out` or in its place, and synchronises.
using batch_maker = std::function<void(std::int64_t first, std::span<vertex_id const> starts, gpu_rows& out)>;

/// GPU memory of a slot, for each of its walks.
std::int64_t gpu_bytes_of(samplers::stream_footprint const& walk)
{
  return 4 * (walk.starts + walk.row + 1) + walk.more_bytes;
}

/// Walks of a batch. @throws argument_error if the caller's limit is too small for one.
std::int64_t choose_batch(walk_stream_job const& job, samplers::stream_footprint const& walk, gpu_exec const& exec)
{
  std::int64_t const one_each = num_slots * gpu_bytes_of(walk);
  samplers::check_batch_bytes(job, num_slots, one_each);
  std::int64_t const limit = job.batch_bytes > 0 ? job.batch_bytes : free_gpu_bytes(exec.device) / 2;
  return std::clamp<std::int64_t>(std::min(gpu::wanted_batch(job.num_walks, walk.row), limit / one_each), 1,
                                  job.num_walks);
}

/// Everything but what a walk is.
class walk_line {
 public:
  walk_line(walk_stream_job const& job, samplers::stream_footprint const& walk, batch_maker make, gpu_exec const& exec)
      : job_(job), walk_(walk), make_(std::move(make)), exec_(exec), batch_(choose_batch(job, walk, exec))
  {
    std::int64_t const num_starts = checked_product("starts of a batch", batch_, walk.starts);
    for (auto& s : slots_) {
      s.host_starts = buffer<vertex_id>(num_starts, pinned_memory());
      s.starts = buffer<vertex_id>(num_starts, memory_of(exec));
      s.host_vertices = buffer<vertex_id>(checked_product("walks of a batch", batch_, walk.row), pinned_memory());
      s.host_lengths = buffer<std::int32_t>(batch_, pinned_memory());
    }
    synchronize(exec);  // the other streams may use the memory from here on
  }

  walk_stream_report run()
  {
    auto const start = std::chrono::steady_clock::now();
    std::int64_t const num_batches = (job_.num_walks + batch_ - 1) / batch_;
    std::array<base::stage, num_slots> const stages{
        [this](std::int64_t k) { fill(k); }, [this](std::int64_t k) { walk(k); }, [this](std::int64_t k) { fetch(k); },
        [this](std::int64_t k) { hand_over(k); }};
    auto const seconds = base::run_stages(num_batches, num_slots, stages, [this](std::int64_t done) {
      if (job_.on_progress) { job_.on_progress({"walking", std::min(done * batch_, job_.num_walks), job_.num_walks}); }
    });
    walk_stream_report report;
    report.num_walks = job_.num_walks;
    report.steps = steps_;
    report.num_batches = num_batches;
    report.batch_walks = batch_;
    report.batch_bytes = num_slots * batch_ * gpu_bytes_of(walk_);
    report.copied_bytes = job_.num_walks * 4 * (walk_.row + 1);
    report.starts_seconds = seconds[0];
    report.walk_seconds = seconds[1];
    report.copy_seconds = seconds[2];
    report.sink_seconds = seconds[3];
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  }

 private:
  [[nodiscard]] std::int64_t size(std::int64_t k) const { return std::min(batch_, job_.num_walks - k * batch_); }
  [[nodiscard]] slot& of(std::int64_t k) { return slots_[static_cast<std::size_t>(k % num_slots)]; }

  void fill(std::int64_t k)
  {
    gpu::device_guard const guard(exec_.device);
    auto& s = of(k);
    auto const starts = s.host_starts.span().first(static_cast<std::size_t>(size(k) * walk_.starts));
    job_.starts(k * batch_, starts);
    samplers::check_stream_starts(starts, k * batch_, walk_);
    up_.copy(s.starts.data(), starts.data(), size(k) * walk_.starts, cudaMemcpyHostToDevice);
    up_.wait();
  }

  void walk(std::int64_t k)
  {
    gpu::device_guard const guard(exec_.device);
    auto& s = of(k);
    make_(job_.first_walk + k * batch_, s.starts.span().first(static_cast<std::size_t>(size(k) * walk_.starts)),
          s.made);
  }

  void fetch(std::int64_t k)
  {
    gpu::device_guard const guard(exec_.device);
    auto& s = of(k);
    down_.copy(s.host_vertices.data(), s.made.vertices.data(), size(k) * walk_.row, cudaMemcpyDeviceToHost);
    down_.copy(s.host_lengths.data(), s.made.lengths.data(), size(k), cudaMemcpyDeviceToHost);
    down_.wait();
  }

  void hand_over(std::int64_t k)
  {
    auto const& s = of(k);
    auto const n = static_cast<std::size_t>(size(k));
    auto const lengths = s.host_lengths.span().first(n);
    steps_ = std::accumulate(lengths.begin(), lengths.end(), steps_);
    job_.sink({k * batch_, s.host_vertices.span().first(n * static_cast<std::size_t>(walk_.row)), lengths});
  }

  walk_stream_job const& job_;
  samplers::stream_footprint walk_;
  batch_maker make_;
  gpu_exec exec_;
  std::int64_t batch_;
  std::array<slot, num_slots> slots_;
  gpu::side_stream up_, down_;
  std::int64_t steps_ = 0;
};

walk_stream_report run(walk_stream_job const& job, samplers::stream_footprint const& walk, batch_maker make,
                       gpu_exec const& exec)
{
  samplers::check_stream(job);
  TENDRIL_EXPECTS(job.graph_bytes == 0, "graph_bytes: {}, expected 0: a GPU holds the graph", job.graph_bytes);
  if (job.num_walks == 0) { return {}; }
  gpu::device_guard const guard(exec.device);
  return walk_line(job, walk, std::move(make), exec).run();
}

}  // namespace

walk_stream_report stream_walks(walker const& walk, walk_stream_job const& job, gpu_exec const& exec)
{
  if (job.ragged_sink) { return gpu::stream_ragged_walks(walk, job, exec); }
  std::int64_t const row = walk.params().length + 1;
  auto const make = [&](std::int64_t first, std::span<vertex_id const> starts, gpu_rows& out) {
    if (out.lengths.empty()) {  // the first batch of a slot is as large as any that follows
      out.vertices = buffer<vertex_id>(checked_product("walks of a batch", starts.size(), row), memory_of(exec));
      out.lengths = buffer<std::int32_t>(static_cast<std::int64_t>(starts.size()), memory_of(exec));
    }
    walk.run_into(starts, first, out.vertices.data(), out.lengths.data(), exec);
  };
  return run(job, {"start", walk.input().num_vertices(), 1, row}, make, exec);
}

walk_stream_report stream_multidim_walks(graph const& graph, std::int64_t num_roots, multidim_params const& params,
                                         walk_stream_job const& job, gpu_exec const& exec)
{
  samplers::check_rows_only(job);
  (void)multidim_walk(graph, {}, num_roots, params, exec, 0);  // checks the parameters before sizes are made of them
  auto const make = [&](std::int64_t first, std::span<vertex_id const> starts, gpu_rows& out) {
    auto made = multidim_walk(graph, starts, num_roots, params, exec, first);
    out = {std::move(made.vertices), std::move(made.lengths)};
  };
  samplers::stream_footprint const walk{"root", graph.num_vertices(), num_roots, num_roots + params.length,
                                        4 * params.length};
  return run(job, walk, make, exec);
}

}  // namespace tendril
