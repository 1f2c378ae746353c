// Trees of this rank's seeds in the making: hop by hop the rank that has a vertex is asked for its neighbours.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu/trees/grow.hpp"
#include "dist/exchange.hpp"
#include "dist/shard.hpp"
#include "dist/trees/asked_neighbors.hpp"

namespace tendril::dist {

class trees_of_ranks final : public cpu::tree_source {
 public:
  /// Both outlive this object.
  trees_of_ranks(shard const& here, exchange& ranks) : here_(here), ranks_(ranks) {}

  [[nodiscard]] tree_hop sample(cpu::hop_slots const& parents, cpu::tree_job const& job, std::size_t hop,
                                std::uint32_t fanout) override;
  [[nodiscard]] tree_hop take_all(cpu::hop_slots const& parents, cpu::tree_job const& job, std::size_t hop) override;

 private:
  struct section {
    std::int64_t begin;  // in `slots_`
    std::uint32_t count;
    std::byte const* answer = nullptr;
  };

  /// Asks about the slots of a hop that hold vertices, and waits. @return the answers, to which sections refer.
  [[nodiscard]] std::vector<message> asked(cpu::hop_slots const& parents, cpu::tree_job const& job, std::size_t hop);
  void sort_by_rank(cpu::hop_slots const& parents);
  void cut_sections(std::int64_t fanout);
  void write_questions(cpu::hop_slots const& parents, cpu::tree_job const& job, std::size_t hop, std::size_t rank,
                       message& out) const;
  /// f(section, head of its answer), in parallel.
  template <class F>
  void for_each_answer(cpu_exec const& exec, F f) const;
  void give_back(std::vector<message>& answers);

  shard const& here_;
  exchange& ranks_;
  std::vector<std::int64_t> slots_;         // that hold vertices, by the rank that has them
  std::vector<std::int64_t> rank_begin_;    // [ranks + 1] in `slots_`
  std::vector<section> sections_;           // rank after rank
  std::vector<std::size_t> rank_sections_;  // [ranks + 1]
};

}  // namespace tendril::dist
