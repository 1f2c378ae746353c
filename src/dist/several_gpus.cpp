// Copies of a graph on several GPUs of one process.

#include <tendril/several_gpus.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <tendril/gpu_array.hpp>  // copy_on_gpu

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {
namespace {

/// Offsets in a GPU's own memory.
shared_array<edge_id> own_offsets(shared_array<edge_id> const& from, gpu_exec const& exec)
{
  if (from.empty()) { return {}; }
  buffer<edge_id> own(from.size(), lasting_gpu_memory(exec.device));
  copy_on_gpu(from.data(), own.data(), static_cast<std::size_t>(from.size()) * sizeof(edge_id), exec);
  synchronize(exec);
  return own;
}

}  // namespace

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
  memory_resource& memory = spread_gpu_memory(devices, spread_layout::ranges);
  graph const first = to_gpu(input, gpu_exec(devices[0], nullptr, &memory));
  auto whole = std::make_shared<spread_graph>();
  whole->devices = devices;
  for (int const device : devices) {
    graph_arrays seen = first.arrays();
    seen.device = device;
    seen.indptr = own_offsets(seen.indptr, gpu_exec(device));
    whole->each.emplace_back(std::move(seen), first.content());
  }
  whole->over_all = graph(whole->each.front().arrays(), first.content());
  std::vector<graph> all;
  for (graph const& one : whole->each) {
    graph_arrays seen = one.arrays();
    seen.spread = whole;
    all.emplace_back(std::move(seen), first.content());
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
