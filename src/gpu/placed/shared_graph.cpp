#include "gpu/placed/shared_graph.hpp"

#include "graph/derived_cache.hpp"

namespace tendril::gpu {
namespace {

struct known_rates_table : single_table<known_rates> {};

}  // namespace

bool is_shared(graph const& graph)
{
  placed_lists const* const placed = graph.placed();
  if (placed == nullptr) { return false; }
  switch (placed->share) {
    case work_share::gpu: return false;
    case work_share::automatic: return placed->host_bytes > 0 || placed->host_edge_bytes > 0;
    case work_share::cpu:
    case work_share::both: break;
  }
  return true;
}

void work_together(graph const& graph, shared_job const& job, gpu_exec const& exec)
{
  auto const rates = graph.derived().get(known_rates_table(), [] { return known_rates(); });
  work_together(*rates, graph.placed()->share, job, exec);
}

}  // namespace tendril::gpu
