#pragma once

#include <cstdint>
#include <vector>

#include <tendril/graph.hpp>

namespace tendril::test {

/// Each vertex leads to the `degree` ones that follow it in a ring.
inline graph wheel(std::int64_t size, int degree)
{
  std::vector<vertex_id> from;
  std::vector<vertex_id> to;
  for (std::int64_t v = 0; v < size; ++v) {
    for (int k = 1; k <= degree; ++k) {
      from.push_back(static_cast<vertex_id>(v));
      to.push_back(static_cast<vertex_id>((v + k) % size));
    }
  }
  return build_graph({from, to}, {});
}

}  // namespace tendril::test
