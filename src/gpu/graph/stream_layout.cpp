#include "gpu/graph/stream_layout.hpp"

#include <algorithm>

namespace tendril::gpu {
namespace {

/// Cuts at every so many edges, or after a vertex that has more. @return the edges of the largest part.
std::int64_t cut(csr_arrays const& graph, std::int64_t most_edges, std::vector<std::int64_t>& first_vertex)
{
  std::int64_t largest = 0;
  first_vertex.assign(1, 0);
  for (std::int64_t first = 0; first < graph.num_vertices;) {
    edge_id const begin = graph.indptr[first];
    edge_id const* const end = graph.indptr + graph.num_vertices + 1;
    // The last offset that the part may reach: of an empty list at the end, too.
    std::int64_t next = std::upper_bound(graph.indptr + first + 1, end, begin + most_edges) - graph.indptr - 1;
    next = std::max(next, first + 1);
    largest = std::max(largest, graph.indptr[next] - begin);
    first_vertex.push_back(next);
    first = next;
  }
  return largest;
}

}  // namespace

graph_bytes graph_bytes::of(csr_arrays const& graph)
{
  graph_bytes out;
  out.resident = (graph.num_vertices + 1) * static_cast<std::int64_t>(sizeof(edge_id)) +
                 graph.num_vertices * graph.node_types.bytes_per_label;
  out.an_edge = static_cast<std::int64_t>(sizeof(vertex_id)) +
                (graph.weights == nullptr ? 0 : static_cast<std::int64_t>(sizeof(float))) +
                graph.edge_labels.bytes_per_label;
  out.all = out.resident + graph.num_edges * out.an_edge;
  return out;
}

std::optional<stream_layout> find_stream_layout(csr_arrays const& graph, std::int64_t budget)
{
  stream_layout out;
  out.bytes = graph_bytes::of(graph);
  std::int64_t const left = std::max<std::int64_t>(budget - out.bytes.resident, 0) / out.bytes.an_edge;  // edges
  std::int64_t const half = left / 2;
  std::int64_t const largest = cut(graph, half, out.first_vertex);
  if (left == 0 || largest > left) { return std::nullopt; }
  if (largest <= half) {
    out.capacities[0] = out.capacities[1] = half;
  } else if (3 * (left - largest) >= largest) {
    out.capacities[0] = largest;
    out.capacities[1] = left - largest;
    (void)cut(graph, left - largest, out.first_vertex);
  } else {
    out.capacities[0] = left;
    (void)cut(graph, left, out.first_vertex);
  }
  return out;
}

}  // namespace tendril::gpu
