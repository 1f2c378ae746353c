// What ranks ask each other for k-hop trees, and what a rank does for the trees of all.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/sample.hpp>

#include "cpu/picks/neighbor_picks.hpp"  // pick_rule
#include "dist/exchange.hpp"
#include "dist/sections.hpp"
#include "dist/shard.hpp"

namespace tendril::dist {

/// The head of a question for the neighbours of slots; three arrays follow, [count] each: vertices, roots (from first_root on),
/// places in the trees.
struct slots_question {
  std::int64_t first_root;
  std::uint32_t hop;  ///< From 0.
  std::uint32_t with_edges;
  std::uint32_t count;
  std::uint32_t unused = 0;

  [[nodiscard]] std::int64_t array_bytes() const { return padded(4 * std::int64_t{count}); }
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(sizeof *this) + 3 * array_bytes(); }
};
static_assert(sizeof(slots_question) == 24);

/// The head of an answer. Behind it: of a hop that takes all neighbours the counts, [count]; neighbours, [num_slots]; if asked for,
/// edges, [num_slots], in the whole graph.
struct slots_answer {
  std::uint32_t count;
  std::uint32_t has_counts, has_edges;  ///< 1 or 0.
  std::uint32_t unused = 0;
  std::int64_t num_slots;

  [[nodiscard]] std::int64_t counts() const { return sizeof *this; }
  [[nodiscard]] std::int64_t neighbors() const
  {
    return counts() + (has_counts != 0 ? padded(4 * std::int64_t{count}) : 0);
  }
  [[nodiscard]] std::int64_t edges() const { return neighbors() + padded(4 * num_slots); }
  [[nodiscard]] std::int64_t bytes() const { return edges() + (has_edges != 0 ? 8 * num_slots : 0); }
};
static_assert(sizeof(slots_answer) == 24);

class asked_neighbors final : public answerer {
 public:
  /// All outlive this object. @param rule  For the rank's rows.
  asked_neighbors(shard const& here, khop_params const& params, cpu::pick_rule const& rule)
      : here_(here), params_(params), rule_(rule), first_edge_(here.first_edge())
  {
  }

  [[nodiscard]] std::vector<message> answer(std::span<message const> asked, message_pool& pool,
                                            cpu_exec const& exec) override;

 private:
  void sample(slots_question const& asked, std::byte const* arrays, std::uint32_t fanout, made_section& out) const;
  void take_all(slots_question const& asked, std::byte const* arrays, made_section& out) const;
  [[nodiscard]] std::vector<vertex_id> rows_of(slots_question const& asked, std::byte const* arrays) const;

  shard const& here_;
  khop_params const& params_;
  cpu::pick_rule const& rule_;
  edge_id first_edge_;
  section_answers<slots_question> sections_;
};

}  // namespace tendril::dist
