#include "samplers/rules.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::samplers {
namespace {

using enum sampling_rule;

std::string list_rules(std::span<sampling_rule const> rules)
{
  std::string out;
  std::size_t left = rules.size();
  for (auto const rule : rules) {
    out += to_string(rule);
    --left;
    out += left > 1 ? ", " : left == 1 ? " or " : "";
  }
  return out;
}

}  // namespace

std::span<sampling_rule const> walk_rules(bool weighted, bool second_order)
{
  static constexpr std::array plain{automatic, uniform, scan};
  static constexpr std::array by_weight{automatic, scan, reject, alias, its};
  static constexpr std::array biased{automatic, scan, reject};
  static constexpr std::array biased_by_weight{automatic, scan, reject, alias};
  if (second_order) { return weighted ? std::span<sampling_rule const>(biased_by_weight) : biased; }
  return weighted ? std::span<sampling_rule const>(by_weight) : plain;
}

std::span<sampling_rule const> tree_rules(bool weighted, bool replace)
{
  static constexpr std::array plain{automatic, uniform};
  static constexpr std::array successive{automatic, scan};
  static constexpr std::array independent{automatic, alias, its};
  if (!weighted) { return plain; }
  return replace ? std::span<sampling_rule const>(independent) : successive;
}

std::span<sampling_rule const> dynamic_walk_rules(bool has_bound)
{
  static constexpr std::array rules{automatic, scan, reject};
  return std::span(rules).first(has_bound ? 3 : 2);
}

void expect_rule(sampling_rule asked, std::span<sampling_rule const> usable, std::string_view sampler)
{
  bool const is_usable = std::find(usable.begin(), usable.end(), asked) != usable.end();
  TENDRIL_EXPECTS(is_usable, "rule {}: not for {}, expected {}", to_string(asked), sampler, list_rules(usable));
}

}  // namespace tendril::samplers
