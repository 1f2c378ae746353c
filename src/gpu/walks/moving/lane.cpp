#include "gpu/walks/moving/lane.hpp"

#include <algorithm>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/spread_memory.hpp"
#include "gpu/device/step_event.hpp"

namespace tendril::gpu {
namespace {

constexpr std::size_t num_counters = 4;  // of steps: one is read, one is written, one is cleared

}  // namespace

/// The memory and the stream of one rank, made with its GPU current.
struct moving_lane::rank_state {
  int device;
  side_stream stream, leaving;  // rows leave while the next batch walks
  step_event done, made, left;
  // Which other ranks write.
  std::array<buffer<moved_walker>, 2> walkers;
  std::array<buffer<moved_vertex>, 2> vertices;
  buffer<unsigned> sizes;  ///< [2, num_counters]
  // Which they read.
  buffer<vertex_id> starts;
  // Its own.
  buffer<vertex_id> columns, rows;
  buffer<std::int32_t> lengths;

  rank_state(int gpu, moving_plan const& plan, std::int64_t walks_each) : device(gpu)
  {
    memory_resource& shared = peer_memory(gpu, plan.devices);
    memory_resource& own = gpu_memory(gpu, stream.get());
    std::int64_t const all = checked_product("walks of a batch", walks_each, std::ssize(plan.ranks));
    std::int64_t const table = checked_product("walks of a batch", walks_each, plan.length + std::int64_t{1});
    for (auto& box : walkers) { box = buffer<moved_walker>(all, shared); }
    for (auto& box : vertices) { box = buffer<moved_vertex>(walks_each, shared); }
    sizes = buffer<unsigned>(2 * num_counters, shared);
    starts = buffer<vertex_id>(walks_each, shared);
    columns = buffer<vertex_id>(table, own);
    rows = buffer<vertex_id>(table, own);
    lengths = buffer<std::int32_t>(walks_each, own);
  }

  [[nodiscard]] unsigned* walkers_at(std::int32_t step)
  {
    return sizes.data() + static_cast<std::size_t>(step) % num_counters;
  }
  [[nodiscard]] unsigned* vertices_at(std::int32_t step) { return walkers_at(step) + num_counters; }
  [[nodiscard]] inbox<moved_walker> walker_box(std::int32_t step)
  {
    return {walkers[static_cast<std::size_t>(step) % 2].data(), walkers_at(step)};
  }
  [[nodiscard]] inbox<moved_vertex> vertex_box(std::int32_t step)
  {
    return {vertices[static_cast<std::size_t>(step) % 2].data(), vertices_at(step)};
  }
};

moving_lane::moving_lane(moving_plan const& plan, std::int64_t walks_each) : plan_(plan)
{
  for (int const gpu : plan.ranks) {
    device_guard const guard(gpu);
    ranks_.push_back(std::make_unique<rank_state>(gpu, plan, walks_each));
  }
}

moving_lane::~moving_lane()
{
  for (auto const& rank : ranks_) {  // before any memory goes
    rank->stream.settle();
    rank->leaving.settle();
  }
  for (auto& rank : ranks_) {
    try {
      device_guard const guard(rank->device);
      rank.reset();
    } catch (device_error const&) {
      // At exit the driver may be gone, and the memory with it.
    }
  }
}

std::int64_t moving_lane::first_of(int rank) const
{
  return std::min<std::int64_t>(rank * walks_each_, std::ssize(batch_.starts));
}

std::int64_t moving_lane::num_walks_of(int rank) const { return first_of(rank + 1) - first_of(rank); }

void moving_lane::launch(int rank, bool begins, std::int32_t step)
{
  auto const at = static_cast<std::size_t>(rank);
  rank_state& here = *ranks_[at];
  walk_job const& job = plan_.jobs[at];
  superstep turn{};
  turn.rank = rank;
  turn.num_ranks = num_ranks();
  turn.begins = begins;
  turn.may_end = plan_.may_stop || plan_.may_restart;
  turn.step = step;
  turn.walks_each = static_cast<std::uint32_t>(walks_each_);
  turn.first_walk = static_cast<std::uint32_t>(rank * walks_each_);
  turn.ranks_an_edge = static_cast<float>(num_ranks()) / static_cast<float>(std::max<edge_id>(job.graph.num_edges, 1));
  turn.arrived = {here.walker_box(step).records, here.walkers_at(step)};
  turn.told = {here.vertex_box(step).records, here.vertices_at(step)};
  // Two steps on, others write these again; two steps ago they were read.
  turn.idle_sizes[0] = here.walkers_at(step + 2);
  turn.idle_sizes[1] = here.vertices_at(step + 2);
  turn.columns = here.columns.data();
  std::int32_t const next = begins ? 0 : step + 1;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    turn.walkers[r] = ranks_[r]->walker_box(next);
    turn.vertices[r] = ranks_[r]->vertex_box(next);
    turn.starts[r] = ranks_[r]->starts.data();
  }
  walk_batch batch{};
  batch.starts = here.starts.data();
  batch.size = num_walks_of(rank);
  batch.first_walk = batch_.first_walk;
  batch.num_vertices = job.graph.num_vertices;
  batch.length = plan_.length;
  walk_shape const shape{false, plan_.may_stop, plan_.may_restart, plan_.may_die, here.device, here.stream.get(),
                         &turn};
  plan_.launch(job, batch, shape);
  TENDRIL_CUDA_TRY(cudaEventRecord(here.done.get(), here.stream.get()));
}

