// The walks of engine.cpp on a GPU. Exits with 77 where there is no GPU.

#include <iostream>
#include <numeric>
#include <vector>

#include <tendril/engine/walks/gpu.cuh>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>

#include "rounding_walk.hpp"

int main()
{
  if (tendril::num_gpus() == 0) { return 77; }
  tendril::gpu_exec const gpu{0};
  tendril::graph const graph =
      tendril::to_gpu(tendril::generate_rmat({.scale = 12}, {.symmetrize = true}, {.has_weights = true}), gpu);
  std::vector<tendril::vertex_id> starts(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(starts.begin(), starts.end(), 0U);
  auto const starts_there = tendril::copy_to_gpu(starts, gpu);
  tendril::walks const walks =
      tendril::run_dynamic_walk(graph, rounding_walk{}, starts_there.span(), rounding_params(), gpu);
  std::vector<tendril::vertex_id> rows(static_cast<std::size_t>(walks.vertices.size()));
  tendril::copy_to_host(walks.vertices.data(), rows.data(), rows.size() * sizeof rows[0], gpu);
  std::cout << std::hex << digest(rows.data(), walks.vertices.size()) << '\n';
}
