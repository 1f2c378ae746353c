// One step of one walker, for every application and rule, straight from the rules of src/core, by the tables of the plan
// where it has some. It serves the plans that read whole neighbourhoods (scan, online layouts), walks by regions, steps
// whose trials ran out, and, without tables, as the plain loop that the interleaved executors are tested against.

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/alias.hpp"
#include "core/its.hpp"
#include "core/reject.hpp"
#include "cpu/picks/race.hpp"
#include "cpu/walks/job.hpp"

namespace tendril::cpu {

/// Chooses neighbours for one walker at a time. One object a thread: it holds the scratch of label filters.
/// @tparam View  Of the job's graph.
template <class View>
class scalar_stepper {
 public:
  scalar_stepper(walk_job const& job, View const& graph) : job_(job), graph_(graph) {}

  /// The next vertex, or no_vertex at a dead end.
  [[nodiscard]] vertex_id operator()(walker_position const& at)
  {
    std::int64_t const before = num_trials_;
    vertex_id const next = step(at);
    if (num_trials_ == before) { ++num_trials_; }
    return next;
  }

  /// Decides a step whose trials ran out.
  [[nodiscard]] vertex_id after_trials(walker_position const& at)
  {
    if (is_biased(at)) { return biased_after_trials(at, graph_.row(at.vertex)); }
    if (job_.tables->sums) {
      return with_table_row(at, [&](std::int64_t number, auto const& row) {
        std::uint64_t const bits = bits_after_trials(at, row.degree());
        return row.neighbor(core::summed_its_pick(sums_of(number, row), bits));
      });
    }
    row_type const row = graph_.row(at.vertex);
    if (job_.params->metapath.empty()) { return invert(at, row, row.degree(), every_position{}); }
    filter(row, job_.wanted_label(at.step));
    return invert(at, row, num_matching(), matching_positions{matching_.data()});
  }

  /// Trials of all steps so far; a step without one counts as one.
  [[nodiscard]] std::int64_t num_trials() const { return num_trials_; }

 private:
  using row_type = typename View::row_type;

  // Which edge of the row candidate i is.
  struct every_position {
    [[nodiscard]] std::uint32_t operator()(std::uint32_t i) const { return i; }
  };
  struct matching_positions {
    std::uint32_t const* positions;
    [[nodiscard]] std::uint32_t operator()(std::uint32_t i) const { return positions[i]; }
  };

  [[nodiscard]] vertex_id step(walker_position const& at)
  {
    if (job_.tables->prefix_sums) { return by_prefix_sums(at); }
    if (job_.tables->alias && !is_biased(at)) { return by_alias_table(at); }
    if (job_.tables->sums && job_.plan->rule != sampling_rule::reject && !is_biased(at)) { return by_sums(at); }
    row_type const row = graph_.row(at.vertex);
    if (job_.params->metapath.empty()) { return choose(at, row, row.degree(), every_position{}); }
    if (job_.plan->rule == sampling_rule::scan) { return race_of_label(at, row, job_.wanted_label(at.step)); }
    filter(row, job_.wanted_label(at.step));
    return choose(at, row, num_matching(), matching_positions{matching_.data()});
  }

  /// Calls f(number, row) with the row that tables are of: the groups' where the plan groups by label.
  template <class F>
  [[nodiscard]] vertex_id with_table_row(walker_position const& at, F f) const
  {
    plan::label_groups const* const groups = job_.tables->groups.get();
    if (groups == nullptr) { return f(std::int64_t{at.vertex}, graph_.row(at.vertex)); }
    std::int64_t const number = at.vertex * groups->num_labels + job_.wanted_label(at.step);
    return f(number, csr_view(groups->rows).row(number));
  }

  /// A row with the sums that are kept of it. It has a positive weight.
  template <class Row>
  [[nodiscard]] auto sums_of(std::int64_t number, Row const& row) const
  {
    return job_.tables->sums->row(number, row.first_edge(), [&row](std::uint32_t i) { return row.weight(i); });
  }

  /// Pick of a row by the sums of its weights; the bits are those of one block. The row has edges.
  template <class Row>
  [[nodiscard]] std::uint32_t summed_pick(std::int64_t number, Row const& row, core::random_block const& bits) const
  {
    if (job_.tables->sums->rows[number].total == 0) { return core::no_pick; }
    auto const summed = sums_of(number, row);
    return job_.plan->rule == sampling_rule::its ? core::summed_its_pick(summed, bits.low())
                                                 : core::summed_alias_pick(summed, bits.low(), bits.high());
  }

