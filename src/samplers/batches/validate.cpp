// Parameters of mini-batches: what each of them may be.

#include <tendril/minibatch.hpp>

#include <iterator>  // ssize
#include <string>

#include <fmt/format.h>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {
namespace {

constexpr std::int64_t most_hops = 65535;  // a hop is half a word of a draw's counter
constexpr std::int64_t most_fanout = 0x7fffffff;
constexpr std::int64_t most_dependency = 0xffffffff;

/// " of edge type 3" where fan-outs are given for each.
void validate_fanouts(std::vector<std::int64_t> const& fanouts, char const* name, std::string const& where)
{
  TENDRIL_EXPECTS(!fanouts.empty(), "{}: none given{}, expected one a hop", name, where);
  TENDRIL_EXPECTS(std::ssize(fanouts) <= most_hops, "{}: {} hops{}, expected at most {}", name, fanouts.size(), where,
                  most_hops);
  for (std::size_t h = 0; h < fanouts.size(); ++h) {
    TENDRIL_EXPECTS(fanouts[h] >= -1 && fanouts[h] <= most_fanout,
                    "{}: {} at hop {}{}, expected 0 to {}, or -1 for all neighbours", name, fanouts[h], h + 1, where,
                    most_fanout);
  }
}

/// LABOR, and what is LABOR's alone.
void validate_choice(minibatch_params const& params)
{
  bool const labor = params.choice == neighbor_choice::labor;
  TENDRIL_EXPECTS(labor || !params.layer_dependency, "layer_dependency: true, expected false, or choice labor");
  TENDRIL_EXPECTS(labor || params.batch_dependency == 1, "batch_dependency: {}, expected 1, or choice labor",
                  params.batch_dependency);
  TENDRIL_EXPECTS(params.batch_dependency >= 1 && params.batch_dependency <= most_dependency,
                  "batch_dependency: {}, expected 1 to {} batches", params.batch_dependency, most_dependency);
  if (!labor) { return; }
  TENDRIL_EXPECTS(!params.replace, "replace: true, but choice labor takes each edge at most once, expected false");
  TENDRIL_EXPECTS(!params.weighted,
                  "weighted: true, but choice labor takes a vertex's edges with one probability, expected false");
  TENDRIL_EXPECTS(params.temporal == temporal_strategy::uniform,
                  "temporal: last, but choice labor takes random edges, expected uniform");
}

}  // namespace

void validate(minibatch_params const& params)
{
  auto const& of_type = params.num_neighbors_of_type;
  if (of_type.empty()) { validate_fanouts(params.num_neighbors, "num_neighbors", ""); }
  for (std::size_t t = 0; t < of_type.size(); ++t) {
    validate_fanouts(of_type[t], "num_neighbors_of_type", fmt::format(" of edge type {}", t));
    TENDRIL_EXPECTS(of_type[t].size() == of_type[0].size(),
                    "num_neighbors_of_type: {} hops of edge type {}, but {} of edge type 0, expected as many",
                    of_type[t].size(), t, of_type[0].size());
  }
  validate_choice(params);
  TENDRIL_EXPECTS(params.table_bytes.value_or(0) >= 0, "table_bytes: {}, expected 0 or more", *params.table_bytes);
}

}  // namespace tendril
