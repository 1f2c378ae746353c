// What the verbs say of a cut graph.

#pragma once

#include <string>

#include <tendril/partition.hpp>

#include "common.hpp"

namespace tendril::cli {

/// "4 parts by degree, 21.3 % of the edges lead to another part".
[[nodiscard]] std::string describe_parts(partition_info const& info);

/// A line a part: vertices, edges, share of edges that lead to another part, bytes of its file; the first lines alone where
/// there are many.
[[nodiscard]] std::string part_lines(partition_info const& info, std::string const& folder);

/// The same for programs, of every part.
[[nodiscard]] json parts_json(partition_info const& info, std::string const& folder);

}  // namespace tendril::cli
