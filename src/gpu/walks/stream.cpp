// Walks made on the GPU, copied and consumed at once: a line of four stages (base/stages.hpp), each with a batch of its
// own. Starts go up on one stream, walks come down on another, kernels run on the caller's.

#include <tendril/walk_stream.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "base/stages.hpp"
#include "gpu/device/check.hpp"

namespace tendril {
namespace {

constexpr std::int64_t num_slots = 4;  // one for each stage

// Of rows in a batch: large enough that launches and the ends of kernels don't count, small enough that page-locking
// the memory of all slots doesn't either.
constexpr std::int64_t most_batch_bytes = std::int64_t{128} << 20;
constexpr std::int64_t least_batch_bytes = std::int64_t{8} << 20;
constexpr std::int64_t least_num_batches = 16;  // of a job that is large enough: a stage alone at the ends costs 3/16

/// A stream that waits for no other, the default stream included.
class side_stream {
 public:
  side_stream() { TENDRIL_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~side_stream() { (void)cudaStreamDestroy(stream_); }
  side_stream(side_stream const&) = delete;
  side_stream& operator=(side_stream const&) = delete;

  template <class T>
  void copy(T* to, T const* from, std::int64_t count, cudaMemcpyKind kind) const
  {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T), kind, stream_));
  }

  void wait() const { TENDRIL_CUDA_TRY(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// What a walk takes.
struct footprint {
  char const* start_name;           ///< "start" or "root", for messages.
  std::int64_t num_vertices;        ///< Of the graph.
  std::int64_t starts;              ///< Vertices that a walk starts from.
  std::int64_t row;                 ///< Vertices of its row.
  std::int64_t more_gpu_bytes = 0;  ///< While a batch is made, for each of its walks.

  [[nodiscard]] std::int64_t gpu_bytes() const { return 4 * (starts + row + 1) + more_gpu_bytes; }
};

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

/// Walks of a batch. @throws argument_error if the caller's limit is too small for one.
std::int64_t choose_batch(walk_stream_job const& job, footprint const& walk, gpu_exec const& exec)
{
  std::int64_t const one_each = num_slots * walk.gpu_bytes();
  TENDRIL_EXPECTS(job.gpu_bytes == 0 || job.gpu_bytes >= one_each,
                  "gpu_bytes: {}, expected at least {}: {} batches of one walk each", job.gpu_bytes, one_each,
                  num_slots);
  std::int64_t const limit = job.gpu_bytes > 0 ? job.gpu_bytes : free_gpu_bytes(exec.device) / 2;
  std::int64_t const row_bytes = 4 * walk.row;
  std::int64_t const wanted =
      std::clamp(job.num_walks / least_num_batches, least_batch_bytes / row_bytes, most_batch_bytes / row_bytes);
  return std::clamp<std::int64_t>(std::min(wanted, limit / one_each), 1, job.num_walks);
}

void check_starts(std::span<vertex_id const> starts, std::int64_t first, footprint const& walk)
{
  for (std::size_t i = 0; i < starts.size(); ++i) {
    TENDRIL_EXPECTS(starts[i] < walk.num_vertices, "{} {}: vertex {} is out of range, the graph has {} vertices",
                    walk.start_name, first * walk.starts + static_cast<std::int64_t>(i), starts[i], walk.num_vertices);
  }
}

/// Everything but what a walk is.
class walk_line {
 public:
  walk_line(walk_stream_job const& job, footprint const& walk, batch_maker make, gpu_exec const& exec)
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
    report.gpu_bytes = num_slots * batch_ * walk_.gpu_bytes();
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
    check_starts(starts, k * batch_, walk_);
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
  footprint walk_;
  batch_maker make_;
  gpu_exec exec_;
  std::int64_t batch_;
  std::array<slot, num_slots> slots_;
  side_stream up_, down_;
  std::int64_t steps_ = 0;
};

walk_stream_report run(walk_stream_job const& job, footprint const& walk, batch_maker make, gpu_exec const& exec)
{
  TENDRIL_EXPECTS(job.starts && job.sink, "walk_stream_job: starts or sink is empty, expected both");
  TENDRIL_EXPECTS(job.num_walks >= 0, "num_walks: {}, expected 0 or more", job.num_walks);
  TENDRIL_EXPECTS(job.first_walk >= 0, "first_walk: {}, expected 0 or more", job.first_walk);
  TENDRIL_EXPECTS(job.gpu_bytes >= 0, "gpu_bytes: {}, expected 0 or more", job.gpu_bytes);
  if (job.num_walks == 0) { return {}; }
  gpu::device_guard const guard(exec.device);
  return walk_line(job, walk, std::move(make), exec).run();
}

}  // namespace

walk_stream_report stream_walks(walker const& walk, walk_stream_job const& job, gpu_exec const& exec)
{
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
  (void)multidim_walk(graph, {}, num_roots, params, exec, 0);  // checks the parameters before sizes are made of them
  auto const make = [&](std::int64_t first, std::span<vertex_id const> starts, gpu_rows& out) {
    auto made = multidim_walk(graph, starts, num_roots, params, exec, first);
    out = {std::move(made.vertices), std::move(made.lengths)};
  };
  footprint const walk{"root", graph.num_vertices(), num_roots, num_roots + params.length, 4 * params.length};
  return run(job, walk, make, exec);
}

}  // namespace tendril
