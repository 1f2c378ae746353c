#include "samplers/subgraphs/subgraph_checks.hpp"
#include "graph/places.hpp"

#include <algorithm>
#include <vector>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::samplers {

void check_sample_numbers(std::int64_t num_samples, std::int64_t first_sample)
{
  constexpr std::int64_t most_samples = 0xffffffffLL;
  constexpr std::int64_t most_first = std::int64_t{1} << 62U;
  TENDRIL_EXPECTS(num_samples >= 0 && num_samples <= most_samples, "num_samples: {}, expected 0 to {}", num_samples,
                  most_samples);
  TENDRIL_EXPECTS(first_sample >= 0 && first_sample <= most_first, "first_sample: {}, expected 0 to 2^62",
                  first_sample);
}

void check_cuts(char const* name, char const* what, std::span<std::int64_t const> offsets, std::int64_t size)
{
  TENDRIL_EXPECTS(!offsets.empty(), "{}: empty, expected one element more than there are samples", name);
  TENDRIL_EXPECTS(offsets[0] == 0, "{}: the first is {}, expected 0", name, offsets[0]);
  for (std::size_t s = 1; s < offsets.size(); ++s) {
    TENDRIL_EXPECTS(offsets[s] >= offsets[s - 1] && offsets[s] <= size,
                    "{}: {} after {} at sample {}, expected ascending numbers up to {}", name, offsets[s],
                    offsets[s - 1], s - 1, size);
    TENDRIL_EXPECTS(offsets[s] - offsets[s - 1] <= max_num_vertices,
                    "{}: {} elements in sample {}, expected at most {}", name, offsets[s] - offsets[s - 1], s - 1,
                    max_num_vertices);
  }
  TENDRIL_EXPECTS(offsets.back() == size, "{}: the last is {}, expected the number of {}, {}", name, offsets.back(),
                  what, size);
}

void check_sample_cuts(std::span<vertex_id const> nodes, std::span<std::int64_t const> node_offsets,
                       std::int64_t num_vertices)
{
  check_cuts("node_offsets", "nodes", node_offsets, static_cast<std::int64_t>(nodes.size()));
  validation::expect_vertices("node", nodes, num_vertices);
}

void check_distinct(std::span<vertex_id const> nodes, std::int64_t sample)
{
  std::vector<vertex_id> sorted(nodes.begin(), nodes.end());
  std::sort(sorted.begin(), sorted.end());
  auto const twice = std::adjacent_find(sorted.begin(), sorted.end());
  TENDRIL_EXPECTS(twice == sorted.end(), "sample {}: vertex {} occurs more than once, expected distinct vertices",
                  sample, *twice);
}

}  // namespace tendril::samplers
