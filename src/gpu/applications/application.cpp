// Sampling applications on a GPU: memory, launches, and what runs where. The kernels: include/tendril/engine. CPU twin:
// src/cpu/applications/application.cpp.

#include "gpu/applications/application.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/checked.hpp>
#include <tendril/engine/applications/kernels.hpp>
#include <tendril/engine/applications/plan.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // expect_vertices

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/applications/from_host.hpp"
#include "gpu/applications/stream.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/copy_value.hpp"

namespace tendril::engine {
namespace {

constexpr std::int64_t most_scratch_bytes = std::int64_t{1} << 30U;
// A team does a step of a small job in about 4 us, in which a launch a step takes 3 (bench sample, "in a graph"): fewer
// launches pay for jobs of many small steps only.
constexpr std::int64_t team_slots = std::int64_t{1} << 17U;
constexpr std::int32_t team_steps = 8;

void enqueue_lanes(application_kernels const& kernels, void const* app, application_run& run)
{
  lane_task const task{run.params.checked, run.problem};
  std::int64_t const most = gpu::most_blocks(kernels.lanes, call_threads, 0, run.exec);
  auto const blocks =
      static_cast<unsigned>(std::clamp<std::int64_t>((run.job.num_samples + call_threads - 1) / call_threads, 1, most));
  gpu::launch_kernel(kernels.lanes, blocks, call_threads, 0, app, run, {&task});
}

void enqueue_calls(application_kernels const& kernels, void const* app, application_run& run, std::int32_t step)
{
  step_shape const& shape = run.job.shapes[static_cast<std::size_t>(step)];
  std::int64_t const a_sample = shape.num_transits * shape.by_pairs.divisor();
  std::int64_t const samples_a_launch = std::max<std::int64_t>(1, 0x7fffff00 / a_sample);
  call_task task;
  task.step = step;
  task.problem = run.problem;
  for (std::int64_t first = 0; first < run.job.num_samples; first += samples_a_launch) {
    task.first_index = first;
    task.num_pairs = static_cast<std::uint32_t>(std::min(samples_a_launch, run.job.num_samples - first) * a_sample);
    gpu::launch_kernel(kernels.calls, (task.num_pairs + call_threads - 1) / call_threads, call_threads, 0, app, run,
                       {&task});
  }
}

}  // namespace

void enqueue_team(application_kernels const& kernels, void const* app, application_run& run, team_task task,
                  combined_copy const& copy)
{
  std::int64_t const num_samples = copy.num_samples > 0 ? copy.num_samples : run.job.num_samples;
  std::int64_t transits = 1;
  std::int64_t slots = 1;
  bool unique = false;
  for (auto t = static_cast<std::size_t>(task.first_step); t < static_cast<std::size_t>(task.last_step); ++t) {
    transits = std::max(transits, run.job.shapes[t].num_transits);
    slots = std::max(slots, run.job.shapes[t].num_slots);
    unique = unique || run.job.shapes[t].unique;
  }
  task.layout = team_layout::of(run.job.traits.collective, run.job.traits.own_transits, unique, transits, slots);
  task.problem = run.problem;
  task.checked = run.params.checked;
  int const threads =
      static_cast<int>(std::clamp<std::int64_t>((std::max(transits, slots) + 31) / 32 * 32, 32, most_team_threads));
  int most_shared = 0;
  TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, run.exec.device));
  constexpr std::size_t own_shared = most_team_threads / 32 * sizeof(std::uint64_t);
  bool const in_shared = task.layout.bytes + own_shared <= static_cast<std::size_t>(most_shared);
  std::size_t const shared_bytes = in_shared ? task.layout.bytes : 0;
  TENDRIL_CUDA_TRY(
      cudaFuncSetAttribute(kernels.teams, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
  std::int64_t blocks = std::min(num_samples, gpu::most_blocks(kernels.teams, threads, shared_bytes, run.exec));
  buffer<unsigned char> scratch;
  if (!in_shared) {
    auto const bytes = static_cast<std::int64_t>(task.layout.bytes);
    blocks = std::clamp<std::int64_t>(most_scratch_bytes / bytes, 1, blocks);
    scratch = buffer<unsigned char>(checked_product("scratch of blocks", blocks, bytes), memory_of(run.exec));
    task.scratch = scratch.data();
  }
  gpu::launch_kernel(kernels.teams, static_cast<unsigned>(blocks), static_cast<unsigned>(threads), shared_bytes, app,
                     run, {&task, &copy});
}

namespace {

void enqueue_ends(application_kernels const& kernels, void const* app, application_run& run, std::int32_t step)
{
  if (kernels.ends == nullptr) { return; }
  auto const blocks = static_cast<unsigned>(
      std::clamp<std::int64_t>((run.job.num_samples + call_threads - 1) / call_threads, 1, 1 << 20));
  gpu::launch_kernel(kernels.ends, blocks, call_threads, 0, app, run, {&step});
}

bool makes_single_calls(application_job const& job)
{
  return !job.traits.collective && std::all_of(job.shapes.begin(), job.shapes.end(), [](step_shape const& shape) {
    return shape.num_transits == 1 && shape.sample_size == 1;
  });
}

bool needs_teams(application_job const& job) { return job.counts(); }

std::int64_t most_slots(application_job const& job)
{
  std::int64_t most = 1;
  for (step_shape const& shape : job.shapes) { most = std::max(most, shape.num_slots); }
  return most;
}

template <class T>
std::size_t bytes_of(std::vector<T> const& table)
{
  return (table.size() * sizeof(T) + 15) / 16 * 16;
}

/// Enqueues the copy of a table to `at`, which moves on behind it. @return where it is then.
template <class T>
T const* put_table(std::vector<T> const& table, unsigned char*& at, gpu_exec const& exec)
{
  auto* const there = reinterpret_cast<T*>(at);
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(there, table.data(), table.size() * sizeof(T), cudaMemcpyHostToDevice, exec.stream));
  at += bytes_of(table);
  return there;
}

/// All steps, sample-parallel.
void enqueue_samples(application_kernels const& kernels, void const* app, application_run& run)
{
  if (makes_single_calls(run.job)) {
    enqueue_lanes(kernels, app, run);
  } else if (needs_teams(run.job) ||
             (run.setup.num_steps >= team_steps && run.job.num_samples * most_slots(run.job) <= team_slots)) {
    team_task task;
    task.last_step = run.setup.num_steps;
    enqueue_team(kernels, app, run, task);
  } else {
    for (std::int32_t t = 0; t < run.setup.num_steps; ++t) {
      enqueue_calls(kernels, app, run, t);
      enqueue_ends(kernels, app, run, t);
    }
  }
}

/// Runs the steps by teams, twice: to count the edges that each call adds, and to write them. Synchronises in between.
void grow_with_edges(application_kernels const& kernels, void const* app, application_run& run)
{
  memory_resource& memory = memory_of(run.exec);
  std::vector<buffer<std::int64_t>> offsets;
  for (std::int32_t t = 0; t < run.setup.num_steps; ++t) {
    std::int64_t const slots = run.job.shapes[static_cast<std::size_t>(t)].num_slots;
    std::int64_t const size = checked_product("slots of a step", run.job.num_samples, slots);
    buffer<std::uint32_t> counts(size, memory);
    team_task task;
    task.first_step = t;
    task.last_step = t + 1;
    task.edge_counts = counts.data();
    enqueue_team(kernels, app, run, task);
    offsets.emplace_back(size + 1, memory);
    gpu::enqueue_edge_offsets(counts.data(), size, offsets.back().data(), run.exec);
    auto& step = run.out.steps[static_cast<std::size_t>(t)];
    step.edge_offsets = buffer<std::int64_t>(run.job.num_samples + 1, memory);
    gpu::enqueue_pick_offsets(offsets.back().data(), slots, run.job.num_samples, step.edge_offsets.data(), run.exec);
  }
  run.finish();
  run.rewind();
  for (std::int32_t t = 0; t < run.setup.num_steps; ++t) {
    auto& step = run.out.steps[static_cast<std::size_t>(t)];
    auto const& places = offsets[static_cast<std::size_t>(t)];
    std::int64_t const total = gpu::value_at(places.data() + places.size() - 1, run.exec);
    step.edge_sources = buffer<vertex_id>(total, memory);
    step.edge_targets = buffer<vertex_id>(total, memory);
    team_task task;
    task.first_step = t;
    task.last_step = t + 1;
    task.edge_offsets = places.data();
    task.edge_sources = step.edge_sources.data();
    task.edge_targets = step.edge_targets.data();
    enqueue_team(kernels, app, run, task);
  }
}

}  // namespace

