// Trees of 20,000 seeds, dealt out to all GPUs of the machine; or, where there is none, to two workers on its cores.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/sample.hpp>
#include <tendril/several_gpus.hpp>

namespace {

/// Slots that hold a vertex.
std::int64_t filled(std::span<tendril::vertex_id const> slots)
{
  return std::ssize(slots) - std::count(slots.begin(), slots.end(), tendril::no_vertex);
}

}  // namespace

int main()
{
  tendril::graph const graph = tendril::generate_rmat({.scale = 15, .edge_factor = 8}, {.symmetrize = true}, {});
  tendril::khop_params params;
  params.fanouts = {25, 10};
  std::vector<tendril::vertex_id> seeds(20'000);
  std::iota(seeds.begin(), seeds.end(), 0U);

  // The same trees, whatever the number of GPUs: tree i is a function of its id.
  bool const on_gpus = tendril::num_gpus() > 0;
  auto const copies = on_gpus ? tendril::to_gpus(graph, tendril::all_gpus()) : std::vector(2, graph);
  std::int64_t vertices = 0;
  tendril::deal(
      static_cast<int>(copies.size()), std::ssize(seeds), 1000,
      [&](int worker, std::int64_t first, std::int64_t size) {  // on the worker's thread
        auto const part = std::span(seeds).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
        auto const& copy = copies[static_cast<std::size_t>(worker)];
        if (!on_gpus) { return filled(tendril::khop_sample(copy, part, params, {}, first).hops[1].vertices.span()); }
        tendril::gpu_exec const gpu(copy.device());
        auto const there = tendril::copy_to_gpu(part, gpu);
        auto const trees = tendril::khop_sample(copy, there.span(), params, gpu, first);
        std::vector<tendril::vertex_id> slots(static_cast<std::size_t>(trees.hops[1].vertices.size()));
        tendril::copy_to_host(trees.hops[1].vertices.data(), slots.data(), std::span(slots).size_bytes(), gpu);
        return filled(slots);
      },
      [&](std::int64_t, std::int64_t, std::int64_t found) { vertices += found; });  // here, in the order of the seeds

  // Checked: one call makes as many.
  auto const alone = tendril::khop_sample(graph, seeds, params);
  bool const equal = filled(alone.hops[1].vertices.span()) == vertices;
  std::printf("%zu workers: %lld vertices at two steps from 20,000 seeds\n", copies.size(),
              static_cast<long long>(vertices));
  return equal ? 0 : 1;
}
