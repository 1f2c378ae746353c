// One step of one walker, for every application and rule, straight from the rules of src/core and without any table
// but prefix sums. It serves the plans that read whole neighbourhoods (scan, online layouts), steps whose trials ran
// out, and as the plain loop that the interleaved executors are measured and tested against.

#pragma once

#include <cstdint>
#include <vector>

#include "core/alias.hpp"
#include "core/its.hpp"
#include "core/labels.hpp"
#include "cpu/picks/race.hpp"
#include "cpu/walks/job.hpp"

namespace tendril::cpu {

/// Where a walker stands.
struct walker_position {
  std::uint64_t walk;  ///< Logical id.
  std::int32_t step;   ///< Steps taken so far.
  vertex_id vertex;
  vertex_id previous;  ///< no_vertex before the first edge, and after a restart.
};

/// Chooses neighbours for one walker at a time. One object a thread: it holds the scratch of label filters.
class scalar_stepper {
 public:
  explicit scalar_stepper(walk_job const& job) : job_(job) {}

  /// The next vertex, or no_vertex at a dead end.
  [[nodiscard]] vertex_id operator()(walker_position const& at)
  {
    if (job_.tables->prefix_sums) { return by_prefix_sums(at); }
    edge_id const first = job_.graph.first_edge(at.vertex);
    std::uint32_t const degree = job_.graph.degree(at.vertex);
    if (job_.params->metapath.empty()) {
      return choose(at, first, degree, [](std::uint32_t i) { return i; });
    }
    if (job_.plan->rule == sampling_rule::scan) { return race_of_label(at, first, degree, job_.wanted_label(at.step)); }
    filter(first, degree, job_.wanted_label(at.step));
    return choose(at, first, static_cast<std::uint32_t>(matching_.size()),
                  [this](std::uint32_t i) { return matching_[i]; });
  }

  /// Decides a step by one race over its candidates: the way out when trials run out.
  [[nodiscard]] vertex_id by_race(walker_position const& at)
  {
    edge_id const first = job_.graph.first_edge(at.vertex);
    std::uint32_t const degree = job_.graph.degree(at.vertex);
    if (job_.params->metapath.empty()) {
      return race(at, first, degree, [](std::uint32_t i) { return i; });
    }
    filter(first, degree, job_.wanted_label(at.step));
    return race(at, first, static_cast<std::uint32_t>(matching_.size()),
                [this](std::uint32_t i) { return matching_[i]; });
  }

 private:
  /// The its rule by its table, which holds the groups where the plan groups by label.
  [[nodiscard]] vertex_id by_prefix_sums(walker_position const& at) const
  {
    plan::label_groups const* const groups = job_.tables->groups.get();
    csr_arrays const& view = groups != nullptr ? groups->rows : job_.graph;
    std::int64_t const row =
        groups != nullptr ? at.vertex * groups->num_labels + job_.wanted_label(at.step) : std::int64_t{at.vertex};
    edge_id const first = view.indptr[row];
    auto const size = static_cast<std::uint32_t>(view.indptr[row + 1] - first);
    if (size == 0) { return no_vertex; }
    std::uint32_t const pick = core::its_pick(job_.tables->prefix_sums->data() + first, size, draw(at, 0).low());
    return pick == core::no_pick ? no_vertex : view.indices[first + pick];
  }

  /// Whether an edge carries `label`, or its target does.
  [[nodiscard]] bool carries(edge_id e, label_id label) const
  {
    bool const of_targets = job_.params->metapath_of == metapath_kind::vertex_types;
    return (of_targets ? job_.graph.node_types[job_.graph.indices[e]] : job_.graph.edge_labels[e]) == label;
  }

  /// Lists the positions of the edges that carry `label`.
  void filter(edge_id first, std::uint32_t degree, label_id label)
  {
    matching_.clear();
    for (std::uint32_t i = 0; i < degree; ++i) {
      if (carries(first + i, label)) { matching_.push_back(i); }
    }
  }

  /// The scan rule with a metapath: a race over the whole neighbourhood, in which other labels weigh nothing. It needs
  /// no list of matches, so it is the same walk where there is no room for one.
  [[nodiscard]] vertex_id race_of_label(walker_position const& at, edge_id first, std::uint32_t degree,
                                        label_id label) const
  {
    auto const weight_of = [&](std::uint32_t i) { return carries(first + i, label) ? weight(first + i) : 0.0F; };
    race_counter const counter{job_.step_key, at.walk, static_cast<std::uint32_t>(at.step), core::race_draws};
    std::uint64_t const winner = race_one(degree, weight_of, weight_of, counter);
    return core::race_has_winner(winner) ? job_.graph.indices[first + core::race_index(winner)] : no_vertex;
  }

  [[nodiscard]] core::random_block draw(walker_position const& at, std::uint32_t i) const
  {
    return core::draw_block(job_.step_key, at.walk, static_cast<std::uint32_t>(at.step), i);
  }

  [[nodiscard]] float weight(edge_id e) const { return job_.params->weighted ? job_.graph.weights[e] : 1.0F; }

