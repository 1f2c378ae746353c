// The front of the GPU's walks: checks arguments, plans, builds tables, enqueues batches. CPU twin: src/cpu/walks/walk.cpp.

#include <optional>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // expect_vertices
#include <tendril/place.hpp>
#include <tendril/walk.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/device/check.hpp"
#include "gpu/device/workspace.hpp"
#include "gpu/placed/shared_graph.hpp"
#include "gpu/tables/plan_context.hpp"  // labels_of
#include "gpu/walks/moving/moving_walk.hpp"
#include "gpu/walks/plan.hpp"
#include "gpu/walks/planned_job.hpp"
#include "gpu/walks/ragged.hpp"
#include "gpu/walks/regions.hpp"
#include "gpu/walks/scan_walk.hpp"
#include "gpu/walks/shared_walk.hpp"
#include "graph/places.hpp"
#include "samplers/walks/walk_checks.hpp"
#include "samplers/walks/walker_state.hpp"

namespace tendril {
namespace {

void check(graph const& graph, walk_params const& params, gpu_exec const& exec)
{
  validation::expect_on_gpu(graph, exec);
  samplers::check_walk_params(graph, params,
                              [&] { return gpu::labels_of(graph, plan::metapath_grouping(params), exec); });
}

/// What the GPU keeps of a planned walk.
struct gpu_walker final : walker::state {
  gpu::walk_plan layout;
  gpu::walk_tables tables;
  buffer<label_id> schema;
  gpu::walk_job job;
  bool may_die = true;
  std::shared_ptr<gpu::walk_regions const> regions;  ///< Null: not for this graph, or these walks.
  std::shared_ptr<gpu::moving_walk const> moving;    ///< Null: as well; of a graph over several GPUs.
  std::optional<walker> on_host;                     ///< Of a placed graph that the CPU samples, too.
  std::int64_t expected_walks = 0;
};

gpu_walker const& on_gpu(walker::state const& state, gpu_exec const& exec)
{
  TENDRIL_EXPECTS(state.device >= 0, "walker: it was made for the CPU, expected a cpu_exec");
  TENDRIL_EXPECTS(state.device == exec.device, "walker: it was made for GPU {}, not for GPU {}", state.device,
                  exec.device);
  return static_cast<gpu_walker const&>(state);
}

/// May synchronise. @return what regions did.
gpu::region_use enqueue(gpu_walker const& s, gpu::walk_regions const* regions, gpu::walk_batch const& batch,
                        gpu::walk_shape const& shape, gpu_exec const& exec)
{
  if (regions != nullptr && regions->pay(batch.size)) {
    place::regions const cut = regions->cut_for(batch.size);
    std::int64_t const state = batch.size * gpu::walk_regions::state_bytes;
    std::int64_t const bytes = regions->buffer_bytes(cut, free_gpu_bytes(exec.device) - state);
    if (bytes > 0) { return gpu::region_walk(s.job, regions->tuning, cut, bytes, batch, shape, exec); }
  }
  if (s.plan.rule == sampling_rule::scan) {
    gpu::scan_walk(s.job, batch, shape);
  } else if (!s.job.second_order && gpu::reads_labels(s.plan, s.params)) {
    gpu::label_walk(s.job, batch, shape);
  } else {
    gpu::launch_by_rule(s.job, batch, shape);
  }
  return {};
}

/// Walks from `starts` as kernels see them; what the result holds is not known.
gpu::walk_batch batch_of(gpu_walker const& s, std::span<vertex_id const> starts, std::int64_t first_walk,
                         gpu::walk_result const& out, gpu::workspace const& space)
{
  return {starts.data(),
          static_cast<std::int64_t>(starts.size()),
          static_cast<std::uint64_t>(first_walk),
          s.job.graph.num_vertices,
          static_cast<std::int32_t>(out.length),
          s.params.dead_ends == dead_end::repeat,
          false,
          out.vertices,
          out.lengths,
          space.next_walk(),
          space.status(),
          out.stride};
}

/// Where as many walks as there are starts go, without others between them.
gpu::walk_result result_of(std::span<vertex_id const> starts, vertex_id* vertices, std::int32_t* lengths,
                           std::int64_t length, walk_order order)
{
  auto const size = static_cast<std::int64_t>(starts.size());
  return {vertices, lengths, size, length, order, size};
}

/// The first of the GPUs, with the memory of all.
gpu_exec exec_over_all(spread_graph const& on)
{
  return gpu_exec(on.devices[0], nullptr, &spread_gpu_memory(on.devices, spread_layout::ranges));
}

gpu::walk_shape shape_of(gpu_walker const& s, bool step_major, gpu_exec const& exec)
{
  return {step_major, s.params.stop_prob > 0, s.params.restart_prob > 0, s.may_die, exec.device, exec.stream};
}

/// Makes walks on the GPU alone, and waits for them; lists in host memory pass by `regions` if the batch is large enough.
/// @param use  What regions do is added to it.
/// @return whether all starts are vertices.
bool run_alone(gpu_walker const& s, gpu::walk_regions const* regions, std::span<vertex_id const> starts,
               std::int64_t first_walk, gpu::walk_result const& out, gpu_exec const& exec, gpu::region_use& use)
{
  auto space = gpu::workspace_pool::of(exec.device).take();
  space->reset(exec.stream);
  use += enqueue(s, regions, batch_of(s, starts, first_walk, out, *space),
                 shape_of(s, out.order == walk_order::step_major, exec), exec);
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  bool const all_start = space->status()->bad_start < 0;
  gpu::workspace_pool::of(exec.device).give_back(std::move(space));
  return all_start;
}

/// Makes walks on GPU and CPU. All starts are vertices.
void run_shared(gpu_walker const& s, std::span<vertex_id const> starts, std::int64_t first_walk,
                gpu::walk_result const& out, gpu_exec const& exec, gpu::region_use& use)
{
  auto const on_gpu = [&](std::span<vertex_id const> part, std::int64_t first, gpu::walk_result const& there) {
    (void)run_alone(s, s.regions.get(), part, first, there, exec, use);
  };
  if (out.length == s.params.length) {
    gpu::share_walks(s.input, *s.on_host, starts, first_walk, out, on_gpu, s.regions.get(), exec);
    return;
  }
  walk_params shorter = s.params;  // a prefix of each walk, with the same draws
  shorter.length = out.length;
  walker const on_host(s.input.placed()->host, shorter, s.expected_walks);
  gpu::share_walks(s.input, on_host, starts, first_walk, out, on_gpu, s.regions.get(), exec);
}

/// walker::run_into. @param use  What regions do is added to it.
void run_rows(gpu_walker const& s, std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices,
              std::int32_t* lengths, gpu_exec const& exec, walk_order order, gpu::region_use& use)
{
  TENDRIL_EXPECTS(first_walk >= 0, "first_walk: {}, expected 0 or more", first_walk);
  if (starts.empty()) { return; }  // an empty grid is a launch error
  gpu::device_guard const guard(exec.device);
  gpu::walk_result const out = result_of(starts, vertices, lengths, s.params.length, order);
  if (s.moving && order == walk_order::row_major && std::ssize(starts) >= s.moving->least_call()) {
    expect_vertices(starts, "start", s.job.graph.num_vertices, exec);
    s.moving->run(starts, first_walk, vertices, lengths, exec);
  } else if (s.on_host) {
    expect_vertices(starts, "start", s.job.graph.num_vertices, exec);
    run_shared(s, starts, first_walk, out, exec, use);
  } else if (!run_alone(s, s.regions.get(), starts, first_walk, out, exec, use)) {
    // Which bad start the kernel saw is chance: the one that is named is the first.
    expect_vertices(starts, "start", s.job.graph.num_vertices, exec);
  }
}

}  // namespace

gpu::region_use gpu::run_by_regions(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk,
                                    vertex_id* vertices, std::int32_t* lengths, gpu_exec const& exec, walk_order order,
                                    region_tuning const& tuning)
{
  auto const& s = on_gpu(walk.data(), exec);
  device_guard const guard(exec.device);
  TENDRIL_EXPECTS(first_walk >= 0, "first_walk: {}, expected 0 or more", first_walk);
  region_use use;
  if (starts.empty()) { return use; }
  auto const regions = make_walk_regions(s.input, s.params, s.layout, tuning);
  walk_result const out = result_of(starts, vertices, lengths, s.params.length, order);
  if (!run_alone(s, regions.get(), starts, first_walk, out, exec, use)) {
    expect_vertices(starts, "start", s.job.graph.num_vertices, exec);
  }
  return use;
}

void gpu::run_moving(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk,
                     vertex_id* vertices, std::int32_t* lengths, gpu_exec const& exec, moving_tuning const& tuning)
{
  auto const& s = on_gpu(walk.data(), exec);
  device_guard const guard(exec.device);
  TENDRIL_EXPECTS(first_walk >= 0, "first_walk: {}, expected 0 or more", first_walk);
  TENDRIL_EXPECTS(s.moving, "walker: its walkers can't move, expected a graph over several GPUs");
  expect_vertices(starts, "start", s.job.graph.num_vertices, exec);
  s.moving->run(starts, first_walk, vertices, lengths, exec, tuning);
}

gpu::moving_walk const* gpu::moving_of(walker const& walk, gpu_exec const& exec)
{
  return on_gpu(walk.data(), exec).moving.get();
}

void gpu::run_counted(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk,
                      vertex_id* vertices, std::int32_t* lengths, gpu_exec const& exec, region_use& use)
{
  run_rows(on_gpu(walk.data(), exec), starts, first_walk, vertices, lengths, exec, walk_order::row_major, use);
}

gpu::walk_regions const* gpu::regions_of(walker const& walk, gpu_exec const& exec)
{
  return on_gpu(walk.data(), exec).regions.get();
}

gpu::staged_maker gpu::stages_of(walker const& walk, std::span<vertex_id const> starts, std::int64_t first_walk,
                                 gpu_exec const& exec)
{
  auto const& s = on_gpu(walk.data(), exec);
  TENDRIL_EXPECTS(first_walk >= 0, "first_walk: {}, expected 0 or more", first_walk);
  samplers::check_ragged(s.params.dead_ends);
  walk_shape const shape = shape_of(s, staged_by_steps(walk), exec);
  return [&s, shape, starts, first_walk, exec](samplers::walk_slice const& slice, staged_walks const& out,
                                               workspace const& space) {
    auto const from = starts.subspan(static_cast<std::size_t>(slice.first), static_cast<std::size_t>(slice.size));
    walk_result const there = result_of(from, out.vertices, out.lengths, slice.length,
                                        shape.step_major ? walk_order::step_major : walk_order::row_major);
    if (s.on_host) {
      try {
        expect_vertices(from, "start", s.job.graph.num_vertices, exec);
      } catch (argument_error const&) {
        space.status()->bad_start = slice.first;  // the caller names the first of all
        return;
      }
      region_use ignored;
      run_shared(s, from, first_walk + slice.first, there, exec, ignored);
      return;
    }
    walk_batch batch = batch_of(s, from, first_walk + slice.first, there, space);
    batch.prefilled = true;  // nothing behind an end is read
    (void)enqueue(s, s.regions.get(), batch, shape, exec);
  };
}

bool gpu::staged_by_steps(walker const& walk)
{
  // What reads whole rows of the graph has a warp a walker, which writes rows of vertices as fast.
  return walk.plan().rule != sampling_rule::scan && !gpu::reads_labels(walk.plan(), walk.params());
}

walker::walker(graph const& graph, walk_params const& params, std::int64_t expected_walks, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  check(graph, params, exec);
  auto made = std::make_unique<gpu_walker>();
  auto& s = *made;
  s.input = graph;
  s.device = exec.device;
  s.params = plan::without_idle_weights(graph, params);
  // On a graph over several GPUs, tables lie over all of them, too.
  bool const spread = graph.spread() != nullptr;
  tendril::graph const& planned = spread ? graph.spread()->over_all : graph;
  gpu_exec const planner = spread ? exec_over_all(*graph.spread()) : exec;
  {
    gpu::device_guard const there(planner.device);
    s.layout = gpu::make_walk_plan(planned, s.params, expected_walks, planner);
    s.plan = s.layout.shared;
    s.tables = gpu::make_walk_tables(planned, s.params, s.layout, planner);
    s.may_die = gpu::may_die(planned, s.params, planner);
    s.schema = gpu::schema_on_gpu(s.params, planner);
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(planner.stream));
  }
  s.job = gpu::job_of(s.input, s.tables, s.plan, s.params, s.schema, exec);
  if (spread && gpu::can_move(s.plan, s.params)) {
    s.moving = std::make_shared<gpu::moving_walk>(graph.arrays().spread, s.job, s.tables, s.plan, s.params, s.may_die,
                                                  &gpu::launch_by_rule);
    s.tables = s.moving->tables_of(exec.device);
  } else if (spread) {
    s.tables = gpu::with_own_rows(s.tables, graph, s.plan, s.params, exec);
  }
  if (spread) { s.plan.reasons.push_back(gpu::reason_for(s.moving.get())); }
  s.regions = gpu::make_walk_regions(graph, s.params, s.layout, {});
  if (s.regions) { s.plan.reasons.push_back(gpu::reason_for(*s.regions, expected_walks)); }
  s.expected_walks = expected_walks;
  if (gpu::is_shared(graph)) { s.on_host.emplace(graph.placed()->host, s.params, expected_walks); }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  state_ = std::move(made);
}

