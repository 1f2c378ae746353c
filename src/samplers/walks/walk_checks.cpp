#include "samplers/walks/walk_checks.hpp"

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::samplers {
namespace {

void check_labels(walk_params const& params, std::vector<char> const& in_use)
{
  bool const of_edges = params.metapath_of == metapath_kind::edge_labels;
  for (std::size_t i = 0; i < params.metapath.size(); ++i) {
    label_id const label = params.metapath[i];
    TENDRIL_EXPECTS(label < in_use.size() && in_use[label] != 0, "metapath: no {} has {} {} (entry {})",
                    of_edges ? "edge" : "vertex", of_edges ? "label" : "type", label, i);
  }
}

}  // namespace

void check_walk_params(graph const& graph, walk_params const& params,
                       std::function<std::shared_ptr<std::vector<char> const>()> const& labels_in_use)
{
  validate(params);
  TENDRIL_EXPECTS(!params.weighted || graph.has_weights() || graph.num_edges() == 0,
                  "weighted: the graph has no weights, expected one an edge");
  if (params.metapath.empty()) { return; }
  bool const of_edges = params.metapath_of == metapath_kind::edge_labels;
  TENDRIL_EXPECTS(of_edges ? graph.has_edge_labels() : graph.has_node_types(),
                  "metapath: the graph has no {}, expected one {}", of_edges ? "edge labels" : "vertex types",
                  of_edges ? "an edge" : "a vertex");
  check_labels(params, *labels_in_use());
}

void check_ragged(dead_end dead_ends)
{
  TENDRIL_EXPECTS(dead_ends == dead_end::stop,
                  "dead_ends: {}, expected stop: ragged walks have no rows that a vertex could fill",
                  to_string(dead_ends));
}

}  // namespace tendril::samplers