void moving_lane::wait_for_all()
{
  for (auto const& rank : ranks_) {
    for (auto const& other : ranks_) {
      if (other != rank) { TENDRIL_CUDA_TRY(cudaStreamWaitEvent(rank->stream.get(), other->done.get())); }
    }
  }
}

void moving_lane::begin(moving_batch const& batch, int device, gpu_event const& ready)
{
  batch_ = batch;
  device_ = device;
  walks_each_ = (std::ssize(batch.starts) + num_ranks() - 1) / num_ranks();
  for (int r = 0; r < num_ranks(); ++r) {
    rank_state& here = *ranks_[static_cast<std::size_t>(r)];
    device_guard const guard(here.device);
    ready.wait_on(here.stream.get());
    copy_between_gpus(batch.starts.data() + first_of(r), device, here.starts.data(),
                      static_cast<std::size_t>(num_walks_of(r)) * sizeof(vertex_id),
                      gpu_exec(here.device, here.stream.get()));
    TENDRIL_CUDA_TRY(cudaMemsetAsync(here.sizes.data(), 0, 2 * num_counters * sizeof(unsigned), here.stream.get()));
    if (plan_.may_stop || plan_.may_die) {
      std::size_t const bytes =
          static_cast<std::size_t>(walks_each_) * (static_cast<std::size_t>(plan_.length) + 1) * sizeof(vertex_id);
      TENDRIL_CUDA_TRY(cudaMemsetAsync(here.columns.data(), 0xff, bytes, here.stream.get()));  // no_vertex
    }
    TENDRIL_CUDA_TRY(cudaEventRecord(here.done.get(), here.stream.get()));
  }
  wait_for_all();
  for (int r = 0; r < num_ranks(); ++r) {
    device_guard const guard(ranks_[static_cast<std::size_t>(r)]->device);
    launch(r, true, 0);
  }
}

void moving_lane::take_step(std::int32_t step)
{
  wait_for_all();
  for (int r = 0; r < num_ranks(); ++r) {
    device_guard const guard(ranks_[static_cast<std::size_t>(r)]->device);
    launch(r, false, step);
  }
}

void moving_lane::finish(std::int32_t steps)
{
  wait_for_all();
  for (int r = 0; r < num_ranks(); ++r) {
    rank_state& here = *ranks_[static_cast<std::size_t>(r)];
    device_guard const guard(here.device);
    deliver_vertices({here.vertex_box(steps).records, here.vertices_at(steps)},
                     here.columns.data() + steps * walks_each_, static_cast<std::uint32_t>(first_of(r)),
                     gpu_exec(here.device, here.stream.get()));
    if (here.device == device_) {
      make_rows(r, batch_.rows + first_of(r) * row(),
                batch_.lengths == nullptr ? nullptr : batch_.lengths + first_of(r));
    } else {
      // Rows of the batch before must have left.
      TENDRIL_CUDA_TRY(cudaStreamWaitEvent(here.stream.get(), here.left.get()));
      make_rows(r, here.rows.data(), here.lengths.data());
      TENDRIL_CUDA_TRY(cudaEventRecord(here.made.get(), here.stream.get()));
      TENDRIL_CUDA_TRY(cudaStreamWaitEvent(here.leaving.get(), here.made.get()));
      send_rows(r);
      TENDRIL_CUDA_TRY(cudaEventRecord(here.left.get(), here.leaving.get()));
    }
  }
}

void moving_lane::make_rows(int rank, vertex_id* rows, std::int32_t* lengths)
{
  rank_state& here = *ranks_[static_cast<std::size_t>(rank)];
  write_rows(
      {here.columns.data(), num_walks_of(rank), walks_each_, plan_.length, plan_.repeat_dead_ends, plan_.may_stop,
       plan_.jobs[static_cast<std::size_t>(rank)].ends, batch_.first_walk + static_cast<std::uint64_t>(first_of(rank))},
      rows, lengths, gpu_exec(here.device, here.stream.get()));
}

void moving_lane::send_rows(int rank)
{
  rank_state& here = *ranks_[static_cast<std::size_t>(rank)];
  gpu_exec const to(device_, here.leaving.get());
  std::int64_t const size = num_walks_of(rank);
  copy_between_gpus(here.rows.data(), here.device, batch_.rows + first_of(rank) * row(),
                    static_cast<std::size_t>(size * row()) * sizeof(vertex_id), to);
  if (batch_.lengths != nullptr) {
    copy_between_gpus(here.lengths.data(), here.device, batch_.lengths + first_of(rank),
                      static_cast<std::size_t>(size) * sizeof(std::int32_t), to);
  }
}

bool moving_lane::is_over(std::int32_t step) const
{
  synchronize();  // all of them, before any inbox is looked into
  unsigned size = 0;
  for (auto const& rank : ranks_) {
    device_guard const guard(rank->device);
    unsigned here = 0;
    rank->stream.copy(&here, static_cast<unsigned const*>(rank->walkers_at(step)), 1, cudaMemcpyDeviceToHost);
    rank->stream.wait();
    size += here;
  }
  return size == 0;
}

void moving_lane::synchronize() const
{
  for (auto const& rank : ranks_) {
    device_guard const guard(rank->device);
    rank->stream.wait();
    rank->leaving.wait();
  }
}

}  // namespace tendril::gpu
