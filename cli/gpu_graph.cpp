#include "gpu_graph.hpp"

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
}

std::int64_t graph_memory::bytes(bool on_gpu) const
{
  if (text.empty()) { return 0; }
  if (!on_gpu) { throw argument_error("--graph-memory: --device is cpu, expected cuda"); }
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

std::vector<graph> graph_on_gpus(graph const& g, gpu_set const& gpus, std::int64_t bytes, placement_job const& job)
{
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
