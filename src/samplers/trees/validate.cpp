// Parameters of k-hop trees: what each of them may be.

#include <tendril/sample.hpp>

#include <algorithm>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "samplers/rules.hpp"
#include "samplers/table_checks.hpp"
#include "samplers/trees/fanout_checks.hpp"

namespace tendril {

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
  samplers::expect_rule(params.rule, samplers::tree_rules(params.weighted, params.replace),
                        !params.weighted ? "unweighted trees"
                        : params.replace ? "weighted trees with replacement"
                                         : "weighted trees without replacement");
  samplers::check_table_bytes(params.table_bytes);
}

}  // namespace tendril
