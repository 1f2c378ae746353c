// Which edges the vertices of a mini-batch's hop get through one edge type. The choice among edges:
// src/cpu/picks/neighbor_picks.hpp; what times leave to choose from: src/core/temporal.hpp. Vertices are taken tile by tile
// through stages - draw, pick, read the neighbours - and each stage prefetches for the next.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <tendril/graph_view.hpp>
#include <tendril/rng.hpp>

#include "core/draws.hpp"
#include "core/temporal.hpp"
#include "cpu/picks/block_bits.hpp"
#include "cpu/picks/neighbor_picks.hpp"
#include "samplers/batches/checks.hpp"  // edge_choice

namespace tendril::cpu {

/// A vertex of a tree: the vertex, in a disjoint batch with the seed's position above it.
[[nodiscard]] inline vertex_id vertex_of(std::uint32_t key) { return key; }
[[nodiscard]] inline vertex_id vertex_of(std::uint64_t key) { return static_cast<vertex_id>(key); }
[[nodiscard]] inline std::uint32_t tree_of(std::uint32_t) { return 0; }
[[nodiscard]] inline std::uint32_t tree_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32U); }
/// The logical item that a vertex's draws belong to.
[[nodiscard]] inline std::uint64_t item_of(std::uint32_t key) { return core::minibatch_draws::item(key); }
[[nodiscard]] inline std::uint64_t item_of(std::uint64_t key)
{
  return core::minibatch_draws::item(vertex_of(key), tree_of(key));
}
/// The neighbour `to` in the same tree.
[[nodiscard]] inline std::uint32_t neighbor_key(std::uint32_t, vertex_id to) { return to; }
[[nodiscard]] inline std::uint64_t neighbor_key(std::uint64_t from, vertex_id to) { return (from >> 32U << 32U) | to; }

/// One type of edges, ready to choose from.
struct edge_source {
  graph_view graph;
  vertex_id first_vertex = 0;  ///< That of row 0: of a graph in parts the rows are those of a range of vertices.
  std::int64_t const* times = nullptr;  ///< temporal_order, or null.
  std::uint32_t const* ordinal = nullptr;
  samplers::edge_choice choice = samplers::edge_choice::uniform;
  pick_rule rule;

  template <class Key>
  [[nodiscard]] vertex_id row_of(Key key) const
  {
    return vertex_of(key) - first_vertex;
  }
};

/// The vertices that a hop expands through an edge type, and where their edges go. Vertex i has the slots
/// [offsets[i], offsets[i + 1]) of `row`, `edge` and `reached`.
template <class Key>
struct hop_expansion {
  Key const* vertices = nullptr;  ///< [count]
  std::int64_t count = 0;
  std::int64_t first_local = 0;             ///< Number of the first in its batch.
  std::int64_t const* tree_time = nullptr;  ///< By tree; null: no edge is too late.
  rng_key key{};
  std::uint32_t step = 0;
  std::int64_t fanout = 0;  ///< -1: all.

  edge_id* first = nullptr;         ///< [count] by `measure`: first edge,
  std::uint32_t* degree = nullptr;  ///< and how many are not too late.
  std::int64_t* offsets = nullptr;  ///< [count + 1]
  std::int64_t* row = nullptr;
  edge_id* edge = nullptr;   ///< -1: no pick, of weighted choices only.
  Key* reached = nullptr;    ///< The slots' neighbours; from offsets[0] on.
  float* weights = nullptr;  ///< Of LABOR, by slot; null: none are wanted.
};

/// Works on ranges of an expansion's vertices. One object a thread and edge type: it keeps its scratch.
template <class Key>
class edge_chooser {
 public:
  explicit edge_chooser(edge_source const& source) : source_(source), picker_(source.rule) {}

