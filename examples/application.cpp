// Two hops that keep away from hubs (quiet_hops.hpp): reads the graph that the first argument names, or makes one up, and
// prints how busy the neighbourhoods are that it samples. examples/application_gpu.cu runs the same on a GPU.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <numeric>
#include <vector>

#include <tendril/engine/applications/cpu.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/io.hpp>

#include "quiet_hops.hpp"

namespace {

tendril::graph read_or_generate(int argc, char** argv)
{
  if (argc > 1) { return tendril::read_graph(argv[1]); }
  tendril::build_options build;
  build.symmetrize = true;
  build.drop_duplicates = true;
  return tendril::generate_rmat({.scale = 14}, build);
}

double mean_degree(tendril::graph const& graph, tendril::buffer<tendril::vertex_id> const& vertices)
{
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (tendril::vertex_id const v : vertices) {
    if (v == tendril::no_vertex) { continue; }
    sum += graph.view().degree(v);
    ++count;
  }
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

void sample_quietly(tendril::graph const& graph)
{
  std::vector<tendril::vertex_id> roots(static_cast<std::size_t>(std::min<std::int64_t>(1024, graph.num_vertices())));
  std::iota(roots.begin(), roots.end(), 0U);

  for (std::int32_t const tries : {1, 2, 4}) {
    quiet_hops app;
    app.tries = tries;
    tendril::application_params params;
    params.seed = 42;
    tendril::samples const samples = tendril::run_application(graph, app, roots, 1, params);

    std::cout << tries << (tries == 1 ? " try:   " : " tries: ") << samples.num_samples << " samples, mean degrees "
              << mean_degree(graph, samples.steps[0].vertices) << " and "
              << mean_degree(graph, samples.steps[1].vertices) << '\n';
  }
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    sample_quietly(read_or_generate(argc, argv));
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
