#pragma once

// Walks in a form that tests compare.

#include <cstdint>
#include <vector>

#include <tendril/walk.hpp>

namespace tendril::test {

/// Vertices and lengths of some walks.
struct rows {
  std::vector<vertex_id> vertices;
  std::vector<std::int32_t> lengths;

  friend bool operator==(rows const&, rows const&) = default;
};

/// @param out  In host memory.
inline rows rows_of(walks const& out)
{
  return {{out.vertices.begin(), out.vertices.end()}, {out.lengths.begin(), out.lengths.end()}};
}

}  // namespace tendril::test
