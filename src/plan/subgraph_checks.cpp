#include "plan/subgraph_checks.hpp"

#include <algorithm>
#include <vector>

#include "store/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::plan {

void check_sample_cuts(std::span<vertex_id const> nodes, std::span<std::int64_t const> node_offsets,
                       std::int64_t num_vertices)
{
  auto const size = static_cast<std::int64_t>(nodes.size());
  TENDRIL_EXPECTS(!node_offsets.empty(), "node_offsets: empty, expected one element more than there are samples");
  TENDRIL_EXPECTS(node_offsets[0] == 0, "node_offsets: the first is {}, expected 0", node_offsets[0]);
  for (std::size_t s = 1; s < node_offsets.size(); ++s) {
    TENDRIL_EXPECTS(node_offsets[s] >= node_offsets[s - 1] && node_offsets[s] <= size,
                    "node_offsets: {} after {} at sample {}, expected ascending numbers up to {}", node_offsets[s],
                    node_offsets[s - 1], s - 1, size);
    TENDRIL_EXPECTS(node_offsets[s] - node_offsets[s - 1] <= max_num_vertices,
                    "sample {}: {} vertices, expected distinct ones, of which there are less than 2^32", s - 1,
                    node_offsets[s] - node_offsets[s - 1]);
  }
  TENDRIL_EXPECTS(node_offsets.back() == size, "node_offsets: the last is {}, expected the number of nodes, {}",
                  node_offsets.back(), size);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    TENDRIL_EXPECTS(nodes[i] < num_vertices, "node {}: vertex {} is out of range, the graph has {} vertices", i,
                    nodes[i], num_vertices);
  }
}

void check_distinct(std::span<vertex_id const> nodes, std::int64_t sample)
{
  std::vector<vertex_id> sorted(nodes.begin(), nodes.end());
  std::sort(sorted.begin(), sorted.end());
  auto const twice = std::adjacent_find(sorted.begin(), sorted.end());
  TENDRIL_EXPECTS(twice == sorted.end(), "sample {}: vertex {} occurs more than once, expected distinct vertices",
                  sample, *twice);
}

}  // namespace tendril::plan