  template <class Position>
  [[nodiscard]] vertex_id choose(walker_position const& at, edge_id first, std::uint32_t size, Position position)
  {
    if (size == 0) { return no_vertex; }
    auto const weight_of = [&](std::uint32_t i) { return weight(first + position(i)); };
    auto const target = [&](std::uint32_t i) {
      return i == core::no_pick ? no_vertex : job_.graph.indices[first + position(i)];
    };
    if (job_.second_order && at.previous != no_vertex) { return choose_biased(at, first, size); }
    // The first step of a second-order walk has no bias: it is a trial of the same kind with all factors 1.
    core::random_block const block = draw(at, 0);
    switch (job_.plan->rule) {
      case sampling_rule::automatic:
      case sampling_rule::uniform: return target(core::bounded(block.low(), size));
      case sampling_rule::scan: return race(at, first, size, position);
      case sampling_rule::alias: return target(core::alias_scan(size, weight_of, block.low(), block.high()));
      case sampling_rule::its: return target(core::its_scan(size, weight_of, block.low()));
      case sampling_rule::reject: break;
    }
    double const bound = core::largest_weight(size, weight_of);
    if (!(bound > 0)) { return no_vertex; }
    for (std::uint32_t trial = 0; trial < core::trial_limit(size); ++trial) {
      core::random_block const bits = trial == 0 ? block : draw(at, trial);
      std::uint32_t const i = core::bounded(bits.low(), size);
      if (core::accept(bits.high(), weight_of(i), bound)) { return target(i); }
    }
    return race(at, first, size, position);
  }

  /// A step with a vertex before it, by rejection or by alias proposals (scans are races).
  [[nodiscard]] vertex_id choose_biased(walker_position const& at, edge_id first, std::uint32_t degree)
  {
    auto const weight_of = [&](std::uint32_t i) { return weight(first + i); };
    bool const by_alias = job_.plan->rule == sampling_rule::alias;
    if (job_.plan->rule == sampling_rule::scan) {
      return race(at, first, degree, [](std::uint32_t i) { return i; });
    }
    double const bound = by_alias ? 1.0 : core::largest_weight(degree, weight_of);
    if (!(bound > 0)) { return no_vertex; }
    for (std::uint32_t trial = 0; trial < core::trial_limit(degree); ++trial) {
      // An alias proposal takes a whole block, so its judgement has the next one.
      core::random_block const bits = draw(at, by_alias ? 2 * trial : trial);
      std::uint32_t const i =
          by_alias ? core::alias_scan(degree, weight_of, bits.low(), bits.high()) : core::bounded(bits.low(), degree);
      if (i == core::no_pick) { return no_vertex; }
      std::uint64_t const judgement = by_alias ? draw(at, 2 * trial + 1).low() : bits.high();
      double const w = by_alias ? 1.0 : weight_of(i);
      vertex_id const x = job_.graph.indices[first + i];
      switch (core::node2vec_judge(job_.bias, judgement, w, bound, x == at.previous)) {
        case core::verdict::accepted: return x;
        case core::verdict::rejected: continue;
        case core::verdict::needs_adjacency: break;
      }
      if (core::node2vec_settle(job_.bias, is_edge(at.previous, x))) { return x; }
    }
    return race(at, first, degree, [](std::uint32_t i) { return i; });
  }

  [[nodiscard]] bool is_edge(vertex_id from, vertex_id to) const
  {
    return core::contains(job_.graph.indices + job_.graph.first_edge(from), job_.graph.degree(from), to);
  }

  template <class Position>
  [[nodiscard]] vertex_id race(walker_position const& at, edge_id first, std::uint32_t size, Position position) const
  {
    auto const step = static_cast<std::uint32_t>(at.step);
    race_counter const counter{job_.step_key, at.walk, step, core::race_draws};
    auto const static_weight = [&](std::uint32_t i) { return weight(first + position(i)); };
    std::uint64_t const winner = job_.second_order && at.previous != no_vertex
                                     ? biased_race(at, first, size, counter)
                                     : race_one(size, static_weight, static_weight, counter);
    return core::race_has_winner(winner) ? job_.graph.indices[first + position(core::race_index(winner))] : no_vertex;
  }

  /// The race of a step with a bias, over the whole neighbourhood: p and q don't go together with a MetaPath. Only
  /// candidates that may win by the largest factor have their adjacency looked up; no float32 product weight * factor
  /// exceeds that one, since rounding is monotone.
  [[nodiscard]] std::uint64_t biased_race(walker_position const& at, edge_id first, std::uint32_t size,
                                          race_counter const& counter) const
  {
    auto const bound_of = [&](std::uint32_t i) { return weight(first + i) * job_.bias.largest; };
    auto const weight_of = [&](std::uint32_t i) {
      vertex_id const x = job_.graph.indices[first + i];
      bool const is_back = x == at.previous;
      return weight(first + i) * core::node2vec_factor(job_.bias, is_back, !is_back && is_edge(at.previous, x));
    };
    return race_one(size, bound_of, weight_of, counter);
  }

  walk_job const& job_;
  std::vector<std::uint32_t> matching_;
};

}  // namespace tendril::cpu
