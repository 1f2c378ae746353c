// What is wrong with a walk's parameters, said in one line.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <tendril/walk.hpp>

namespace tendril::samplers {

/// @param labels_in_use  Which labels (types) occur, as plan::labels_in_use has them; called for metapaths only.
/// @throws argument_error naming the first parameter that can't be served.
void check_walk_params(graph const& graph, walk_params const& params,
                       std::function<std::shared_ptr<std::vector<char> const>()> const& labels_in_use);

/// @throws argument_error unless ragged walks can end this way: they have no rows that a vertex could fill.
void check_ragged(dead_end dead_ends);

}  // namespace tendril::samplers
