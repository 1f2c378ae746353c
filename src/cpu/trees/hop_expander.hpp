// Expands slots of a hop of k-hop trees with a fixed fan-out. The choice of neighbours: src/cpu/picks/neighbor_picks.hpp over
// the rules of src/core. A thread takes tiles of vertices through three stages - where their edges are, which are picked,
// read them - and prefetches for the next stage.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/checked.hpp>

#include "cpu/picks/block_bits.hpp"
#include "cpu/picks/neighbor_picks.hpp"
#include "cpu/trees/grow.hpp"  // hop_slots

namespace tendril::cpu {

inline constexpr std::int64_t tile_slots = 1024;  // bench/khop, axis tile

/// What a thread needs to expand the slots of one hop with a fixed fan-out.
template <class View>
class hop_expander {
 public:
  hop_expander(View const& graph, pick_rule const& rule, rng_key key, std::uint32_t fanout)
      : graph_(graph),
        rule_(rule),
        key_(key),
        fanout_(fanout),
        alias_(rule.weighted && rule.replace && rule.tables->alias ? rule.tables->alias->data() : nullptr),
        draws_ahead_(!rule.weighted || alias_ != nullptr),
        tile_(std::max<std::int64_t>(1, tile_slots / fanout)),
        picker_(rule),
        root_(static_cast<std::size_t>(tile_)),
        slot_(static_cast<std::size_t>(tile_)),
        place_(static_cast<std::size_t>(tile_)),
        picks_(static_cast<std::size_t>(checked_product("picks of a tile", tile_, fanout)))
  {
  }

  /// Expands the slots of the roots [begin, end), tile by tile.
  void expand(hop_slots const& parents, std::int64_t begin, std::int64_t end, std::int64_t first_root, vertex_id* out,
              edge_id* out_edges)
  {
    std::int64_t root = begin;
    std::int64_t const last = parents.begin_of(end);
    for (std::int64_t slot = parents.begin_of(begin); slot < last; slot += tile_) {
      std::int64_t const count = std::min(tile_, last - slot);
      for (std::int64_t i = 0; i < count; ++i) {
        while (slot + i >= parents.begin_of(root + 1)) { ++root; }
        set_slot(i, first_root + root, slot + i - parents.begin_of(root));
      }
      expand_tile(parents.vertices + slot, count, out + slot * fanout_,
                  out_edges == nullptr ? nullptr : out_edges + slot * fanout_);
    }
  }

