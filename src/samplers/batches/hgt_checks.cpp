#include "samplers/batches/hgt_checks.hpp"

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {

void validate(hgt_params const& params)
{
  constexpr std::size_t most = 65535;  // a hop, or a type, is half a word of a draw's counter
  auto const& lists = params.num_samples;
  TENDRIL_EXPECTS(!lists.empty() && lists.size() <= most, "num_samples: {} lists, expected 1 to {}: one a vertex type",
                  lists.size(), most);
  for (std::size_t t = 0; t < lists.size(); ++t) {
    TENDRIL_EXPECTS(!lists[t].empty() && lists[t].size() <= most,
                    "num_samples: {} hops of vertex type {}, expected 1 to {}", lists[t].size(), t, most);
    TENDRIL_EXPECTS(lists[t].size() == lists[0].size(),
                    "num_samples: {} hops of vertex type {}, but {} of vertex type 0, expected as many",
                    lists[t].size(), t, lists[0].size());
    for (std::size_t h = 0; h < lists[t].size(); ++h) {
      TENDRIL_EXPECTS(lists[t][h] >= 0, "num_samples: {} at hop {} of vertex type {}, expected 0 or more", lists[t][h],
                      h + 1, t);
    }
  }
}

namespace samplers {

void check_hgt(hetero_graph const& graph, hgt_params const& params)
{
  validate(params);
  TENDRIL_EXPECTS(params.num_samples.size() == graph.num_vertices().size(),
                  "num_samples: {} lists, expected one a vertex type: {}", params.num_samples.size(),
                  graph.num_vertices().size());
  TENDRIL_EXPECTS(!graph.has_times(), "graph: its edges have times, expected one without: HGSampling reads none");
}

}  // namespace samplers
}  // namespace tendril
