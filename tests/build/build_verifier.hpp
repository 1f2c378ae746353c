// A serial build that is obviously right: every arc in a vector, sorted by std::stable_sort.
//
// What a built graph must satisfy: the arcs of `expected_arcs`, in that order, are exactly its edges; offsets delimit
// each source's; weight, label and edge id are those of the input edge an arc came from.

#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/graph.hpp>

namespace tendril::test {

/// Edges with storage of their own.
struct edge_list {
  std::vector<vertex_id> sources, targets;
  std::vector<float> weights;
  std::vector<std::uint8_t> narrow_labels;
  std::vector<std::uint16_t> wide_labels;

  [[nodiscard]] label_view labels() const
  {
    if (!narrow_labels.empty()) { return {narrow_labels.data(), 1}; }
    if (!wide_labels.empty()) { return {wide_labels.data(), 2}; }
    return {};
  }
  [[nodiscard]] coo_view view() const { return {sources, targets, weights, labels()}; }
};

struct arc {
  vertex_id source, target;
  std::int64_t edge;
  bool operator==(arc const&) const = default;
};

inline std::vector<arc> expected_arcs(edge_list const& edges, build_options const& options,
                                      std::vector<vertex_id>* original_ids = nullptr)
{
  std::vector<arc> arcs;
  for (std::size_t k = 0; k < edges.sources.size(); ++k) {
    vertex_id u = edges.sources[k], v = edges.targets[k];
    if (options.reverse) { std::swap(u, v); }
    if (u == v && options.drop_self_loops) { continue; }
    arcs.push_back({u, v, static_cast<std::int64_t>(k)});
    if (options.symmetrize && u != v) { arcs.push_back({v, u, static_cast<std::int64_t>(k)}); }
  }
  std::stable_sort(arcs.begin(), arcs.end(), [](arc const& a, arc const& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  });
  if (options.drop_duplicates) {
    std::set<label_id> seen;  // labels from the source to the target at hand
    arc last{no_vertex, no_vertex, -1};
    std::erase_if(arcs, [&](arc const& a) {
      if (a.source != last.source || a.target != last.target) { seen.clear(); }
      last = a;
      return !seen.insert(edges.labels().empty() ? label_id{0} : edges.labels()[a.edge]).second;
    });
  }
  if (options.compact) {
    std::vector<vertex_id> ids;
    for (auto const& a : arcs) { ids.insert(ids.end(), {a.source, a.target}); }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    auto const rank = [&](vertex_id id) {
      return static_cast<vertex_id>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
    };
    for (auto& a : arcs) { a = {rank(a.source), rank(a.target), a.edge}; }
    if (original_ids != nullptr) { *original_ids = ids; }
  }
  return arcs;
}

/// Compares a built graph with the expectation, element by element.
inline void expect_built(graph const& g, edge_list const& edges, build_options const& options)
{
  std::vector<vertex_id> original_ids;
  auto const arcs = expected_arcs(edges, options, &original_ids);
  auto const& a = g.arrays();
  ASSERT_EQ(g.num_edges(), static_cast<std::int64_t>(arcs.size()));
  ASSERT_EQ(g.has_weights(), !edges.weights.empty() && !arcs.empty());
  ASSERT_EQ(a.edge_ids.size(), options.keep_edge_ids ? g.num_edges() : 0);
  ASSERT_EQ(a.edge_labels.bytes_per_label(), edges.labels().bytes_per_label);
  std::size_t mismatches = 0;
  std::int64_t v = 0;
  for (std::int64_t e = 0; e < g.num_edges(); ++e) {
    arc const& expected = arcs[static_cast<std::size_t>(e)];
    for (; v <= expected.source; ++v) { ASSERT_EQ(a.indptr[v] <= e, true) << "vertex " << v; }
    auto const k = static_cast<std::size_t>(expected.edge);
    bool same = a.indices[e] == expected.target && a.indptr[expected.source] <= e &&
                e < a.indptr[std::int64_t{expected.source} + 1];
    same = same && (edges.weights.empty() || a.weights[e] == edges.weights[k]);
    same = same && (edges.labels().empty() || a.edge_labels.view()[e] == edges.labels()[expected.edge]);
    same = same && (!options.keep_edge_ids || a.edge_ids[e] == expected.edge);
    mismatches += !same;
  }
  EXPECT_EQ(mismatches, 0U);
  EXPECT_EQ(a.indptr[g.num_vertices()], g.num_edges());
  EXPECT_EQ(std::is_sorted(a.indptr.begin(), a.indptr.end()), true);
  if (options.compact) {
    EXPECT_EQ(std::vector<vertex_id>(a.original_ids.begin(), a.original_ids.end()), original_ids);
    EXPECT_EQ(g.num_vertices(), static_cast<std::int64_t>(original_ids.size()));
  }
  EXPECT_NO_THROW(g.validate());
}

/// Whether two graphs hold the same bytes.
inline void expect_same_graph(graph const& x, graph const& y)
{
  auto const equal = [](auto const& p, auto const& q) { return std::equal(p.begin(), p.end(), q.begin(), q.end()); };
  auto const& a = x.arrays();
  auto const& b = y.arrays();
  EXPECT_TRUE(equal(a.indptr, b.indptr));
  EXPECT_TRUE(equal(a.indices, b.indices));
  EXPECT_TRUE(equal(a.weights, b.weights));
  EXPECT_TRUE(equal(a.edge_ids, b.edge_ids));
  EXPECT_TRUE(equal(a.original_ids, b.original_ids));
  EXPECT_EQ(a.symmetric, b.symmetric);
  auto const equal_labels = [](label_array const& p, label_array const& q) {
    if (p.size() != q.size() || p.bytes_per_label() != q.bytes_per_label()) { return false; }
    for (std::int64_t i = 0; i < p.size(); ++i) {
      if (p.view()[i] != q.view()[i]) { return false; }
    }
    return true;
  };
  EXPECT_TRUE(equal_labels(a.edge_labels, b.edge_labels));
  EXPECT_TRUE(equal_labels(a.node_types, b.node_types));
}

/// Small deterministic numbers for making inputs.
class lehmer {
 public:
  explicit lehmer(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint64_t operator()(std::uint64_t bound)
  {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33U) % bound;
  }