application_run::application_run(graph_view const& graph, application_job const& the_job,
                                 std::span<vertex_id const> roots, application_params const& the_params,
                                 std::int64_t first_sample, core::domain domain, gpu_exec const& the_exec)
    : job(the_job), params(the_params), exec(the_exec), roots_(roots)
{
  TENDRIL_EXPECTS(first_sample >= 0, "first_sample: {}, expected 0 or more", first_sample);
  memory_resource& memory = memory_of(exec);
  out = allocate_samples(job, params, memory);
  setup = make_application_setup(graph, job, params, static_cast<std::uint64_t>(first_sample), domain);
  // Roots are written only where they were copied.
  auto* const first_root = job.traits.replaces_roots ? out.roots.data() : const_cast<vertex_id*>(roots.data());
  auto const places = make_places(job, out, first_root);
  auto const keys = make_call_keys(setup);
  if (job.shapes.size() <= inline_steps) {
    std::copy(places.begin(), places.end(), setup.short_places);
    std::copy(job.shapes.begin(), job.shapes.end(), setup.short_shapes);
    std::copy(keys.begin(), keys.end(), setup.short_keys);
  } else {
    tables_ = buffer<unsigned char>(static_cast<std::int64_t>(bytes_of(places) + bytes_of(job.shapes) + bytes_of(keys)),
                                    memory);
    unsigned char* at = tables_.data();
    setup.place_table = put_table(places, at, exec);
    setup.shape_table = put_table(job.shapes, at, exec);
    setup.key_table = put_table(keys, at, exec);
  }
  if (job.traits.state_bytes > 0) {
    states_ =
        buffer<unsigned char>(checked_product("states of samples", job.num_samples, job.traits.state_bytes), memory);
    setup.states = states_.data();
  }
  problem_ = buffer<std::uint64_t>(1, memory);
  problem = problem_.data();
  TENDRIL_CUDA_TRY(cudaMemsetAsync(problem, 0xff, sizeof *problem, exec.stream));
  rewind();
  // The others look at every root anyway.
  if (job.traits.own_transits || job.shapes.front().num_transits != job.num_roots) {
    gpu::enqueue_root_check(roots, job.num_roots, setup.graph.num_vertices, problem, exec);
  }
}

