// Parameters of the layer-wise samplers: what each of them may be.

#include <tendril/labor.hpp>
#include <tendril/layers.hpp>
#include <tendril/mvs.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "samplers/trees/fanout_checks.hpp"

namespace tendril {
namespace {

/// What FastGCN and LADIES have in common.
template <class Params>
void validate_layers(Params const& params, std::int64_t batch_size)
{
  TENDRIL_EXPECTS(params.num_layers >= 1 && params.num_layers <= 65535, "num_layers: {}, expected 1 to 65535",
                  params.num_layers);
  TENDRIL_EXPECTS(params.layer_size >= 1 && params.layer_size <= max_layer_size,
                  "layer_size: {}, expected 1 to {} vertices", params.layer_size, max_layer_size);
  TENDRIL_EXPECTS(batch_size >= 1 && batch_size <= max_layer_size, "batch_size: {}, expected 1 to {} roots", batch_size,
                  max_layer_size);
}

template <class Params>
void validate_for_graph(Params const& params, graph const& graph, std::int64_t batch_size)
{
  validate(params, batch_size);
  TENDRIL_EXPECTS(params.matrix != propagation::weights || graph.has_weights() || graph.num_edges() == 0,
                  "matrix: the graph has no weights, expected one an edge");
}

}  // namespace

void validate(fastgcn_params const& params, std::int64_t batch_size) { validate_layers(params, batch_size); }

void validate(ladies_params const& params, std::int64_t batch_size) { validate_layers(params, batch_size); }

void validate(fastgcn_params const& params, graph const& graph, std::int64_t batch_size)
{
  validate_for_graph(params, graph, batch_size);
}

void validate(ladies_params const& params, graph const& graph, std::int64_t batch_size)
{
  validate_for_graph(params, graph, batch_size);
}

void validate(mvs_params const& params)
{
  TENDRIL_EXPECTS(params.batch_size >= 1 && params.batch_size <= max_layer_size,
                  "batch_size: {}, expected 1 to {} vertices", params.batch_size, max_layer_size);
}

void validate(labor_params const& params) { samplers::check_fanouts(params.fanouts); }

}  // namespace tendril
