#include "gpu_graph.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/several_gpus.hpp>

#include "text.hpp"

namespace tendril::cli {

void graph_memory::add_to(CLI::App& verb, char const* group)
{
  verb.add_option("--graph-memory", text,
                  "cuda: GPU memory for the graph, as in 8G; lists of neighbours beyond it lie in host memory [the "
                  "whole graph if it has room, else three quarters of the free memory]")
      ->type_name("BYTES")
      ->group(group);
  verb.add_flag("--spread", spread,
                "Several GPUs: one graph over the memory of all, also where each has room for a copy of its own")
      ->group(group);
}

std::int64_t graph_memory::bytes(gpu_set const& gpus) const
{
  if (spread && gpus.size() < 2) { throw argument_error("--spread: expected several GPUs, as in --device cuda:all"); }
  if (text.empty()) { return 0; }
  if (spread) { throw argument_error("--spread: --graph-memory is given, expected one of both"); }
  if (gpus.empty()) { throw argument_error("--graph-memory: --device is cpu, expected cuda"); }
  return parse_bytes(text, "--graph-memory");
}

graph graph_on_gpu(graph const& g, int device, std::int64_t bytes, placement_job const& job)
{
  gpu_exec const exec(device);
  place_params params;
  params.gpu_bytes = bytes;
  params.job = job;
  return bytes > 0 ? place_graph(g, params, exec) : fit_on_gpu(g, params, exec);
}

namespace {

/// Whether some GPU has no room for a copy, but all together have it, with a quarter to spare for tables and samples.
bool fits_spread_alone(graph const& g, gpu_set const& gpus)
{
  bool each = true;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int const gpu : gpus) {
    each = each && fits_on_gpu(g, 0, gpu_exec(gpu));
    least = std::min(least, free_gpu_bytes(gpu));
  }
  std::int64_t const on_each = g.form() == graph_form::csr ? 8 * (g.num_vertices() + 1) : 0;  // its offsets
  return !each && on_each + (g.num_bytes() - on_each) / gpus.size() < least / 4 * 3;
}

}  // namespace

std::vector<graph> graph_on_gpus(graph const& g, gpu_set const& gpus, std::int64_t bytes, bool spread,
                                 placement_job const& job)
{
  if (spread || (gpus.size() > 1 && bytes == 0 && fits_spread_alone(g, gpus))) { return spread_over_gpus(g, gpus); }
  return to_gpus(
      g, gpus, [&](graph const& input, gpu_exec const& exec) { return graph_on_gpu(input, exec.device, bytes, job); });
}

std::string placement_line(graph const& g)
{
  placed_lists const* const placed = g.placed();
  if (placed == nullptr) { return {}; }
  return fmt::format("placed  {} of lists on the GPU, {} in host memory; {:.1f} % of reads on the GPU\n",
                     bytes_text(placed->gpu_bytes), bytes_text(placed->host_bytes), 100 * placed->visits_on_gpu);
}

std::optional<json> placement_json(graph const& g)
{
  placed_lists const* const placed = g.placed();
  if (placed == nullptr) { return std::nullopt; }
  return json{{"gpu_bytes", placed->gpu_bytes},
              {"host_bytes", placed->host_bytes},
              {"directory_bytes", placed->directory_bytes},
              {"gpu_edge_bytes", placed->gpu_edge_bytes},
              {"host_edge_bytes", placed->host_edge_bytes},
              {"visits_on_gpu", placed->visits_on_gpu}};
}

}  // namespace tendril::cli