walks walker::run(std::span<vertex_id const> starts, std::int64_t first_walk, gpu_exec const& exec,
                  walk_order order) const
{
  auto const n = static_cast<std::int64_t>(starts.size());
  std::int64_t const length = state_->params.length;
  memory_resource& memory = memory_of(exec);
  walks out{buffer<vertex_id>(checked_product("walks", n, length + 1), memory), buffer<std::int32_t>(n, memory), n,
            length, order};
  run_into(starts, first_walk, out.vertices.data(), out.lengths.data(), exec, order);
  return out;
}

void walker::run_into(std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices,
                      std::int32_t* lengths, gpu_exec const& exec, walk_order order) const
{
  gpu::region_use ignored;
  run_rows(on_gpu(*state_, exec), starts, first_walk, vertices, lengths, exec, order, ignored);
}

ragged_walks walker::run_ragged(std::span<vertex_id const> starts, std::int64_t first_walk, gpu_exec const& exec) const
{
  auto const make = gpu::stages_of(*this, starts, first_walk, exec);
  return gpu::make_ragged({{static_cast<std::int64_t>(starts.size()), params().length, params().stop_prob},
                           starts,
                           input().num_vertices(),
                           gpu::staged_by_steps(*this)},
                          make, exec);
}

/// The most bytes of a graph on a GPU that a plan copies to the host, which takes some tenths of a second.
constexpr std::int64_t copied_for_a_plan = std::int64_t{1} << 32U;

sampling_plan plan_walk(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                        gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  check(graph, params, exec);
  walk_params const used = plan::without_idle_weights(graph, params);
  gpu::walk_plan const made = gpu::make_walk_plan(graph, used, expected_walks, exec);
  sampling_plan out = made.shared;
  if (plan::takes_trials(out, used)) {
    if (graph.placed() || graph.num_bytes() <= copied_for_a_plan) {
      tendril::graph const on_host = graph.placed() ? graph.placed()->host : to_host(graph, exec);
      out.expected_trials = plan_walk(on_host, used, expected_walks).expected_trials;
    } else {
      out.reasons.emplace_back("trials are not counted: the graph is too large to be copied to the host for that");
    }
  }
  if (auto const regions = gpu::make_walk_regions(graph, used, made, {})) {
    out.reasons.push_back(gpu::reason_for(*regions, expected_walks));
  }
  return out;
}

walks random_walk(graph const& graph, std::span<vertex_id const> starts, walk_params const& params,
                  gpu_exec const& exec, std::int64_t first_walk, walk_order order)
{
  return walker(graph, params, static_cast<std::int64_t>(starts.size()), exec).run(starts, first_walk, exec, order);
}

}  // namespace tendril
