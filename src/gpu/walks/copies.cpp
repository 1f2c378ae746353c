#include "gpu/walks/copies.hpp"

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::gpu {

gpu_exec exec_of_copy(graph const& copy, int index)
{
  gpu_set const where = copy.placement();
  TENDRIL_EXPECTS(where.size() == 1, "copy {}: the graph is {}, expected in the memory of a GPU", index,
                  to_string(where));
  return gpu_exec(where[0]);
}

void expect_same_graph(std::span<graph const> copies)
{
  TENDRIL_EXPECTS(!copies.empty(), "no copy of the graph, expected one for each GPU");
  for (std::size_t i = 1; i < copies.size(); ++i) {
    TENDRIL_EXPECTS(
        copies[i].num_vertices() == copies[0].num_vertices() && copies[i].num_edges() == copies[0].num_edges(),
        "copy {}: {} vertices and {} edges, expected those of copy 0: {} and {}", i, copies[i].num_vertices(),
        copies[i].num_edges(), copies[0].num_vertices(), copies[0].num_edges());
  }
}

void expect_same_walk(std::span<walker const> copies)
{
  TENDRIL_EXPECTS(!copies.empty(), "no walker, expected one for each GPU");
  auto const& first = copies[0];
  for (std::size_t i = 1; i < copies.size(); ++i) {
    auto const& other = copies[i];
    TENDRIL_EXPECTS(other.input().num_vertices() == first.input().num_vertices() &&
                        other.input().num_edges() == first.input().num_edges() &&
                        other.plan().rule == first.plan().rule && other.params().length == first.params().length &&
                        other.params().seed == first.params().seed,
                    "walker {}: another walk than that of walker 0, expected the same on each GPU", i);
  }
}

}  // namespace tendril::gpu
