// The front of the GPU's multi-dimensional walks: checks arguments, allocates, enqueues. CPU twin:
// src/cpu/walks/multidim.cpp.

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // expect_vertices
#include <tendril/multidim.hpp>
#include <tendril/place.hpp>

#include "core/draws.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/workspace.hpp"
#include "gpu/placed/shared_graph.hpp"
#include "gpu/tables/derived_table.hpp"
#include "gpu/walks/multidim.hpp"
#include "graph/places.hpp"
#include "samplers/walks/multidim_checks.hpp"

namespace tendril {
namespace {

/// Rows of 8 bytes: those that other walks left with the graph, or, where the job has enough steps to pay for them, new
/// ones; null if there are none, or the graph's form has places of its own. Synchronises where it makes them: other
/// calls may find them on other streams.
std::shared_ptr<buffer<gpu::row_record> const> rows_for(graph const& graph, std::int64_t steps, gpu_exec const& exec)
{
  if (graph.form() != graph_form::csr) { return nullptr; }
  if (auto found = graph.derived().find(gpu::row_records_table())) { return found; }
  std::int64_t const bytes = gpu::row_records_table::bytes(graph.num_vertices());
  bool const fit = graph.num_edges() < (std::int64_t{1} << 32U) && bytes <= free_gpu_bytes(exec.device) / 2;
  if (steps < graph.num_vertices() || !fit) { return nullptr; }
  return gpu::derived_table(graph, gpu::row_records_table(), exec,
                            [&] { return gpu::make_row_records(graph.view(), exec); });
}

/// Whether the degrees of any `num_roots` roots add up to less than 2^32. Synchronises once a graph.
bool sums_are_small(graph const& graph, std::int64_t num_roots, gpu_exec const& exec)
{
  return gpu::known_largest_degree(graph, exec) <= std::numeric_limits<std::uint32_t>::max() / num_roots;
}

/// What all parts of a call are given.
struct multidim_call {
  graph const& input;
  std::int64_t num_roots;
  multidim_params const& params;
  std::shared_ptr<buffer<gpu::row_record> const> rows;
  bool small_sums;
  gpu_exec const& exec;
};

multidim_call prepare(graph const& graph, std::int64_t num_roots, multidim_params const& params, std::int64_t num_walks,
                      gpu_exec const& exec)
{
  auto rows = rows_for(graph, num_walks * params.length, exec);
  bool const small = params.choose == root_choice::by_degree && rows && sums_are_small(graph, num_roots, exec);
  return {graph, num_roots, params, std::move(rows), small, exec};
}

/// The roots of some samples.
std::span<vertex_id const> roots_of(std::span<vertex_id const> roots, std::int64_t num_roots, base::item_range part)
{
  return roots.subspan(static_cast<std::size_t>(part.first * num_roots),
                       static_cast<std::size_t>(part.size * num_roots));
}

/// Walks some samples on the GPU, and waits for them. @return whether all roots are vertices.
bool run_part(multidim_call const& call, std::span<vertex_id const> roots, std::int64_t first_walk, multidim_walks& out,
              base::item_range part)
{
  bool const by_degree = call.params.choose == root_choice::by_degree;
  int const device = call.exec.device;
  auto space = gpu::workspace_pool::of(device).take();
  space->reset(call.exec.stream);
  gpu::multidim_job const job{call.input.view(),
                              call.rows ? call.rows->data() : nullptr,
                              roots_of(roots, call.num_roots, part).data(),
                              part.size,
                              static_cast<std::uint32_t>(call.num_roots),
                              static_cast<std::uint32_t>(call.params.length),
                              call.small_sums,
                              static_cast<std::uint64_t>(first_walk + part.first),
                              core::key_schedule::of(core::multidim_key(call.params.seed)),
                              out.vertices.data() + part.first * (out.num_roots + out.length),
                              out.slots.data() + part.first * out.length,
                              out.lengths.data() + part.first,
                              space->status()};
  auto const shape = by_degree ? gpu::by_degree_shape(job, device) : gpu::uniform_shape(job, device);
  buffer<std::uint64_t> sets((shape.scratch_bytes + 7) / 8, memory_of(call.exec));
  (by_degree ? gpu::enqueue_by_degree : gpu::enqueue_uniform)(job, shape, sets.data(), call.exec.stream);
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(call.exec.stream));
  bool const all_vertices = space->status()->bad_start < 0;
  gpu::workspace_pool::of(device).give_back(std::move(space));
  return all_vertices;
}

/// Walks all samples on GPU and CPU. All roots are vertices.
void run_shared(multidim_call const& call, std::span<vertex_id const> roots, std::int64_t first_walk,
                multidim_walks& out)
{
  gpu::shared_job job;
  job.num_items = out.num_walks;
  job.reads = static_cast<double>(out.length);
  job.item_bytes = 4 * (out.num_roots + 2 * out.length);
  job.kind = {3, static_cast<std::uint64_t>(out.length), static_cast<std::uint64_t>(out.num_roots),
              static_cast<std::uint64_t>(call.params.choose)};
  job.on_gpu = [&](base::item_range turn) { (void)run_part(call, roots, first_walk, out, turn); };
  job.on_cpu = [&](base::item_range turn, int, gpu::lane& mine) {
    auto const made = multidim_walk(call.input.placed()->host, mine.fetch(roots_of(roots, call.num_roots, turn)),
                                    call.num_roots, call.params, cpu_exec{.num_threads = 1}, first_walk + turn.first);
    mine.upload(out.vertices.data() + turn.first * (out.num_roots + out.length), made.vertices.data(),
                made.vertices.size());
    mine.upload(out.slots.data() + turn.first * out.length, made.slots.data(), made.slots.size());
    mine.upload(out.lengths.data() + turn.first, made.lengths.data(), made.lengths.size());
  };
  gpu::work_together(call.input, job, call.exec);
}

}  // namespace

multidim_walks multidim_walk(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                             multidim_params const& params, gpu_exec const& exec, std::int64_t first_walk)
{
  validation::expect_on_gpu(graph, exec);
  samplers::check_multidim(static_cast<std::int64_t>(roots.size()), num_roots, params, first_walk);
  gpu::device_guard const guard(exec.device);
  memory_resource& memory = memory_of(exec);
  std::int64_t const num_walks = static_cast<std::int64_t>(roots.size()) / num_roots;
  auto out = samplers::allocate_multidim(num_walks, num_roots, params.length, memory);
  if (num_walks == 0) { return out; }  // an empty grid is a launch error

  auto const call = prepare(graph, num_roots, params, num_walks, exec);
  if (gpu::is_shared(graph)) {
    expect_vertices(roots, "root", graph.num_vertices(), exec);
    run_shared(call, roots, first_walk, out);
    return out;
  }
  if (!run_part(call, roots, first_walk, out, {0, num_walks})) {
    expect_vertices(roots, "root", graph.num_vertices(), exec);
  }
  return out;
}

}  // namespace tendril
