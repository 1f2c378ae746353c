// Which rules may choose an edge, in each kind of sampler. A rule that a caller asks for is used or refused, never replaced
// by another one.

#pragma once

#include <span>
#include <string_view>

#include <tendril/plan.hpp>

namespace tendril::samplers {

// What a caller may ask for, in the order of messages; auto is always among them.
[[nodiscard]] std::span<sampling_rule const> walk_rules(bool weighted, bool second_order);
[[nodiscard]] std::span<sampling_rule const> tree_rules(bool weighted, bool replace);
/// @param has_bound  Whether the struct has bound(state).
[[nodiscard]] std::span<sampling_rule const> dynamic_walk_rules(bool has_bound);

/// @param sampler  What the rule was asked for, for the message: "weighted walks".
/// @throws argument_error  "rule alias: not for unweighted walks, expected auto, uniform or scan".
void expect_rule(sampling_rule asked, std::span<sampling_rule const> usable, std::string_view sampler);

}  // namespace tendril::samplers
