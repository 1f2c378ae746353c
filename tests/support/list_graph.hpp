#pragma once

// A graph from the list of each vertex's neighbours.

#include <utility>
#include <vector>

#include <tendril/graph.hpp>

#include "support/to_array.hpp"

namespace tendril::test {

inline graph from_lists(std::vector<std::vector<vertex_id>> const& lists)
{
  std::vector<edge_id> indptr{0};
  std::vector<vertex_id> indices;
  for (auto const& list : lists) {
    indices.insert(indices.end(), list.begin(), list.end());
    indptr.push_back(std::ssize(indices));
  }
  graph_arrays arrays;
  arrays.indptr = to_array(indptr);
  arrays.indices = to_array(indices);
  return graph(std::move(arrays));
}

}  // namespace tendril::test