 private:
  std::uint64_t state_;
};

enum class shape { uniform, hub, two_vertices, one_pair, crowd, skewed, sorted, sparse_ids, loops };

inline edge_list make_edges(shape kind, std::int64_t size, bool weights, int label_bytes, std::uint64_t seed)
{
  lehmer next(seed);
  edge_list edges;
  for (std::int64_t k = 0; k < size; ++k) {
    auto const n = static_cast<std::uint64_t>(std::max<std::int64_t>(size / 8, 4));
    std::uint64_t u = next(n), v = next(n);
    switch (kind) {
      case shape::uniform: break;
      case shape::hub: (next(2) ? u : v) = n / 2; break;
      case shape::two_vertices: u = next(2), v = 1 - u; break;
      case shape::one_pair: u = 3, v = next(1000) == 0 ? 2 : 1; break;
      case shape::crowd: u = next(100), v = next(100); break;
      case shape::skewed: u = next(1 + next(1 + next(n))), v = next(1 + next(n)); break;
      case shape::sorted: u = static_cast<std::uint64_t>(k) / 8, v = static_cast<std::uint64_t>(k) % 8; break;
      case shape::sparse_ids: u = u * 4099 * 8191 % 0xfffffffeU, v = v * 4099 * 8191 % 0xfffffffeU; break;
      case shape::loops: v = next(3) == 0 ? u : v; break;
    }
    edges.sources.push_back(static_cast<vertex_id>(u));
    edges.targets.push_back(static_cast<vertex_id>(v));
    if (weights) { edges.weights.push_back(static_cast<float>(next(1U << 20U)) * 0.5F); }
    if (label_bytes == 1) { edges.narrow_labels.push_back(static_cast<std::uint8_t>(next(5))); }
    if (label_bytes == 2) { edges.wide_labels.push_back(static_cast<std::uint16_t>(next(3) * 20000)); }
  }
  return edges;
}

}  // namespace tendril::test
