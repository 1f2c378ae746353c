// The edges a build reads, and the arcs that its options make of them.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include <tendril/graph.hpp>

namespace tendril::build {

/// Edges given as pairs; edge k is (sources[k], targets[k]).
struct coo_edges {
  std::span<vertex_id const> sources;
  std::span<vertex_id const> targets;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(sources.size()); }

  /// f(k, source, target) for each k in [begin, end), in order.
  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, F&& f) const
  {
    auto const* const s = sources.data();
    auto const* const t = targets.data();
    for (std::int64_t k = begin; k < end; ++k) { f(k, s[k], t[k]); }
  }
};

/// Edges of a CSR whose offsets are known to ascend from 0 to the number of indices.
struct csr_edges {
  std::span<edge_id const> indptr;
  std::span<vertex_id const> indices;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(indices.size()); }

  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, F&& f) const
  {
    if (begin >= end) { return; }
    auto v = static_cast<std::int64_t>(std::upper_bound(indptr.begin(), indptr.end(), begin) - indptr.begin()) - 1;
    for (std::int64_t k = begin; k < end; ++v) {
      std::int64_t const stop = std::min(end, indptr[static_cast<std::size_t>(v) + 1]);
      for (; k < stop; ++k) { f(k, static_cast<vertex_id>(v), indices[static_cast<std::size_t>(k)]); }
    }
  }
};

/// What comes along with each edge; null where there is nothing.
struct edge_columns_view {
  float const* weights = nullptr;
  label_view labels;
};

/// f(source, target, k) for each arc that the options make of the edges [begin, end), in the order of k. The arcs
/// of one (source, target) have different k: an edge's added reverse has other ends, or is not added.
template <class Edges, class F>
void for_each_arc(Edges const& edges, build_options const& options, std::int64_t begin, std::int64_t end, F&& f)
{
  bool const reverse = options.reverse;
  bool const symmetrize = options.symmetrize;
  bool const drop_loops = options.drop_self_loops;
  edges.for_each(begin, end, [&](std::int64_t k, vertex_id u, vertex_id v) {
    if (u == v) {
      if (!drop_loops) { f(u, v, k); }
      return;
    }
    if (reverse) { std::swap(u, v); }
    f(u, v, k);
    if (symmetrize) { f(v, u, k); }
  });
}

}  // namespace tendril::build
