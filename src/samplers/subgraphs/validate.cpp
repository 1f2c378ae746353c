// Parameters of the samplers of subgraphs: what each of them may be.

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "samplers/subgraphs/saint_checks.hpp"
#include "samplers/subgraphs/shadow_checks.hpp"

namespace tendril {

void validate(shadow_params const& params)
{
  TENDRIL_EXPECTS(params.depth >= 1 && params.depth <= 64, "depth: {}, expected 1 to 64 hops", params.depth);
  TENDRIL_EXPECTS(params.num_neighbors >= 1 && params.num_neighbors <= max_shadow_neighbors,
                  "num_neighbors: {}, expected 1 to {}", params.num_neighbors, max_shadow_neighbors);
}

void validate(saint_params const& params)
{
  using samplers::most_saint_vertices, samplers::vertices_a_sample;
  TENDRIL_EXPECTS(params.budget >= 1 && params.budget <= most_saint_vertices, "budget: {}, expected 1 to {}",
                  params.budget, most_saint_vertices);
  TENDRIL_EXPECTS(params.sampler != saint_sampler::walk || (params.length >= 0 && params.length <= 1000),
                  "length: {}, expected 0 to 1000 steps", params.length);
  TENDRIL_EXPECTS(vertices_a_sample(params) <= most_saint_vertices, "budget: {} draws {} vertices, expected at most {}",
                  params.budget, vertices_a_sample(params), most_saint_vertices);
}

void validate(saint_params const& params, graph const& graph)
{
  validate(params);
  TENDRIL_EXPECTS(params.sampler != saint_sampler::node || params.matrix != propagation::weights ||
                      graph.has_weights() || graph.num_edges() == 0,
                  "matrix: the graph has no weights, expected one an edge");
}

}  // namespace tendril