  /// Writes first and degree, and to offsets[i + 1] how many slots vertex i needs, for i in [begin, end). Numbers of edges
  /// tell all that.
  void measure(hop_expansion<Key> const& hop, std::int64_t begin, std::int64_t end) const
  {
    source_.graph.visit([&](auto const& graph) {
      constexpr std::int64_t ahead = 16;
      for (std::int64_t i = begin; i < end; ++i) {
        graph.prefetch_first_edge(source_.row_of(hop.vertices[std::min(i + ahead, end - 1)]));
        std::int64_t const v = source_.row_of(hop.vertices[i]);
        edge_id const first = graph.first_edge(v);
        auto degree = static_cast<std::uint32_t>(graph.first_edge(v + 1) - first);
        if (source_.times != nullptr && hop.tree_time != nullptr) {
          degree = core::edges_until(source_.times + first, degree, hop.tree_time[tree_of(hop.vertices[i])]);
        }
        hop.first[i] = first;
        hop.degree[i] = degree;
        hop.offsets[i + 1] = slots_of(degree, hop.fanout);
      }
    });
  }

  /// Fills the slots of the vertices [begin, end). Whether all have an edge.
  bool choose(hop_expansion<Key> const& hop, std::int64_t begin, std::int64_t end)
  {
    return source_.graph.visit([&](auto const& graph) {
      bool filled = true;
      while (begin < end) {
        std::int64_t last = begin + 1;
        while (last < end && last - begin < most_tile && hop.offsets[last + 1] - hop.offsets[begin] <= tile_slots) {
          ++last;
        }
        filled = choose_tile(graph, hop, begin, last) && filled;
        begin = last;
      }
      return filled;
    });
  }

 private:
  static constexpr std::int64_t tile_slots = 1024;  // bench/khop, axis tile
  static constexpr std::int64_t most_tile = 256;

  template <class View>
  bool choose_tile(View const& graph, hop_expansion<Key> const& hop, std::int64_t begin, std::int64_t end)
  {
    if constexpr (!View::targets_by_number) {
      for (std::int64_t i = begin; i < end; ++i) { graph.prefetch_row(source_.row_of(hop.vertices[i])); }
    }
    if (source_.choice == samplers::edge_choice::uniform && hop.fanout >= 0) { draw(hop, begin, end); }
    bool filled = true;
    std::size_t at = 0;  // in bits_
    for (std::int64_t i = begin; i < end; ++i) { filled = pick(graph, hop, i, at) && filled; }
    if (source_.ordinal != nullptr) { look_up_ordinals(graph, hop, begin, end); }
    read_neighbors(graph, hop, begin, end);
    return filled;
  }

  /// The row of vertex i, without the time limit. Where numbers of edges say where it is, `measure` has read them already.
  template <class View>
  [[nodiscard]] auto row_of(View const& graph, hop_expansion<Key> const& hop, std::int64_t i) const
  {
    vertex_id const v = source_.row_of(hop.vertices[i]);
    if constexpr (View::targets_by_number) {
      return graph.row(v, {hop.first[i], hop.degree[i]});
    } else {
      return graph.row(v);
    }
  }

  [[nodiscard]] bool draws_with_replacement() const
  {
    return source_.rule.replace && source_.choice != samplers::edge_choice::last;
  }

  [[nodiscard]] std::int64_t slots_of(std::uint32_t degree, std::int64_t fanout) const
  {
    if (fanout < 0) { return degree; }
    if (draws_with_replacement()) { return degree > 0 ? fanout : 0; }
    return std::min<std::int64_t>(degree, fanout);
  }

  /// Whether a uniform choice of so many takes random numbers.
  [[nodiscard]] bool draws(std::uint32_t degree, std::int64_t slots) const
  {
    return slots > 0 && (source_.rule.replace || degree > slots);
  }

