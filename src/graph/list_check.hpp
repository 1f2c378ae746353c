// Whether the lists of a compressed graph can be read: what a file says of them is a place, which may be anywhere.

#pragma once

#include <string>

#include <tendril/graph.hpp>

namespace tendril::validation {

/// What is wrong with block b of the directory; empty if nothing is. Its lists may still be wrong.
[[nodiscard]] std::string block_problem(compressed_lists const& lists, std::int64_t b);

/// What is wrong with the list of vertex v, whose block is right; empty if nothing is: then its neighbours can be read.
/// They may still be no vertices, or not ascend.
[[nodiscard]] std::string list_problem(compressed_lists const& lists, std::int64_t v);

}  // namespace tendril::validation
