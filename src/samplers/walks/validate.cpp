// Parameters of walks: what each of them may be.

#include <tendril/dynamic_walk.hpp>
#include <tendril/multidim.hpp>
#include <tendril/walk.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "samplers/rules.hpp"
#include "samplers/table_checks.hpp"

namespace tendril {
namespace {

void validate_length(std::int64_t length)
{
  TENDRIL_EXPECTS(length >= 1 && length <= 0x7ffffffe, "length: {}, expected 1 to 2147483646 steps", length);
}

void validate_probability(char const* name, double p)
{
  TENDRIL_EXPECTS(p >= 0 && p <= 1, "{}: {}, expected a probability in [0, 1]", name, p);
}

void validate_bias(char const* name, double value)
{
  TENDRIL_EXPECTS(value >= 1e-9 && value <= 1e9, "{}: {}, expected a number from 1e-9 to 1e9", name, value);
}

}  // namespace

void validate(walk_params const& params)
{
  validate_length(params.length);
  validate_bias("p", params.p);
  validate_bias("q", params.q);
  validate_probability("stop_prob", params.stop_prob);
  validate_probability("restart_prob", params.restart_prob);
  bool const second_order = params.second_order || params.p != 1 || params.q != 1;
  TENDRIL_EXPECTS(params.metapath.empty() || !second_order,
                  "metapath: can't be combined with p and q, expected one of the two");
  samplers::expect_rule(
      params.rule, samplers::walk_rules(params.weighted, second_order),
      fmt::format("{} walks{}", params.weighted ? "weighted" : "unweighted", second_order ? " biased by p and q" : ""));
  samplers::check_table_bytes(params.table_bytes);
}

void validate(dynamic_walk_params const& params)
{
  validate_length(params.length);
  validate_probability("stop_prob", params.stop_prob);
  validate_probability("restart_prob", params.restart_prob);
  samplers::expect_rule(params.rule, samplers::dynamic_walk_rules(true), "dynamic walks");
}

void validate(multidim_params const& params, std::int64_t num_roots)
{
  validate_length(params.length);
  TENDRIL_EXPECTS(num_roots >= 1 && num_roots <= max_num_roots, "num_roots: {}, expected 1 to {} roots a sample",
                  num_roots, max_num_roots);
}

}  // namespace tendril