  [[nodiscard]] vertex_id by_sums(walker_position const& at) const
  {
    return with_table_row(at, [&](std::int64_t number, auto const& row) {
      if (row.empty()) { return no_vertex; }
      std::uint32_t const pick = summed_pick(number, row, draws_of(at).block(0));
      return pick == core::no_pick ? no_vertex : row.neighbor(pick);
    });
  }

  /// A row's alias pick by its table; the bits are those of one block. The row has edges.
  template <class Row>
  [[nodiscard]] vertex_id alias_pick(Row const& row, core::random_block const& bits) const
  {
    edge_id const bucket = row.edge(core::bounded(bits.low(), row.degree()));
    return core::alias_choose((*job_.tables->alias)[bucket], bits.high());
  }

  [[nodiscard]] vertex_id by_alias_table(walker_position const& at) const
  {
    return with_table_row(at, [&](std::int64_t, auto const& row) {
      return row.empty() ? no_vertex : alias_pick(row, draws_of(at).block(0));
    });
  }

  /// The its rule by its table.
  [[nodiscard]] vertex_id by_prefix_sums(walker_position const& at) const
  {
    return with_table_row(at, [&](std::int64_t, auto const& row) { return by_prefix_sums(at, row); });
  }
  template <class Row>
  [[nodiscard]] vertex_id by_prefix_sums(walker_position const& at, Row const& row) const
  {
    if (row.empty()) { return no_vertex; }
    std::uint64_t const* const sums = job_.tables->prefix_sums->data() + row.first_edge();
    std::uint32_t const pick = core::its_pick(sums, row.degree(), draws_of(at).block(0).low());
    return pick == core::no_pick ? no_vertex : row.neighbor(pick);
  }

  /// Whether edge i carries `label`, or its target does.
  [[nodiscard]] bool carries(row_type const& row, std::uint32_t i, label_id label) const
  {
    bool const of_targets = job_.params->metapath_of == metapath_kind::vertex_types;
    return (of_targets ? graph_.node_types[row.neighbor(i)] : row.label(i)) == label;
  }

  /// Lists the positions of the edges that carry `label`.
  void filter(row_type const& row, label_id label)
  {
    matching_.clear();
    for (std::uint32_t i = 0; i < row.degree(); ++i) {
      if (carries(row, i, label)) { matching_.push_back(i); }
    }
  }
  [[nodiscard]] std::uint32_t num_matching() const { return static_cast<std::uint32_t>(matching_.size()); }

  /// The scan rule with a metapath: a race over the whole neighbourhood, in which other labels weigh nothing. It needs
  /// no list of matches, so it is the same walk where there is no room for one.
  [[nodiscard]] vertex_id race_of_label(walker_position const& at, row_type const& row, label_id label) const
  {
    auto const weight_of = [&](std::uint32_t i) { return carries(row, i, label) ? weight(row, i) : 0.0F; };
    std::uint64_t const winner = race_one(row.degree(), weight_of, weight_of, counter_of(at));
    return core::race_has_winner(winner) ? row.neighbor(core::race_index(winner)) : no_vertex;
  }

  [[nodiscard]] core::decision_draws<> draws_of(walker_position const& at) const
  {
    return core::walk_draws(job_.step_key, at.walk, at.step);
  }
  [[nodiscard]] race_counter counter_of(walker_position const& at) const { return {draws_of(at), core::race_draws}; }

  [[nodiscard]] float weight(row_type const& row, std::uint32_t i) const
  {
    return job_.params->weighted ? row.weight(i) : 1.0F;
  }

  /// The largest weight of a whole row: as the plan's statistics have it, or by going over all weights.
  [[nodiscard]] float largest_weight(walker_position const& at, row_type const& row) const
  {
    if (!job_.params->weighted) { return row.empty() ? 0.0F : 1.0F; }
    if (job_.tables->statistics) { return job_.tables->statistics->largest[at.vertex]; }
    return core::largest_weight(row.degree(), [&](std::uint32_t i) { return row.weight(i); });
  }

