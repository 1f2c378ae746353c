// Parameters of k-hop trees: what each of them may be.

#include <tendril/sample.hpp>

#include <algorithm>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "samplers/table_checks.hpp"
#include "samplers/trees/fanout_checks.hpp"

namespace tendril {
namespace {

void validate_rule(khop_params const& params)
{
  sampling_rule const rule = params.rule;
  if (!params.weighted) {
    TENDRIL_EXPECTS(rule == sampling_rule::automatic || rule == sampling_rule::uniform,
                    "rule {}: needs weights, but the choice is unweighted (expected auto or uniform)", to_string(rule));
  } else if (!params.replace) {
    TENDRIL_EXPECTS(rule == sampling_rule::automatic || rule == sampling_rule::scan,
                    "rule {}: weighted draws without replacement are a race over the neighbourhood (expected auto or "
                    "scan)",
                    to_string(rule));
  } else {
    TENDRIL_EXPECTS(rule != sampling_rule::uniform && rule != sampling_rule::reject,
                    "rule {}: weighted draws with replacement use alias or its (expected auto, alias or its)",
                    to_string(rule));
  }
}

}  // namespace

void validate(khop_params const& params)
{
  constexpr std::int64_t most_slots_a_tree = std::int64_t{1} << 31U;
  samplers::check_fanouts(params.fanouts);
  std::int64_t slots = 1;
  for (std::size_t h = 0; h < params.fanouts.size(); ++h) {
    std::int64_t const f = params.fanouts[h];
    slots = f > 0 ? slots * std::min(f, most_slots_a_tree + 1) : slots;
    TENDRIL_EXPECTS(slots <= most_slots_a_tree, "fanouts: more than 2^31 slots a tree at hop {}", h + 1);
  }
  validate_rule(params);
  samplers::check_table_bytes(params.table_bytes);
}

}  // namespace tendril
