#pragma once

#include <string_view>

namespace tendril::formats {

/// How the comment starts with which our edge lists begin; the number of vertices and ", columns: …" follow. It keeps
/// isolated vertices, and labels without weights, from being lost.
inline constexpr std::string_view edge_list_comment = "# tendril edge list, vertices: ";

}  // namespace tendril::formats
