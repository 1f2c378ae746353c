#include "gpu/applications/from_host.hpp"

#include <algorithm>

#include <tendril/gpu.hpp>
#include <tendril/place.hpp>

#include "gpu/applications/stream.hpp"
#include "gpu/placed/csr.hpp"

namespace tendril::gpu {
namespace {

using engine::application_job;
using engine::step_shape;

/// What sampling reads of a graph, without ids of edges and vertices; the arrays are shared.
graph without_ids(graph const& input)
{
  graph_arrays arrays = input.arrays();
  arrays.edge_ids = {};
  arrays.narrow.ids = {};
  arrays.original_ids = {};
  arrays.edge_label_names.clear();
  arrays.node_type_names.clear();
  arrays.metadata.clear();
  return graph(std::move(arrays), input.content());
}

/// Whether a job reads no list but its transits', once a step: then the lists may come and go.
bool can_stream(application_job const& job)
{
  bool const any_unique =
      std::any_of(job.shapes.begin(), job.shapes.end(), [](step_shape const& shape) { return shape.unique; });
  // Further rounds of a unique step need lists that have left. Recorded edges are made twice.
  return job.traits.reads_transit_only && !job.traits.adds_edges && (job.traits.collective || !any_unique);
}

/// A job that reads about the same lists: walks, or trees with as many neighbours of each transit.
placement_job like(application_job const& job)
{
  constexpr std::int64_t most_slots = std::int64_t{1} << 14U;  // a tree; its later hops read what earlier ones read
  auto const calls = [&](step_shape const& shape) {
    return std::clamp<std::int64_t>(shape.num_slots / std::max<std::int64_t>(shape.num_transits, 1), 1, most_slots);
  };
  if (std::all_of(job.shapes.begin(), job.shapes.end(),
                  [&](step_shape const& shape) { return shape.num_transits == 1 && calls(shape) == 1; })) {
    return walk_params{.length = std::max<std::int64_t>(std::ssize(job.shapes), 1)};
  }
  khop_params out;
  out.fanouts.clear();
  std::int64_t slots = 1;
  for (step_shape const& shape : job.shapes) {
    slots *= calls(shape);
    if (slots > most_slots && !out.fanouts.empty()) { break; }
    out.fanouts.push_back(calls(shape));
  }
  return out;
}

}  // namespace

std::int64_t result_bytes(application_job const& job)
{
  std::int64_t a_sample = job.traits.state_bytes;
  for (step_shape const& shape : job.shapes) {
    a_sample += shape.num_slots * static_cast<std::int64_t>(sizeof(vertex_id));
    a_sample += job.counts() ? static_cast<std::int64_t>(sizeof(std::int32_t)) : 0;
  }
  if (job.traits.replaces_roots) { a_sample += job.num_roots * static_cast<std::int64_t>(sizeof(vertex_id)); }
  return job.num_samples * a_sample;
}

host_graph_plan plan_host_graph(graph const& graph, application_job const& job, application_params const& params,
                                std::int64_t more_bytes, gpu_exec const& exec)
{
  host_graph_plan out;
  std::int64_t const free = std::max<std::int64_t>(free_gpu_bytes(exec.device) - more_bytes, 4);
  out.budget = params.gpu_memory > 0 ? params.gpu_memory : free - free / 16 - std::min(work_bytes(job), free / 4);
  out.fits = without_ids(graph).num_bytes() <= out.budget;
  if (!out.fits && graph.form() == graph_form::csr && can_stream(job)) {
    out.layout = find_stream_layout(graph, out.budget);
  }
  // Placed graphs are for jobs of unknown needs.
  if (!out.fits && !out.layout && params.gpu_memory == 0) { out.budget = std::min(out.budget, free / 4 * 3); }
  return out;
}

graph bring_for_call(graph const& graph, application_job const& job, host_graph_plan const& plan, gpu_exec const& exec)
{
  auto const read = without_ids(graph);
  if (plan.fits) { return to_gpu(read, exec); }
  place_params const params{.gpu_bytes = plan.budget, .job = like(job)};
  return read.form() == graph_form::csr ? place_csr(read, params, exec) : place_graph(read, params, exec);
}

}  // namespace tendril::gpu
