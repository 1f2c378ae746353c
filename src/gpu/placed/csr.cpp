#include "gpu/placed/csr.hpp"

#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"
#include "gpu/graph/array_copies.hpp"
#include "gpu/placed/arrays.hpp"
#include "place/csr_regions.hpp"

namespace tendril::gpu {

graph place_csr(graph const& input, place_params const& params, gpu_exec const& exec)
{
  constexpr budget_names names{"gpu_memory", "offsets"};
  expect_managed_memory(exec.device);
  input.check();
  graph_arrays const& from = input.arrays();
  std::int64_t const directory = 8 * from.indptr.size() + from.node_types.size() * from.node_types.bytes_per_label();
  std::int64_t const free = free_for_managed(exec.device);
  std::int64_t const budget = budget_beside(directory, params.gpu_bytes, free, names, exec.device);
  std::vector<place::edge_array> const arrays{
      {4 * from.indices.size(), 32, 1},
      {4 * from.weights.size(), 32, 1},  // whether the job reads them is not known
      {from.edge_labels.size() * from.edge_labels.bytes_per_label(), 8 * from.edge_labels.bytes_per_label(), 1}};
  auto const plan = place::plan_regions(input, count_visits(input, params).span(), arrays, budget);
  std::int64_t all = directory;
  for (auto const& array : arrays) { all += array.bytes(); }
  expect_room(directory + plan.gpu_bytes, free, all - directory - plan.gpu_bytes, names, exec.device);

  device_guard const guard(exec.device);
  graph_arrays to;
  to.indptr = copied(from.indptr, memory_of(exec), exec);
  to.node_types = copied(from.node_types, memory_of(exec), exec);
  to.indices = placed_array(from.indices, plan.on_gpu[0], exec);
  to.weights = placed_array(from.weights, plan.on_gpu[1], exec);
  to.edge_labels =
      with_labels(from.edge_labels, [&](auto const& labels) { return placed_array(labels, plan.on_gpu[2], exec); });
  to.symmetric = from.symmetric;
  to.device = exec.device;
  to.source = from.source;
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return graph(std::move(to), input.content());
}

}  // namespace tendril::gpu