  /// The bits of a tile's uniform picks: blocks 0, 1, … of counter (item, step), two picks a block.
  void draw(hop_expansion<Key> const& hop, std::int64_t begin, std::int64_t end)
  {
    bits_.begin(hop.key, static_cast<std::size_t>(hop.offsets[end] - hop.offsets[begin] + end - begin));
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t const slots = hop.offsets[i + 1] - hop.offsets[i];
      if (!draws(hop.degree[i], slots)) { continue; }
      bits_.add(item_of(hop.vertices[i]), hop.step, static_cast<std::uint32_t>((slots + 1) / 2));
    }
    bits_.finish();
  }

  /// Writes row and edge of one vertex's slots; of temporal edges the place in the order of time instead.
  template <class View>
  bool pick(View const& graph, hop_expansion<Key> const& hop, std::int64_t i, std::size_t& at)
  {
    std::int64_t const slots = hop.offsets[i + 1] - hop.offsets[i];
    if (slots == 0) { return true; }
    edge_id* const out = hop.edge + hop.offsets[i];
    std::fill_n(hop.row + hop.offsets[i], slots, hop.first_local + i);
    edge_id const first = hop.first[i];
    std::uint32_t const degree = hop.degree[i];
    auto const row = row_of(graph, hop, i);
    bool const is_race = source_.choice == samplers::edge_choice::race;
    auto const k = static_cast<std::uint32_t>(slots);
    if (hop.fanout < 0 || (!draws_with_replacement() && degree <= slots && !is_race)) {
      return take_run(row, first, 0, k, out);
    }
    if (source_.choice == samplers::edge_choice::last) { return take_run(row, first, degree - k, k, out); }
    picks_.resize(std::max<std::size_t>(picks_.size(), k));
    std::uint32_t* const picks = picks_.data();
    if (source_.choice == samplers::edge_choice::uniform) {
      picker_.pick_uniform(degree, k, bits_.bits() + at, picks);
      at += (std::size_t{k} + 1) / 2 * 2;
      for (std::uint32_t j = 0; j < k; ++j) {
        prefetch_next(row, first, picks[j]);
        out[j] = first + picks[j];
      }
      return true;
    }
    picker_.pick_weighted(source_.row_of(hop.vertices[i]), row, k, {hop.key, item_of(hop.vertices[i]), hop.step},
                          picks);
    bool filled = true;
    for (std::uint32_t j = 0; j < k; ++j) {
      bool const empty = picks[j] == empty_slot;
      filled = filled && !empty;
      out[j] = empty ? -1 : first + picks[j];
      if (!empty) { row.prefetch(picks[j]); }
    }
    return filled;
  }

  /// The edges [begin, begin + count) of a row, in order.
  template <class Row>
  bool take_run(Row const& row, edge_id first, std::uint32_t begin, std::uint32_t count, edge_id* out) const
  {
    constexpr std::uint64_t a_line = 16;
    for (std::uint32_t j = 0; j < count; ++j) { out[j] = first + begin + j; }
    for (std::uint64_t j = 0; j < count + a_line; j += a_line) {
      prefetch_next(row, first, begin + static_cast<std::uint32_t>(std::min<std::uint64_t>(j, count - 1)));
    }
    return true;
  }

  /// Brings closer what is read of an edge when it is picked.
  template <class Row>
  void prefetch_next(Row const& row, edge_id first, std::uint32_t i) const
  {
    if (source_.ordinal != nullptr) {
      __builtin_prefetch(source_.ordinal + first + i);
    } else {
      row.prefetch(i);
    }
  }

  template <class View>
  void look_up_ordinals(View const& graph, hop_expansion<Key> const& hop, std::int64_t begin, std::int64_t end) const
  {
    for (std::int64_t i = begin; i < end; ++i) {
      edge_id const first = hop.first[i];
      auto const row = row_of(graph, hop, i);
      for (std::int64_t s = hop.offsets[i]; s < hop.offsets[i + 1]; ++s) {
        std::uint32_t const ordinal = source_.ordinal[hop.edge[s]];
        hop.edge[s] = first + ordinal;
        row.prefetch(ordinal);
      }
    }
  }

  template <class View>
  void read_neighbors(View const& graph, hop_expansion<Key> const& hop, std::int64_t begin, std::int64_t end) const
  {
    std::int64_t const base = hop.offsets[0];
    for (std::int64_t i = begin; i < end; ++i) {
      Key const from = hop.vertices[i];
      edge_id const first = hop.first[i];
      auto const row = row_of(graph, hop, i);
      for (std::int64_t s = hop.offsets[i]; s < hop.offsets[i + 1]; ++s) {
        edge_id const e = hop.edge[s];
        hop.reached[s - base] =
            e < 0 ? Key{0} : neighbor_key(from, row.neighbor(static_cast<std::uint32_t>(e - first)));
      }
    }
  }

  edge_source source_;
  neighbor_picker picker_;
  block_bits bits_;
  std::vector<std::uint32_t> picks_;
};

}  // namespace tendril::cpu
