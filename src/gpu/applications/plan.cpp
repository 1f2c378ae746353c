// Which executor runs a step. Costs are rates measured on an H200 (bench/results/nvidia-h200-applications.json): they need to
// be right by a factor of two or so, since where the two executors differ they differ by more.

#include <tendril/engine/applications/plan.hpp>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "gpu/applications/from_host.hpp"
#include "gpu/tables/tables.hpp"
#include "graph/derived_cache.hpp"

namespace tendril::engine {
namespace {

constexpr double calls_a_second = 60e9;        // of O(1) edges each
constexpr double scanned_by_samples = 200e9;   // edges a second, by threads that each go through a list of their own
constexpr double scanned_by_transits = 600e9;  // by threads that go through one list together
constexpr double grouped_a_second = 4e9;       // pairs of sample and transit: look up, sort, cut into runs
constexpr double grouping_seconds = 60e-6;     // launches of an empty map
constexpr double copied_a_second = 200e9;      // neighbours of a collective step, copied together
constexpr double bus_bytes_a_second = 55e9;    // from page-locked memory of the host

/// Steps of a graph that streams: copies run while calls are made, but for those of the last sub-graph, and neither while
/// pairs are grouped.
void plan_streamed(application_job const& job, graph const& graph, std::int64_t budget,
                   gpu::stream_layout const& layout, std::vector<step_plan>& plans)
{
  auto const num_subgraphs = static_cast<double>(layout.num_subgraphs());
  auto const all_bytes = static_cast<double>(layout.bytes.all - layout.bytes.resident);
  auto const held_bytes = static_cast<double>((layout.capacities[0] + layout.capacities[1]) * layout.bytes.an_edge);
  double const mean = static_cast<double>(graph.num_edges()) / static_cast<double>(graph.num_vertices());
  for (std::size_t t = 0; t < plans.size(); ++t) {
    step_plan& plan = plans[t];
    auto const pairs = static_cast<double>(job.num_samples * job.shapes[t].num_transits);
    auto const calls = static_cast<double>(job.num_samples * job.shapes[t].num_slots);
    double const read = job.traits.scans_neighbors ? calls * mean / scanned_by_samples
                        : job.traits.collective    ? pairs * mean / copied_a_second
                                                   : 0;
    double const calling = calls / calls_a_second + read;
    // The first step finds nothing in the buffers; few pairs don't look at every sub-graph.
    double const bytes =
        std::min(1.0, pairs / num_subgraphs) * (t == 0 ? all_bytes : std::max(0.0, all_bytes - held_bytes));
    double const copying = bytes / bus_bytes_a_second;
    double const overlapped = layout.capacities[1] == 0
                                  ? copying + calling
                                  : std::max(copying, calling) + std::min(copying, calling) / num_subgraphs;
    plan.executor = sampling_executor::transit_parallel;
    plan.num_subgraphs = layout.num_subgraphs();
    plan.copied_bytes = static_cast<std::int64_t>(bytes);
    plan.transit_seconds = grouping_seconds + pairs / grouped_a_second + overlapped;
    plan.reason = fmt::format(
        "the graph is in host memory and takes {:.3g} GB, of {:.3g} GB that it may: it streams in {} sub-graphs, "
        "{:.3g} GB a "
        "step in {:.3g} ms, {:.3g} ms with calls and grouping",
        static_cast<double>(layout.bytes.all) / 1e9, static_cast<double>(budget) / 1e9, plan.num_subgraphs, bytes / 1e9,
        copying * 1e3, plan.transit_seconds * 1e3);
  }
}

/// gpu::mean_met_degree.
struct met_degree_table : single_table<double> {};

}  // namespace

std::vector<step_plan> plan_steps(application_job const& job, graph const& graph, application_params const& params,
                                  gpu_exec const& exec)
{
  std::vector<step_plan> plans(job.shapes.size());
  std::string more;
  if (graph.device() < 0) {
    auto const plan = gpu::plan_host_graph(graph, job, params, gpu::result_bytes(job), exec);
    if (plan.layout) {
      plan_streamed(job, graph, plan.budget, *plan.layout, plans);
      return plans;
    }
    if (!plan.fits) {
      more =
          fmt::format("; the graph takes {:.3g} GB, of {:.3g} GB that it may: it lies on the GPU in part for the call",
                      static_cast<double>(graph.num_bytes()) / 1e9, static_cast<double>(plan.budget) / 1e9);
    }
  }
  double met = 0;
  if (job.traits.scans_neighbors && graph.device() == exec.device) {
    met = *graph.derived().get(met_degree_table(), [&] { return gpu::mean_met_degree(graph.view(), exec); });
  }
  double const mean = graph.num_vertices() == 0
                          ? 0
                          : static_cast<double>(graph.num_edges()) / static_cast<double>(graph.num_vertices());
  for (std::size_t t = 0; t < plans.size(); ++t) {
    step_plan& plan = plans[t];
    step_shape const& shape = job.shapes[t];
    auto const pairs = static_cast<double>(job.num_samples * shape.num_transits);
    auto const calls = static_cast<double>(job.num_samples * shape.num_slots);
    double const grouping = grouping_seconds + pairs / grouped_a_second;
    // Roots may be any vertices, later ones are met along edges: what degree these have is known of graphs on the GPU.
    double const degree = t == 0 || met == 0 ? mean : met;
    if (job.traits.collective) {
      plan.sample_seconds = calls / calls_a_second;
      plan.transit_seconds = grouping + pairs * mean / copied_a_second + calls / calls_a_second;
      plan.reason = "collective: a choice is a search among the lists of a sample, for which nothing has to be copied";
    } else if (!job.traits.scans_neighbors) {
      plan.sample_seconds = calls / calls_a_second;
      plan.transit_seconds = grouping + calls / calls_a_second;
      plan.reason =
          fmt::format("calls read a few edges each: grouping {:.3g} M pairs by transit would take longer", pairs / 1e6);
    } else {
      plan.sample_seconds = calls * (1 / calls_a_second + degree / scanned_by_samples);
      plan.transit_seconds = grouping + calls * (1 / calls_a_second + degree / scanned_by_transits);
      plan.reason = fmt::format(
          "calls read whole lists, of {:.3g} edges on average: {:.3g} ms one by one, {:.3g} ms grouped by "
          "transit, of which {:.3g} ms to group",
          degree, plan.sample_seconds * 1e3, plan.transit_seconds * 1e3, grouping * 1e3);
    }
    plan.executor = plan.transit_seconds < plan.sample_seconds ? sampling_executor::transit_parallel
                                                               : sampling_executor::sample_parallel;
    if (params.executor != sampling_executor::automatic) {
      plan.executor = params.executor;
      plan.reason = "asked for";
    }
    plan.reason += more;
  }
  return plans;
}

}  // namespace tendril::engine
