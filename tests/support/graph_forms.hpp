// A graph in every form, for tests that samples don't depend on it.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tendril/compress.hpp>
#include <tendril/hetero_graph.hpp>

#include "place/narrow.hpp"

namespace tendril::test {

/// A compressed graph whose weights, labels and edge ids are in fewer bits, whether or not that pays.
inline graph with_narrow_edges(graph const& compressed)
{
  graph_arrays arrays = compressed.arrays();
  place::widen(arrays, cpu_exec{});
  place::narrow(arrays, place::narrow_plan::of_all(arrays, place::edge_facts::of(arrays, {})), cpu_exec{});
  return graph(std::move(arrays), compressed.content());
}

/// The graph, which is in CSR form, first; then forms that have every code of a list between them.
inline std::vector<graph> in_all_forms(graph const& g)
{
  return {g, compress(g, graph_form::best), with_narrow_edges(compress(g, graph_form::vbyte))};
}

/// The compressed ones of these.
inline std::vector<graph> in_compressed_forms(graph const& g)
{
  auto all = in_all_forms(g);
  all.erase(all.begin());
  return all;
}

/// The same graph; the edges of every type t for which is_packed(t) are packed.
template <class IsPacked>
hetero_graph packed_types(hetero_graph const& g, IsPacked is_packed)
{
  std::vector<edge_type> types = g.edge_types();
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (is_packed(t)) { types[t].edges = compress(types[t].edges, graph_form::packed); }
  }
  return {g.num_vertices(), std::move(types)};
}
inline hetero_graph packed_types(hetero_graph const& g)
{
  return packed_types(g, [](std::size_t) { return true; });
}

inline std::vector<hetero_graph> in_all_forms(hetero_graph const& g) { return {g, packed_types(g)}; }

}  // namespace tendril::test
