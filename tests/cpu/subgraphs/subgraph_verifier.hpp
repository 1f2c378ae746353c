#pragma once

// A serial verifier of induced subgraphs, and sets of vertices to induce them with.
//
// Invariants: offsets start at 0 and ascend to the lengths of what they cut; nodes are as given; the edges of sample s are
// those pairs (i, e) with i a position in the sample and e an edge of the graph from node i to a node of the sample, in
// ascending order, and col is that node's position.

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/subgraph.hpp>

namespace tendril::test {

/// Sets of vertices, one behind the other.
struct vertex_sets {
  std::vector<vertex_id> nodes;
  std::vector<std::int64_t> offsets = {0};

  void add(std::vector<vertex_id> const& set)
  {
    nodes.insert(nodes.end(), set.begin(), set.end());
    offsets.push_back(static_cast<std::int64_t>(nodes.size()));
  }
};

/// `count` sets of `size` different vertices in random order, fewer where the graph has less.
inline vertex_sets random_sets(graph const& g, std::int64_t count, std::int64_t size, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  auto const all = static_cast<std::uint64_t>(g.num_vertices());
  vertex_sets out;
  for (std::int64_t s = 0; s < count; ++s) {
    std::vector<vertex_id> set;
    std::vector<char> taken(all);
    while (set.size() < std::min<std::uint64_t>(static_cast<std::uint64_t>(size), all)) {
      std::uint64_t const v = random() % all;
      if (taken[v] == 0) { set.push_back(static_cast<vertex_id>(v)); }
      taken[v] = 1;
    }
    out.add(set);
  }
  return out;
}

/// Checks the edges of `out`, whose nodes are taken as they are, by going through every edge of every node.
inline void verify_subgraphs(graph const& g, subgraphs const& out)
{
  csr_arrays const view = g.csr();
  ASSERT_EQ(out.node_offsets.size(), out.num_samples + 1);
  ASSERT_EQ(out.edge_offsets.size(), out.num_samples + 1);
  ASSERT_EQ(out.node_offsets[0], 0);
  ASSERT_EQ(out.edge_offsets[0], 0);
  ASSERT_EQ(out.node_offsets[out.num_samples], out.nodes.size());
  ASSERT_EQ(out.edge_offsets[out.num_samples], out.edges.size());
  ASSERT_EQ(out.row.size(), out.edges.size());
  ASSERT_EQ(out.col.size(), out.edges.size());
  std::int64_t at = 0;
  for (std::int64_t s = 0; s < out.num_samples; ++s) {
    std::int64_t const begin = out.node_offsets[s];
    std::int64_t const size = out.node_offsets[s + 1] - begin;
    std::map<vertex_id, std::int64_t> position;
    for (std::int64_t i = 0; i < size; ++i) { position[out.nodes[begin + i]] = i; }
    ASSERT_EQ(static_cast<std::int64_t>(position.size()), size) << "sample " << s << " has equal vertices";
    ASSERT_EQ(out.edge_offsets[s], at) << "sample " << s;
    for (std::int64_t i = 0; i < size; ++i) {
      vertex_id const v = out.nodes[begin + i];
      for (edge_id e = view.indptr[v]; e < view.indptr[v + std::int64_t{1}]; ++e) {
        auto const to = position.find(view.indices[e]);
        if (to == position.end()) { continue; }
        ASSERT_LT(at, out.edges.size()) << "sample " << s << " lacks edge " << e;
        ASSERT_EQ(out.edges[at], e) << "sample " << s << ", edge " << at;
        ASSERT_EQ(out.row[at], i) << "sample " << s << ", edge " << at;
        ASSERT_EQ(out.col[at], to->second) << "sample " << s << ", edge " << at;
        ++at;
      }
    }
  }
  ASSERT_EQ(out.edge_offsets[out.num_samples], at);
}

/// Whether two results, both in host memory, are the same to the bit.
inline bool same_subgraphs(subgraphs const& a, subgraphs const& b)
{
  auto const same = [](auto const& x, auto const& y) { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
  return a.num_samples == b.num_samples && same(a.nodes, b.nodes) && same(a.node_offsets, b.node_offsets) &&
         same(a.row, b.row) && same(a.col, b.col) && same(a.edges, b.edges) && same(a.edge_offsets, b.edge_offsets);
}

}  // namespace tendril::test
