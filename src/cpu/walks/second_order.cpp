// node2vec walks with many walkers in step: src/core/node2vec.hpp judges proposals, most of them without looking at
// adjacency; the rest search the neighbours of the vertex before, one probe a phase. The plain loop of the same rules:
// src/cpu/walks/scalar_step.hpp.

#include <utility>

#include "core/node2vec.hpp"
#include "core/reject.hpp"
#include "cpu/walks/lane_walk.hpp"
#include "cpu/walks/lanes.hpp"
#include "cpu/walks/scalar_step.hpp"

namespace tendril::cpu {
namespace {

constexpr int width = 192;              // bench/walks, axis width
constexpr std::uint32_t one_line = 16;  // neighbours in a cache line: from here on a search finishes at once

/// A proposal: the vertex, and what its judgement needs.
struct proposal {
  vertex_id target;
  float weight;
};

// A proposal source says how to prefetch a vertex and an edge, and how to draw a proposal from the trial's block.

/// Uniform proposals, judged against the bias alone.
struct uniform_proposals {
  static constexpr std::uint32_t draws_a_trial = 1;
  static constexpr bool weighted = false;
  edge_id const* indptr;
  vertex_id const* indices;

  void prefetch_vertex(vertex_id v) const { __builtin_prefetch(indptr + v); }
  [[nodiscard]] float bound(vertex_id /*v*/) const { return 1.0F; }
  void prefetch_edge(edge_id e) const { __builtin_prefetch(indices + e); }
  [[nodiscard]] proposal take(edge_id e, std::uint64_t /*bits*/) const { return {indices[e], 1.0F}; }
};

/// Uniform proposals, judged against the largest weight times the largest bias.
struct weighted_proposals {
  static constexpr std::uint32_t draws_a_trial = 1;
  static constexpr bool weighted = true;
  edge_id const* indptr;
  vertex_id const* indices;
  float const* weights;
  float const* largest;

  void prefetch_vertex(vertex_id v) const
  {
    __builtin_prefetch(indptr + v);
    __builtin_prefetch(largest + v);
  }
  [[nodiscard]] float bound(vertex_id v) const { return largest[v]; }
  void prefetch_edge(edge_id e) const
  {
    __builtin_prefetch(indices + e);
    __builtin_prefetch(weights + e);
  }
  [[nodiscard]] proposal take(edge_id e, std::uint64_t /*bits*/) const { return {indices[e], weights[e]}; }
};

/// The same from records of neighbour and weight.
struct record_proposals {
  static constexpr std::uint32_t draws_a_trial = 1;
  static constexpr bool weighted = true;
  edge_id const* indptr;
  float const* largest;
  plan::edge_record const* edges;

  void prefetch_vertex(vertex_id v) const
  {
    __builtin_prefetch(indptr + v);
    __builtin_prefetch(largest + v);
  }
  [[nodiscard]] float bound(vertex_id v) const { return largest[v]; }
  void prefetch_edge(edge_id e) const { __builtin_prefetch(edges + e); }
  [[nodiscard]] proposal take(edge_id e, std::uint64_t /*bits*/) const { return {edges[e].neighbor, edges[e].weight}; }
};

/// Proposals in proportion to the weights, judged against the bias alone.
struct alias_proposals {
  static constexpr std::uint32_t draws_a_trial = 2;
  static constexpr bool weighted = false;
  edge_id const* indptr;
  plan::alias_record const* records;

  void prefetch_vertex(vertex_id v) const { __builtin_prefetch(indptr + v); }
  [[nodiscard]] float bound(vertex_id /*v*/) const { return 1.0F; }
  void prefetch_edge(edge_id e) const { __builtin_prefetch(records + e); }
  [[nodiscard]] proposal take(edge_id e, std::uint64_t bits) const
  {
    auto const& r = records[e];
    return {bits < r.threshold ? r.here : r.there, 1.0F};
  }
};

template <bool Ends, class Proposals>
class second_order_lanes {
 public:
  second_order_lanes(walk_job const& job, walk_batch const& batch, walk_source& source, Proposals proposals)
      : job_(job), proposals_(proposals), lanes_(job, batch, source), fallback_(job)
  {
  }

  void run()
  {
    lanes_.fill(width, [this](int lane) { proposals_.prefetch_vertex(lanes_.vertex[lane]); });
    for (int i = 0; i < lanes_.active(); ++i) { try_next_round(i); }
    while (num_next_ + num_searching_ > 0) {
      std::swap(trying_, next_);
      num_trying_ = std::exchange(num_next_, 0);
      lanes_.draw(0, lanes_.active());
      locate();
      probe();
      judge();
      probe();
    }
  }

 private:
  /// Phase 1: where the proposed edge is. Remembers the neighbourhood, for the search one step later.
  void locate()
  {
    for (int k = 0; k < num_trying_; ++k) {
      int const i = trying_[k];
      vertex_id const v = lanes_.vertex[i];
      first_[i] = job_.graph.indptr[v];
      degree_[i] = job_.graph.degree(v);
      if (degree_[i] == 0) { continue; }
      edge_[i] = first_[i] + core::bounded(lanes_.draws.low[i], degree_[i]);
      proposals_.prefetch_edge(edge_[i]);
    }
  }

