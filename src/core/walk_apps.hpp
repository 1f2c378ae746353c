// The library's walks as dynamic walks (tendril/dynamic_walk.hpp): what the rule `scan` races over. Weights are
// float32, products rounded once. Host and device.

#pragma once

#include <cstdint>

#include <tendril/dynamic_walk.hpp>

#include "core/label_lists.hpp"
#include "core/node2vec.hpp"

namespace tendril::core {

/// The weight that an edge has by itself.
template <bool weighted>
TENDRIL_HD float static_weight(auto const& e)
{
  if constexpr (weighted) {
    return e.row().weight(e.position());
  } else {
    return 1.0F;
  }
}

/// DeepWalk, PPR and restart walks (Perozzi et al., KDD'14): edges in proportion to their weights.
template <bool weighted>
struct first_order_weights {
  static constexpr bool trusted_weights = true;

  [[nodiscard]] TENDRIL_HD float weight(auto const&, auto const& e) const { return static_weight<weighted>(e); }
};

/// node2vec (Grover & Leskovec, KDD'16). A race asks for the adjacency of those edges only that may win by the largest
/// factor; no product exceeds that one, since rounding is monotone.
template <bool weighted>
struct node2vec_weights {
  static constexpr bool trusted_weights = true;
  node2vec_bias bias;

  [[nodiscard]] TENDRIL_HD float weight(auto const& s, auto const& e) const
  {
    float const w = static_weight<weighted>(e);
    if (s.previous == no_vertex) { return w; }
    vertex_id const x = e.target();
    return node2vec_weight(bias, w, x, s.previous, [&] { return s.graph.has_edge(s.previous, x); });
  }

  [[nodiscard]] TENDRIL_HD float bound(auto const& s, auto const& e) const
  {
    float const w = static_weight<weighted>(e);
    return s.previous == no_vertex ? w : w * bias.largest;
  }
};

/// A metapath: edges whose label (whose target's type) the schema doesn't name weigh nothing.
template <bool weighted, bool of_types>
struct metapath_weights {
  static constexpr bool trusted_weights = true;
  label_id const* schema;  ///< [size], where the walk runs.
  std::int32_t size;
  label_id first_type;  ///< schema[0]

  [[nodiscard]] TENDRIL_HD float weight(auto const& s, auto const& e) const
  {
    return carries(s, e, wanted_at(s.step)) ? static_weight<weighted>(e) : 0.0F;
  }

  /// Whether an edge, or its target, carries a label.
  [[nodiscard]] TENDRIL_HD bool carries(auto const& s, auto const& e, label_id label) const
  {
    return (of_types ? s.graph.node_types[e.target()] : e.label()) == label;
  }

  /// The label of the edge that a walk takes after `step` steps.
  [[nodiscard]] TENDRIL_HD label_id wanted_at(std::int32_t step) const
  {
    return schema[(step + (of_types ? 1 : 0)) % size];
  }

  /// A schema of types names the start's type too.
  [[nodiscard]] TENDRIL_HD bool may_start(auto const& s) const
  {
    return !of_types || s.graph.node_types[s.start] == first_type;
  }
};

/// A weighted metapath that finds the edges with the wanted label in a table, the others left out. The same walks.
template <bool of_types>
struct listed_metapath_weights : metapath_weights<true, of_types> {
  label_lists_view lists;

  [[nodiscard]] TENDRIL_HD candidate_list candidates(auto const& s) const
  {
    return lists(s.vertex, this->wanted_at(s.step));
  }
};

/// Calls f(walk) with the struct for these parameters. `schema` may be null without a metapath.
struct walk_choice {
  bool weighted;
  bool second_order;
  bool of_types;  ///< The metapath names vertex types.
  node2vec_bias bias;
  label_id const* schema;  ///< [size]
  std::int32_t size;
  label_id first_type;
  label_lists_view lists = {};  ///< Of a weighted metapath; empty: labels are read at each step. For a GPU.
};

/// Calls f(walk) for a walk that has lists.
template <class F>
void with_listed_walk(walk_choice const& c, F f)
{
  if (c.of_types) {
    f(listed_metapath_weights<true>{{c.schema, c.size, c.first_type}, c.lists});
  } else {
    f(listed_metapath_weights<false>{{c.schema, c.size, c.first_type}, c.lists});
  }
}

template <bool weighted, class F>
void with_first_order_walk(walk_choice const& c, F f)
{
  if (c.schema != nullptr && c.of_types) {
    f(metapath_weights<weighted, true>{c.schema, c.size, c.first_type});
  } else if (c.schema != nullptr) {
    f(metapath_weights<weighted, false>{c.schema, c.size, c.first_type});
  } else {
    f(first_order_weights<weighted>{});
  }
}

template <bool weighted, class F>
void with_walk(walk_choice const& c, F f)
{
  if (c.second_order) {
    f(node2vec_weights<weighted>{c.bias});
  } else {
    with_first_order_walk<weighted>(c, f);
  }
}

/// Calls f(walk) with the struct for these parameters.
template <class F>
void with_walk(walk_choice const& c, F f)
{
  if (c.weighted) {
    with_walk<true>(c, f);
  } else {
    with_walk<false>(c, f);
  }
}

/// The same for walks that don't ask for the vertex before.
template <class F>
void with_first_order_walk(walk_choice const& c, F f)
{
  if (c.weighted) {
    with_first_order_walk<true>(c, f);
  } else {
    with_first_order_walk<false>(c, f);
  }
}

}  // namespace tendril::core