void application_run::rewind()
{
  if (!states_.empty()) {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(states_.data(), 0, static_cast<std::size_t>(states_.size()), exec.stream));
  }
  if (!out.roots.empty()) {
    TENDRIL_CUDA_TRY(
        cudaMemcpyAsync(out.roots.data(), roots_.data(), roots_.size_bytes(), cudaMemcpyDeviceToDevice, exec.stream));
  }
}

void application_run::finish()
{
  std::uint64_t const code = gpu::value_at(problem, exec);
  if (code == problem_code::none) { return; }
  if (problem_code::what(code) == application_problem::root) {
    expect_vertices(roots_, "root", setup.graph.num_vertices, exec);
  }
  throw_application_problem(code, job, setup.first_sample, setup.graph.num_vertices);
}

void enqueue_sample_step(application_kernels const& kernels, void const* app, application_run& run, std::int32_t step)
{
  if (needs_teams(run.job)) {
    team_task task;
    task.first_step = step;
    task.last_step = step + 1;
    enqueue_team(kernels, app, run, task);
    return;
  }
  enqueue_calls(kernels, app, run, step);
  enqueue_ends(kernels, app, run, step);
}

namespace {

/// All steps of a graph that is on the GPU.
void enqueue_steps(application_kernels const& kernels, void const* app, graph const& graph, application_run& run)
{
  application_job const& job = run.job;
  auto const plans = plan_steps(job, graph, run.params, run.exec);
  auto const is_grouped = [](step_plan const& plan) { return plan.executor == sampling_executor::transit_parallel; };
  if (std::any_of(plans.begin(), plans.end(), is_grouped)) {
    for (std::int32_t t = 0; t < run.setup.num_steps; ++t) {
      bool const grouped = is_grouped(plans[static_cast<std::size_t>(t)]);
      (grouped ? enqueue_transit_step : enqueue_sample_step)(kernels, app, run, t);
    }
    if (job.traits.adds_edges) { run.rewind(); }
  } else if (!job.traits.adds_edges) {
    enqueue_samples(kernels, app, run);
  }
  if (job.traits.adds_edges) { grow_with_edges(kernels, app, run); }
}

/// The same for one in host memory. What is allocated here must last until the run is finished.
void grow_from_host(application_kernels const& kernels, void const* app, graph const& graph, application_run& run)
{
  auto plan = gpu::plan_host_graph(graph, run.job, run.params, 0, run.exec);
  if (plan.layout) {
    gpu::edge_stream edges(graph, std::move(*plan.layout), run.exec);
    gpu::grow_streamed(kernels, app, run, edges, {});
    run.finish();
    return;
  }
  auto const there = gpu::bring_for_call(graph, run.job, plan, run.exec);
  run.setup.graph = there.view();
  enqueue_steps(kernels, app, there, run);
  run.finish();
}

}  // namespace

