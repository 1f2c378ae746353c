// Which executor runs a step. Costs are rates measured on an H200 (bench/results/nvidia-h200-applications.json): they need to
// be right by a factor of two or so, since where the two executors differ they differ by more.

#include <tendril/engine/application_plan.hpp>

#include <fmt/format.h>

#include "gpu/tables.hpp"
#include "store/derived_cache.hpp"

namespace tendril::engine {
namespace {

constexpr double calls_a_second = 60e9;        // of O(1) edges each
constexpr double scanned_by_samples = 200e9;   // edges a second, by threads that each go through a list of their own
constexpr double scanned_by_transits = 600e9;  // by threads that go through one list together
constexpr double grouped_a_second = 4e9;       // pairs of sample and transit: look up, sort, cut into runs
constexpr double grouping_seconds = 60e-6;     // launches of an empty map
constexpr double copied_a_second = 200e9;      // neighbours of a collective step, copied together

}  // namespace

std::vector<step_plan> plan_steps(application_job const& job, graph const& graph, application_params const& params,
                                  gpu_exec const& exec)
{
  std::vector<step_plan> plans(job.shapes.size());
  double met = 0;
  if (job.traits.scans_neighbors && graph.device() == exec.device) {
    met = *graph.derived().get<double>("mean met degree", [&] { return gpu::mean_met_degree(graph.view(), exec); });
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
    double const degree = t == 0 ? mean : met;  // roots may be any vertices, later ones are met along edges
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
  }
  return plans;
}

}  // namespace tendril::engine
