// The walks of time_decay_walk.hpp and metapath2vec_walk.hpp on a GPU and on the CPU, from one source: the rows are the
// same, byte for byte. Exits with 77 where there is no GPU.

#include <algorithm>
#include <exception>
#include <iostream>
#include <numeric>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/engine/walks/cpu.hpp>
#include <tendril/engine/walks/gpu.cuh>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>

#include "metapath2vec_walk.hpp"
#include "time_decay_walk.hpp"

namespace {

/// Runs the walk on both sides. @return whether they agree.
template <class Walk>
bool walk_on_both(char const* name, tendril::graph const& graph, Walk const& walk)
{
  tendril::gpu_exec const gpu{0};
  std::vector<tendril::vertex_id> starts(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(starts.begin(), starts.end(), 0U);
  tendril::dynamic_walk_params params;
  params.length = 40;
  params.seed = 42;
  tendril::walks const here = tendril::run_dynamic_walk(graph, walk, starts, params, tendril::cpu_exec{});

  tendril::graph const graph_there = tendril::to_gpu(graph, gpu);
  tendril::buffer<tendril::vertex_id> starts_there(graph.num_vertices(), tendril::memory_of(gpu));
  cudaMemcpy(starts_there.data(), starts.data(), starts.size() * sizeof starts[0], cudaMemcpyDefault);
  tendril::walks const there = tendril::run_dynamic_walk(graph_there, walk, starts_there.span(), params, gpu);

  std::vector<tendril::vertex_id> rows(static_cast<std::size_t>(there.vertices.size()));
  cudaMemcpy(rows.data(), there.vertices.data(), rows.size() * sizeof rows[0], cudaMemcpyDefault);
  bool const same = std::equal(rows.begin(), rows.end(), here.vertices.begin(), here.vertices.end());
  std::cout << name << ": " << here.num_walks << " walks, " << (same ? "equal" : "DIFFERENT") << " on GPU and CPU\n";
  return same;
}

bool walk_everywhere()
{
  tendril::edge_attributes extra;
  extra.has_weights = true;
  extra.num_node_types = 3;
  tendril::build_options build;
  build.symmetrize = true;
  tendril::graph const graph = tendril::generate_rmat({}, build, extra);
  bool const times = walk_on_both("time decay", graph, time_decay_walk{.tau = 0.5F});
  return walk_on_both("metapath2vec", graph, metapath2vec_walk{{0, 1, 2, 1}, 4}) && times;
}

}  // namespace

int main()
{
  try {
    if (tendril::num_gpus() == 0) {
      std::cout << "no GPU\n";
      return 77;
    }
    return walk_everywhere() ? 0 : 1;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