  template <class Position>
  [[nodiscard]] vertex_id choose(walker_position const& at, row_type const& row, std::uint32_t size, Position position)
  {
    if (size == 0) { return no_vertex; }
    auto const weight_of = [&](std::uint32_t i) { return weight(row, position(i)); };
    auto const target = [&](std::uint32_t i) { return i == core::no_pick ? no_vertex : row.neighbor(position(i)); };
    core::decision_draws<> const draws = draws_of(at);
    switch (job_.plan->rule) {
      case sampling_rule::scan: return race(at, row, size, position);
      case sampling_rule::alias: {
        // Second-order walks have no metapath; their first step has no bias.
        if (is_biased(at)) { return choose_biased<alias_proposals>(at, row); }
        core::random_block const block = draws.block(0);
        return target(core::alias_scan(size, weight_of, block.low(), block.high()));
      }
      case sampling_rule::its: return target(core::its_scan(size, weight_of, draws.block(0).low()));
      case sampling_rule::reject: break;
      case sampling_rule::automatic:
      case sampling_rule::uniform: return target(core::bounded(draws.block(0).low(), size));
    }
    if (is_biased(at)) {
      return job_.bias.folds() ? choose_biased<paired_proposals>(at, row) : choose_biased<uniform_proposals>(at, row);
    }
    bool const of_all = job_.params->metapath.empty();
    double const bound = of_all ? largest_weight(at, row) : core::largest_weight(size, weight_of);
    if (!(bound > 0)) { return no_vertex; }
    std::uint32_t pick = 0;
    bool const settled = core::settle_by_trials<core::uniform_trials>(
        core::weighted_trial_limit(size), draws, [&](auto const& block, auto judgement) {
          ++num_trials_;
          pick = core::bounded(block.low(), size);
          return core::accept(judgement(), weight_of(pick), bound);
        });
    return settled ? target(pick) : after_trials(at);
  }

  [[nodiscard]] bool is_biased(walker_position const& at) const
  {
    return job_.second_order && at.previous != no_vertex;
  }

  // How trials of a biased step propose: by which blocks, and whether in proportion to the weights.
  struct uniform_proposals {
    using trials = core::uniform_trials;
    static constexpr bool by_alias = false;
  };
  struct paired_proposals {  // where the bias folds
    using trials = core::paired_trials;
    static constexpr bool by_alias = false;
  };
  struct alias_proposals {
    using trials = core::paired_trials;
    static constexpr bool by_alias = true;
  };

  /// A step with a vertex before it, by rejection or by alias proposals (scans are races).
  template <class Proposals>
  [[nodiscard]] vertex_id choose_biased(walker_position const& at, row_type const& row)
  {
    using trials = typename Proposals::trials;
    constexpr bool by_alias = Proposals::by_alias;
    std::uint32_t const degree = row.degree();
    auto const weight_of = [&](std::uint32_t i) { return weight(row, i); };
    double const bound = by_alias ? 1.0 : largest_weight(at, row);
    if (!(bound > 0)) { return no_vertex; }
    core::return_share const share = share_of_return<by_alias>(at, row, bound);
    core::node2vec_bias const bias = share.judge_by(job_.bias);
    vertex_id x = no_vertex;
    bool const settled =
        core::settle_by_trials<trials>(trial_limit(degree), draws_of(at), [&](auto const& block, auto judgement) {
          ++num_trials_;
          if constexpr (!std::is_same_v<trials, core::uniform_trials>) {
            if (share.hit(judgement.of_return())) {
              x = at.previous;
              return true;
            }
          }
          double w = 1.0;
          if (by_alias && job_.tables->alias) {
            x = alias_pick(row, block);
          } else {
            std::uint32_t const i = !by_alias ? core::bounded(block.low(), degree)
                                    : job_.tables->sums
                                        ? summed_pick(at.vertex, row, block)
                                        : core::alias_scan(degree, weight_of, block.low(), block.high());
            x = i == core::no_pick ? no_vertex : row.neighbor(i);
            if (!by_alias) { w = weight_of(i); }
          }
          if (x == no_vertex) { return true; }
          switch (core::node2vec_judge(bias, judgement(), w, bound, x == at.previous)) {
            case core::verdict::accepted: return true;
            case core::verdict::rejected: return false;
            case core::verdict::needs_adjacency: break;
          }
          return core::node2vec_settle(bias, graph_.has_edge(at.previous, x));
        });
    return settled ? x : after_trials(at);
  }

  /// How the trials of a biased step treat the edge back. @param bound  Of the row's weights, where proposals are uniform.
  template <bool by_alias>
  [[nodiscard]] core::return_share share_of_return(walker_position const& at, row_type const& row, double bound) const
  {
    if (!job_.bias.folds()) { return core::return_share::judged(); }
    auto const back = core::return_edge::in(row, row.find(at.previous), at.previous);
    return core::return_share_of(job_.bias, back, [&](std::uint32_t i) -> std::pair<double, double> {
      if (!by_alias) { return {weight(row, i), bound * row.degree()}; }
      core::row_weight const kept = weight_of_row(at, row);
      if (kept.total == 0) { return {0, 0}; }
      return {static_cast<double>(kept.scale()(row.weight(i))), static_cast<double>(kept.total)};
    });
  }

