#include "place/csr_regions.hpp"

#include <algorithm>

#include "place/candidates.hpp"

namespace tendril::place {
namespace {

/// [regions] the reads of the lists in each.
std::vector<double> reads_of_regions(csr_arrays const& graph, std::span<float const> reads, edge_array const& array)
{
  std::vector<double> out(static_cast<std::size_t>(array.num_regions()));
  std::int64_t const edges = array.a_region();
  for (std::int64_t v = 0; v < graph.num_vertices; ++v) {
    edge_id const first = graph.indptr[v], end = graph.indptr[v + 1];
    double const an_edge =
        first == end ? 0 : static_cast<double>(reads[static_cast<std::size_t>(v)]) / static_cast<double>(end - first);
    for (edge_id at = first; at < end;) {
      std::int64_t const region = at / edges;
      edge_id const until = std::min<edge_id>(end, (region + 1) * edges);
      out[static_cast<std::size_t>(region)] += an_edge * static_cast<double>(until - at);
      at = until;
    }
  }
  return out;
}

}  // namespace

region_plan plan_regions(graph const& input, std::span<float const> reads, std::span<edge_array const> arrays,
                         std::int64_t budget)
{
  csr_arrays const graph = input.csr();
  region_plan plan;
  std::vector<candidate> candidates;
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    edge_array const& array = arrays[a];
    plan.on_gpu.emplace_back(static_cast<std::size_t>(array.num_regions()));
    if (array.bytes() == 0) { continue; }
    std::vector<double> const of_region = reads_of_regions(graph, reads, array);
    for (std::int64_t r = 0; r < array.num_regions(); ++r) {
      std::int64_t const bytes = array.bytes_of_region(r);
      double const sum = array.reads * of_region[static_cast<std::size_t>(r)];
      candidates.push_back(
          {static_cast<float>(sum / static_cast<double>(bytes)), 0, static_cast<std::int32_t>(a), r, bytes});
    }
  }
  take_densest(std::move(candidates), budget, [&](candidate const& c) {
    plan.on_gpu[static_cast<std::size_t>(c.array)][static_cast<std::size_t>(c.index)] = 1;
    plan.gpu_bytes += c.bytes;
  });
  return plan;
}

}  // namespace tendril::place