samples run_on_gpu(application_kernels const& kernels, void const* app, graph const& graph, application_job const& job,
                   std::span<vertex_id const> roots, application_params const& params, gpu_exec const& exec,
                   std::int64_t first_sample, core::domain domain)
{
  gpu::device_guard const guard(exec.device);
  TENDRIL_EXPECTS(graph.device() < 0 || graph.device() == exec.device,
                  "graph: it is on GPU {}, expected one on GPU {} or in host memory", graph.device(), exec.device);
  TENDRIL_EXPECTS(params.gpu_memory >= 0, "gpu_memory: {}, expected 0 or more", params.gpu_memory);
  application_run run(graph.view(), job, roots, params, first_sample, domain, exec);
  if (job.num_samples == 0) {
    for (auto& step : run.out.steps) {
      if (job.traits.adds_edges) { step.edge_offsets = buffer<std::int64_t>(1, memory_of(exec)); }
      if (job.traits.adds_edges) {
        TENDRIL_CUDA_TRY(cudaMemsetAsync(step.edge_offsets.data(), 0, sizeof(std::int64_t), exec.stream));
      }
    }
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  } else if (graph.device() < 0) {
    grow_from_host(kernels, app, graph, run);
  } else {
    enqueue_steps(kernels, app, graph, run);
    run.finish();
  }
  return std::move(run.out);
}

}  // namespace tendril::engine

namespace tendril::gpu {

void launch_kernel(void const* kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes, void const* app,
                   engine::application_run const& run, std::initializer_list<void const*> arguments)
{
  run.setup.graph.visit([&](auto const& view) {
    auto setup = engine::setup_with(run.setup, view);
    // The runtime copies what the arguments point to; it has no const for them.
    std::array<void*, 4> pointers{const_cast<void*>(app), &setup};
    std::transform(arguments.begin(), arguments.end(), pointers.begin() + 2,
                   [](void const* argument) { return const_cast<void*>(argument); });
    TENDRIL_CUDA_TRY(
        cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), pointers.data(), shared_bytes, run.exec.stream));
  });
}

std::int64_t most_blocks(void const* kernel, int threads, std::size_t shared_bytes, gpu_exec const& exec)
{
  int a_processor = 0;
  int processors = 0;
  TENDRIL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_processor, kernel, threads, shared_bytes));
  TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, exec.device));
  return std::int64_t{std::max(a_processor, 1)} * processors;
}

}  // namespace tendril::gpu