  /// What is kept of a row's weights, or the same from the row.
  [[nodiscard]] core::row_weight weight_of_row(walker_position const& at, row_type const& row) const
  {
    if (job_.tables->sums) { return job_.tables->sums->rows[at.vertex]; }
    core::row_weight out{0, largest_weight(at, row), row.degree()};
    if (!(out.largest > 0)) { return out; }
    core::fixed_point const scale = out.scale();
    for (std::uint32_t i = 0; i < row.degree(); ++i) { out.total += scale(row.weight(i)); }
    return out;
  }

  /// How many trials a biased step has before something else decides.
  [[nodiscard]] std::uint32_t trial_limit(std::uint32_t degree) const
  {
    return job_.params->weighted ? core::weighted_trial_limit(degree) : core::trial_limit(degree);
  }

  /// The bits of an inverse transform behind the trials of a step without a bias.
  [[nodiscard]] std::uint64_t bits_after_trials(walker_position const& at, std::uint32_t size) const
  {
    return draws_of(at).block(core::weighted_trial_limit(size)).low();
  }
  template <class Position>
  [[nodiscard]] vertex_id invert(walker_position const& at, row_type const& row, std::uint32_t size,
                                 Position position) const
  {
    auto const weight_of = [&](std::uint32_t i) { return weight(row, position(i)); };
    return row.neighbor(position(core::its_scan(size, weight_of, bits_after_trials(at, size))));
  }

  [[nodiscard]] vertex_id biased_after_trials(walker_position const& at, row_type const& row)
  {
    if (!job_.params->weighted) { return race(at, row, row.degree(), every_position{}); }
    if (job_.tables->sums) { return settle_biased(at, row, sums_of(at.vertex, row)); }
    core::row_weight const kept = weight_of_row(at, row);
    sums_.resize(row.degree() / core::summed_edges + std::size_t{1});
    core::summed_row const summed(kept, sums_.data(), [&row](std::uint32_t i) { return row.weight(i); });
    core::fill_sums(summed, sums_.data());
    return settle_biased(at, row, summed);
  }
  template <class Sums>
  [[nodiscard]] vertex_id settle_biased(walker_position const& at, row_type const& row, Sums const& sums)
  {
    core::node2vec_settlement const settlement(job_.bias, row, sums, at.previous);
    bool const in_pairs = job_.plan->rule == sampling_rule::alias || job_.bias.folds();
    std::uint32_t const first = trial_limit(row.degree()) * (in_pairs ? core::paired_trials::blocks : 1);
    for (std::uint32_t number = 0; number < core::trial_limit(row.degree()); ++number) {
      ++num_trials_;
      std::uint32_t const pick =
          settlement.trial(number, first, draws_of(at), [&](vertex_id x) { return graph_.has_edge(at.previous, x); });
      if (pick != core::no_pick) { return row.neighbor(pick); }
    }
    return race(at, row, row.degree(), every_position{});
  }

  template <class Position>
  [[nodiscard]] vertex_id race(walker_position const& at, row_type const& row, std::uint32_t size,
                               Position position) const
  {
    auto const static_weight = [&](std::uint32_t i) { return weight(row, position(i)); };
    std::uint64_t const winner =
        is_biased(at) ? biased_race(at, row) : race_one(size, static_weight, static_weight, counter_of(at));
    return core::race_has_winner(winner) ? row.neighbor(position(core::race_index(winner))) : no_vertex;
  }

  /// The race of a step with a bias, over the whole neighbourhood: p and q don't go together with a MetaPath. Only
  /// candidates that may win by the largest factor have their adjacency looked up.
  [[nodiscard]] std::uint64_t biased_race(walker_position const& at, row_type const& row) const
  {
    auto const bound_of = [&](std::uint32_t i) { return weight(row, i) * job_.bias.largest; };
    auto const weight_of = [&](std::uint32_t i) {
      vertex_id const x = row.neighbor(i);
      return core::node2vec_weight(job_.bias, weight(row, i), x, at.previous,
                                   [&] { return graph_.has_edge(at.previous, x); });
    };
    return race_one(row.degree(), bound_of, weight_of, counter_of(at));
  }

  walk_job const& job_;
  View graph_;
  std::vector<std::uint32_t> matching_;
  std::vector<core::weight_sum> sums_;  // of the row of a step whose trials ran out
  std::int64_t num_trials_ = 0;
};

}  // namespace tendril::cpu