  /// Phase 2: judge the proposals. Lanes try again next round, or wait in `searching_` for adjacency.
  void judge()
  {
    for (int k = 0; k < num_trying_; ++k) {
      int const i = trying_[k];
      if (degree_[i] == 0) {
        end_dead(i);
        continue;
      }
      proposal const p = proposals_.take(edge_[i], lanes_.draws.high[i]);
      float const bound = proposals_.bound(lanes_.vertex[i]);
      if (p.target == no_vertex || !(bound > 0)) {  // no edge of positive weight
        end_dead(i);
      } else if (lanes_.previous[i] == no_vertex) {
        bool const stands = !Proposals::weighted || core::accept(lanes_.draws.high[i], double{p.weight}, double{bound});
        stands ? go(i, p.target) : retry(i);
      } else {
        judge_biased(i, p, bound);
      }
    }
  }

  void judge_biased(int i, proposal p, float bound)
  {
    switch (core::node2vec_judge(job_.bias, judgement(i), p.weight, bound, p.target == lanes_.previous[i])) {
      case core::verdict::accepted: go(i, p.target); return;
      case core::verdict::rejected: retry(i); return;
      case core::verdict::needs_adjacency: break;
    }
    candidate_[i] = p.target;
    low_[i] = job_.graph.indices + before_first_[i];
    size_[i] = before_degree_[i];
    if (size_[i] == 0) {
      settle(i, false);
      return;
    }
    __builtin_prefetch(low_[i] + size_[i] / 2);
    searching_[num_searching_++] = i;
  }

  /// The bits that a trial is judged by: an alias proposal takes a whole block, so its judgement has the next one.
  [[nodiscard]] std::uint64_t judgement(int i) const
  {
    if constexpr (Proposals::draws_a_trial == 1) { return lanes_.draws.high[i]; }
    auto const at = lanes_.position(i);
    return core::draw_block(job_.step_key, at.walk, static_cast<std::uint32_t>(at.step), lanes_.draws.draw[i] + 1)
        .low();
  }

  /// One probe of each search.
  void probe()
  {
    int const searching = std::exchange(num_searching_, 0);
    for (int k = 0; k < searching; ++k) {
      int const i = searching_[k];
      if (size_[i] > one_line) {
        core::search_halve(low_[i], size_[i], candidate_[i]);
        __builtin_prefetch(low_[i] + size_[i] / 2);
        searching_[num_searching_++] = i;
      } else {
        settle(i, core::contains(low_[i], size_[i], candidate_[i]));
      }
    }
  }

  void try_next_round(int i) { next_[num_next_++] = i; }

  void settle(int i, bool near) { core::node2vec_settle(job_.bias, near) ? go(i, candidate_[i]) : retry(i); }

  /// The step is decided. A lane whose work has run out appears in no list any more.
  void go(int i, vertex_id next)
  {
    before_first_[i] = first_[i];
    before_degree_[i] = degree_[i];
    if (lanes_.move(i, next, [this](int lane) { proposals_.prefetch_vertex(lanes_.vertex[lane]); })) {
      try_next_round(i);
    }
  }

  void end_dead(int i)
  {
    if (lanes_.finish_dead(i, [this](int lane) { proposals_.prefetch_vertex(lanes_.vertex[lane]); })) {
      try_next_round(i);
    }
  }

  void retry(int i)
  {
    lanes_.draws.draw[i] += Proposals::draws_a_trial;
    if (lanes_.draws.draw[i] < core::trial_limit(degree_[i]) * Proposals::draws_a_trial) {
      try_next_round(i);
      return;
    }
    vertex_id const next = fallback_.by_race(lanes_.position(i));
    next == no_vertex ? end_dead(i) : go(i, next);
  }

  walk_job const& job_;
  Proposals proposals_;
  walk_lanes<Ends, true, true> lanes_;
  scalar_stepper fallback_;
  edge_id first_[width], before_first_[width];  // the neighbourhood here, and the one before
  std::uint32_t degree_[width], before_degree_[width];
  edge_id edge_[width];         // the proposed edge
  vertex_id candidate_[width];  // what a search looks for, in [low, low + size)
  vertex_id const* low_[width];
  std::uint32_t size_[width];
  int lists_[2][width], searching_[width];
  int *trying_ = lists_[0], *next_ = lists_[1];  // lanes of this round and of the next
  int num_trying_ = 0, num_next_ = 0, num_searching_ = 0;
};

}  // namespace

void second_order_walk(walk_job const& job, walk_batch const& batch, walk_source& source)
{
  auto const& tables = *job.tables;
  auto const run = [&](auto proposals) {
    using proposals_t = decltype(proposals);
    job.may_end() ? second_order_lanes<true, proposals_t>(job, batch, source, proposals).run()
                  : second_order_lanes<false, proposals_t>(job, batch, source, proposals).run();
  };
  csr_arrays const& g = job.graph;
  if (tables.alias) {
    run(alias_proposals{g.indptr, tables.alias->data()});
  } else if (tables.edges) {
    run(record_proposals{g.indptr, tables.statistics->largest.data(), tables.edges->data()});
  } else if (job.params->weighted) {
    run(weighted_proposals{g.indptr, g.indices, g.weights, tables.statistics->largest.data()});
  } else {
    run(uniform_proposals{g.indptr, g.indices});
  }
}

}  // namespace tendril::cpu
