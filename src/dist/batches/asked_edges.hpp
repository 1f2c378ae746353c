// What a rank does for the batches of all ranks: it chooses edges of the vertices that it has.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/transport.hpp>

#include "cpu/batches/labor_picks.hpp"
#include "cpu/batches/local_numbers.hpp"
#include "cpu/batches/maker.hpp"
#include "dist/batches/records.hpp"
#include "dist/exchange.hpp"
#include "dist/shard.hpp"

namespace tendril::dist {

/// @tparam Key  As of minibatch_maker.
template <class Key>
class asked_edges final : public answerer {
 public:
  /// @param job         Its one source holds the rows of this rank. Outlives this object.
  /// @param first_edge  That of the rank's rows, in the whole graph.
  /// @param num_rows    Vertices of this rank.
  asked_edges(cpu::minibatch_job const& job, edge_id first_edge, std::int64_t num_rows)
      : job_(job), first_edge_(first_edge), num_rows_(num_rows)
  {
  }

  /// Answers section by section, on the threads of `exec`.
  [[nodiscard]] std::vector<message> answer(std::span<message const> asked, message_pool& pool,
                                            cpu_exec const& exec) override;

 private:
  using question = frontier_question<Key>;

  /// What a thread works with.
  struct scratch {
    std::vector<cpu::edge_chooser<Key>> chooser;  // one, or
    std::vector<cpu::labor_picks<Key>> labor;     // one
    buffer<edge_id> first;
    buffer<std::uint32_t> degree;
    buffer<std::int64_t> offsets, row, edge;
    buffer<Key> reached;
    buffer<float> weights;
    cpu::local_numbers<Key> numbers;
    buffer<Key> numbered;
    std::vector<cpu::inner_edge> found;
  };

  void answer_one(question const& asked, Key const* keys, scratch& own, made_section& out) const;
  [[nodiscard]] cpu::hop_expansion<Key> choose(question const& asked, Key const* keys, scratch& own) const;
  void find_inner(question const& asked, Key const* keys, scratch& own, made_section& out) const;
  [[nodiscard]] bool has(Key key) const
  {
    return std::int64_t{cpu::vertex_of(key)} - job_.sources[0].first_vertex < num_rows_ &&
           cpu::vertex_of(key) >= job_.sources[0].first_vertex;
  }

  cpu::minibatch_job const& job_;
  edge_id first_edge_;
  std::int64_t num_rows_;
  section_answers<question> sections_;
  std::vector<scratch> scratch_;  // one a thread
};

/// For batches that are disjoint, or not.
[[nodiscard]] std::unique_ptr<answerer> make_asked_edges(cpu::minibatch_job const& job, shard const& here);

}  // namespace tendril::dist
