// Copies of a graph on several GPUs of one process.

#include <tendril/several_gpus.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {

gpu_set all_gpus()
{
  int const size = num_gpus();
  if (size == 0) { (void)describe_gpu(0); }  // which says why
  std::vector<int> devices(static_cast<std::size_t>(std::min(size, gpu_set::most)));
  std::iota(devices.begin(), devices.end(), 0);
  return gpu_set(devices);
}

std::vector<graph> to_gpus(graph const& input, gpu_set const& devices)
{
  return to_gpus(input, devices, [](graph const& from, gpu_exec const& exec) { return to_gpu(from, exec); });
}

std::vector<graph> spread_over_gpus(graph const& input, gpu_set const& devices)
{
  TENDRIL_EXPECTS(input.device() < 0, "spread: the graph is {}, expected in host memory", to_string(input.placement()));
  memory_resource& memory = spread_gpu_memory(devices);
  graph const first = to_gpu(input, gpu_exec(devices[0], nullptr, &memory));
  std::vector<graph> all{first};
  for (int i = 1; i < devices.size(); ++i) {
    graph_arrays same = first.arrays();
    same.device = devices[i];
    all.emplace_back(std::move(same), first.content());
  }
  return all;
}

std::vector<graph> to_gpus(graph const& input, gpu_set const& devices,
                           std::function<graph(graph const&, gpu_exec const&)> const& copy)
{
  TENDRIL_EXPECTS(!devices.empty(), "copies of a graph: no GPU, expected one or more");
  std::vector<graph> copies;
  deal(
      devices.size(), devices.size(), 1,
      [&](int, std::int64_t i, std::int64_t) { return copy(input, gpu_exec(devices[static_cast<int>(i)])); },
      [&](std::int64_t, std::int64_t, graph&& made) { copies.push_back(std::move(made)); });
  return copies;
}

}  // namespace tendril