  /// Expands some slots in any order; the children of each go to their place.
  void expand(hop_slots const& parents, std::span<std::int64_t const> slots, std::int64_t first_root, vertex_id* out,
              edge_id* out_edges)
  {
    std::int64_t const children = checked_product("picks of a tile", tile_, fanout_);
    std::vector<vertex_id> vertices(static_cast<std::size_t>(tile_));
    buffer<vertex_id> made(children);
    buffer<edge_id> made_edges(out_edges == nullptr ? 0 : children);
    for (std::int64_t first = 0; first < std::ssize(slots); first += tile_) {
      std::int64_t const count = std::min(tile_, std::ssize(slots) - first);
      for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t const slot = slots[static_cast<std::size_t>(first + i)];
        std::int64_t const root = parents.root_of(slot);
        vertices[static_cast<std::size_t>(i)] = parents.vertices[slot];
        set_slot(i, first_root + root, slot - parents.begin_of(root));
      }
      expand_tile(vertices.data(), count, made.data(), out_edges == nullptr ? nullptr : made_edges.data());
      for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t const to = slots[static_cast<std::size_t>(first + i)] * fanout_;
        std::copy_n(made.data() + i * fanout_, fanout_, out + to);
        if (out_edges != nullptr) { std::copy_n(made_edges.data() + i * fanout_, fanout_, out_edges + to); }
      }
    }
  }

  /// Expands slots of any trees: vertex i is in slot slots[i] of tree first_root + roots[i].
  void expand(std::span<vertex_id const> vertices, std::uint32_t const* roots, std::uint32_t const* slots,
              std::int64_t first_root, vertex_id* out, edge_id* out_edges)
  {
    for (std::int64_t first = 0; first < std::ssize(vertices); first += tile_) {
      std::int64_t const count = std::min(tile_, std::ssize(vertices) - first);
      for (std::int64_t i = 0; i < count; ++i) { set_slot(i, first_root + roots[first + i], slots[first + i]); }
      expand_tile(vertices.data() + first, count, out + first * fanout_,
                  out_edges == nullptr ? nullptr : out_edges + first * fanout_);
    }
  }

 private:
  void set_slot(std::int64_t i, std::int64_t root, std::int64_t place_in_tree)
  {
    root_[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(root);
    slot_[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(place_in_tree);
  }

  /// The slots that are set, from the first on.
  void expand_tile(vertex_id const* vertices, std::int64_t count, vertex_id* out, edge_id* out_edges)
  {
    for (std::int64_t i = 0; i < count; ++i) {
      if (vertices[i] != no_vertex) { prefetch_row(vertices[i], out_edges != nullptr); }
    }
    if (draws_ahead_) { draw(count); }
    for (std::int64_t i = 0; i < count; ++i) { pick(vertices[i], static_cast<std::size_t>(i)); }
    if (alias_ != nullptr) {
      for (std::int64_t i = 0; i < count; ++i) { choose(vertices[i], static_cast<std::size_t>(i)); }
    }
    write(vertices, count, out, out_edges);
  }

  void prefetch_row(vertex_id v, bool with_edges) const
  {
    graph_.prefetch_row(v);
    if constexpr (!View::targets_by_number) {
      if (rule_.weighted || with_edges) { graph_.prefetch_first_edge(v); }
    }
  }

  /// Blocks that a vertex draws: an alias pick takes a whole one, a uniform pick a half.
  [[nodiscard]] std::uint32_t blocks() const { return alias_ != nullptr ? fanout_ : (fanout_ + 1) / 2; }

  /// The bits of all slots of a tile: slot p of a root's tree draws blocks 0, 1, … of counter (root, p).
  void draw(std::int64_t count)
  {
    bits_.begin(key_, static_cast<std::size_t>(checked_product("bits of a tile", count, blocks(), 2)) / 2);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) { bits_.add(root_[i], slot_[i], blocks()); }
    bits_.finish();
  }

  /// Those of one of them.
  [[nodiscard]] std::uint64_t const* bits_of(std::size_t i) const { return bits_.bits() + i * 2 * blocks(); }

  void pick(vertex_id parent, std::size_t i)
  {
    std::uint32_t* const picks = picks_.data() + i * fanout_;
    if (parent == no_vertex) {
      std::fill_n(picks, fanout_, empty_slot);
      return;
    }
    place_[i] = graph_.locate(parent);
    auto const row = graph_.row(parent, place_[i]);
    std::uint32_t const degree = row.degree();
    if (alias_ != nullptr && degree > 0) {
      neighbor_picker::propose_alias(alias_ + row.first_edge(), degree, fanout_, bits_of(i), picks);
      return;
    }
    if (draws_ahead_) {
      picker_.pick_uniform(degree, fanout_, bits_of(i), picks);
    } else {
      picker_.pick_weighted(parent, row, fanout_, {key_, root_[i], slot_[i]}, picks);
    }
    prefetch(row, picks);
  }

  /// The second half of an alias pick, when the buckets have arrived.
  void choose(vertex_id parent, std::size_t i)
  {
    std::uint32_t* const picks = picks_.data() + i * fanout_;
    if (picks[0] == empty_slot) { return; }
    auto const row = graph_.row(parent, place_[i]);
    neighbor_picker::decide_alias(alias_ + row.first_edge(), fanout_, bits_of(i), picks);
    prefetch(row, picks);
  }

  template <class Row>
  void prefetch(Row const& row, std::uint32_t const* picks) const
  {
    for (std::uint32_t j = 0; j < fanout_; ++j) {
      if (picks[j] != empty_slot) { row.prefetch(picks[j]); }
    }
  }

  void write(vertex_id const* parents, std::int64_t count, vertex_id* out, edge_id* out_edges)
  {
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint32_t const* const picks = picks_.data() + i * fanout_;
      auto const row = graph_.row(parents[i], place_[static_cast<std::size_t>(i)]);  // of no vertex: nothing was picked
      bool const is_whole = picks[0] != empty_slot && read_whole(row);
      for (std::uint32_t j = 0; j < fanout_; ++j) {
        bool const empty = picks[j] == empty_slot;
        out[i * fanout_ + j] = empty ? no_vertex : is_whole ? whole_row_[picks[j]] : row.neighbor(picks[j]);
        if (out_edges != nullptr) { out_edges[i * fanout_ + j] = empty ? -1 : row.edge(picks[j]); }
      }
    }
  }

  /// Reads a compressed row whose picks are many for its length: in order a neighbour takes a fraction of the time.
  template <class Row>
  [[nodiscard]] bool read_whole(Row const& row)
  {
    if constexpr (View::targets_by_number) {
      return false;
    } else {
      constexpr std::uint32_t most_a_pick = 2;
      if (row.has_fixed_width() || row.degree() > most_a_pick * std::uint64_t{fanout_}) { return false; }
      whole_row_.resize(row.degree());
      row.copy_to(whole_row_.data());
      return true;
    }
  }

  View graph_;
  pick_rule rule_;
  rng_key key_;
  std::uint32_t fanout_;
  core::alias_bucket const* alias_;  // the graph's table, where picks are made from it
  bool draws_ahead_;
  std::int64_t tile_;
  neighbor_picker picker_;
  std::vector<vertex_id> whole_row_;         // the one that read_whole read last
  std::vector<std::uint64_t> root_;          // of each slot of the tile: its root's logical id,
  std::vector<std::uint32_t> slot_;          // its place in the root's tree,
  std::vector<typename View::place> place_;  // and where its vertex's edges are
  std::vector<std::uint32_t> picks_;
  block_bits bits_;
};

}  // namespace tendril::cpu
