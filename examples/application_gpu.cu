// The application of quiet_hops.hpp on a GPU, by both of its executors, and on the CPU, from one source: the samples are
// the same, byte for byte. Exits with 77 where there is no GPU.

#include <algorithm>
#include <exception>
#include <iostream>
#include <vector>

#include <tendril/engine/applications/cpu.hpp>
#include <tendril/engine/applications/gpu.cuh>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/starts.hpp>

#include "quiet_hops.hpp"

namespace {

bool equal(tendril::samples const& here, tendril::samples const& there, tendril::gpu_exec const& gpu)
{
  bool same = here.steps.size() == there.steps.size();
  for (std::size_t t = 0; same && t < here.steps.size(); ++t) {
    auto const& found = there.steps[t].vertices;
    std::vector<tendril::vertex_id> copy(static_cast<std::size_t>(found.size()));
    tendril::copy_to_host(found.data(), copy.data(), copy.size() * sizeof copy[0], gpu);
    same = std::equal(copy.begin(), copy.end(), here.steps[t].vertices.begin(), here.steps[t].vertices.end());
  }
  return same;
}

bool sample_everywhere()
{
  tendril::gpu_exec const gpu{0};
  tendril::build_options build;
  build.symmetrize = true;
  build.drop_duplicates = true;
  tendril::graph const graph = tendril::generate_rmat({}, build);
  auto const roots = tendril::random_vertices(graph.num_vertices(), 10'000, 1);
  quiet_hops const app{.tries = 3};
  tendril::application_params params;
  params.seed = 42;
  tendril::samples const here = tendril::run_application(graph, app, roots.span(), 1, params);

  tendril::graph const graph_there = tendril::to_gpu(graph, gpu);
  auto const roots_there = tendril::copy_to_gpu(roots.span(), gpu);
  bool same = true;
  for (auto const executor :
       {tendril::sampling_executor::sample_parallel, tendril::sampling_executor::transit_parallel}) {
    params.executor = executor;
    tendril::samples const there = tendril::run_application(graph_there, app, roots_there.span(), 1, params, gpu);
    same = same && equal(here, there, gpu);
  }
  std::cout << here.num_samples << " samples, " << (same ? "equal" : "DIFFERENT") << " on GPU and CPU\n";
  return same;
}

}  // namespace

int main()
{
  try {
    if (tendril::num_gpus() == 0) {
      std::cout << "no GPU\n";
      return 77;
    }
    return sample_everywhere() ? 0 : 1;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
