// Which edges the vertices of a mini-batch's hop take by LABOR. The rule: src/core/labor.hpp. How many edges a vertex takes
// is known once its neighbours have been read, so a thread keeps what it finds, and writes it when all vertices' counts
// have told where. GPU twin: src/gpu/batches/stage_labor.cu.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/labor.hpp"
#include "cpu/batches/picks.hpp"

namespace tendril::cpu {

/// The parameters of a hop by LABOR.
struct labor_hop_rule {
  core::labor_numbers numbers;
  std::uint32_t step = 0;
  bool normalize = true;
};

/// Works on ranges of an expansion's vertices. One object a thread and edge type: it keeps its scratch.
template <class Key>
class labor_picks {
 public:
  explicit labor_picks(edge_source const& source) : source_(source) {}

  /// Forgets the edges of the hop before.
  void clear() { taken_.clear(); }

  /// Takes edges for the vertices [begin, end): writes first, degree, and to offsets[i + 1] how many there are.
  /// @return  The place of the first in what this object keeps.
  std::size_t take(hop_expansion<Key> const& hop, labor_hop_rule const& rule, std::int64_t begin, std::int64_t end)
  {
    std::size_t const before = taken_.size();
    std::fill_n(lanes_.step, draw_lanes::padded, rule.step);
    std::fill_n(lanes_.draw, draw_lanes::padded, 0U);
    source_.graph.visit([&](auto const& graph) {
      for (std::int64_t i = begin; i < end; ++i) {
        auto const row = graph.row(source_.row_of(hop.vertices[i]));
        hop.first[i] = row.first_edge();
        hop.degree[i] = row.degree();
        if (source_.times != nullptr && hop.tree_time != nullptr) {
          hop.degree[i] =
              core::edges_until(source_.times + hop.first[i], hop.degree[i], hop.tree_time[tree_of(hop.vertices[i])]);
        }
        std::size_t const size = taken_.size();
        take_from(row, hop, rule, i);
        hop.offsets[i + 1] = static_cast<std::int64_t>(taken_.size() - size);
      }
    });
    return before;
  }

  /// Fills the slots of the vertices [begin, end) with what take() kept from place `at` on. Any thread.
  void write(hop_expansion<Key> const& hop, labor_hop_rule const& rule, std::int64_t begin, std::int64_t end,
             std::size_t at) const
  {
    std::int64_t const base = hop.offsets[0];
    source_.graph.visit([&](auto const& graph) {
      for (std::int64_t i = begin; i < end; ++i) {
        Key const from = hop.vertices[i];
        auto const row = graph.row(source_.row_of(from));
        std::int64_t const size = hop.offsets[i + 1] - hop.offsets[i];
        auto const choice = core::labor_choice::of(hop.fanout, hop.degree[i]);
        float const weight = size == 0 ? 0.0F : choice.weight(hop.fanout, hop.degree[i], size, rule.normalize);
        for (std::int64_t s = hop.offsets[i]; s < hop.offsets[i + 1]; ++s, ++at) {
          hop.row[s] = hop.first_local + i;
          hop.edge[s] = hop.first[i] + taken_[at];
          hop.reached[s - base] = neighbor_key(from, row.neighbor(taken_[at]));
          if (hop.weights != nullptr) { hop.weights[s] = weight; }
        }
      }
    });
  }

 private:
  /// Appends the positions of one vertex's edges. Where edges have times they are in that order.
  template <class Row>
  void take_from(Row const& row, hop_expansion<Key> const& hop, labor_hop_rule const& rule, std::int64_t i)
  {
    std::uint32_t const degree = hop.degree[i];
    auto const choice = core::labor_choice::of(hop.fanout, degree);
    auto const position = [&](std::uint32_t c) {
      return source_.ordinal == nullptr ? c : source_.ordinal[hop.first[i] + c];
    };
    if (hop.fanout == 0) { return; }
    for (std::uint32_t begin = 0; begin < degree; begin += draw_lanes::max_lanes) {
      std::uint32_t const count = std::min<std::uint32_t>(draw_lanes::max_lanes, degree - begin);
      if (!choice.all) {
        for (std::uint32_t l = 0; l < count; ++l) {
          lanes_.item[l] = item_of(neighbor_key(hop.vertices[i], row.neighbor(position(begin + l))));
        }
        draw(rule, count);
      }
      std::size_t size = taken_.size();
      taken_.resize(size + count);
      for (std::uint32_t l = 0; l < count; ++l) {
        taken_[size] = position(begin + l);
        size += choice.takes(lanes_.low[l]) ? 1 : 0;
      }
      taken_.resize(size);
    }
  }

  /// The numbers of the first `count` lanes' items.
  void draw(labor_hop_rule const& rule, std::uint32_t count)
  {
    if (rule.numbers.are_independent()) {
      philox_lanes(lanes_, 0, static_cast<int>(count), rule.numbers.independent().key);
      return;
    }
    for (std::uint32_t l = 0; l < count; ++l) { lanes_.low[l] = rule.numbers.of(lanes_.item[l], rule.step); }
  }

  edge_source source_;
  draw_lanes lanes_{};
  std::vector<std::uint32_t> taken_;
};

}  // namespace tendril::cpu
