// node2vec walks with many walkers in step: src/core/node2vec.hpp judges proposals, most of them without looking at
// adjacency; the rest search the neighbours of the vertex before, one probe a phase. The plain loop of the same rules:
// src/cpu/walks/scalar_step.hpp. Where the bias folds, a search for the edge back comes before the first trial of a step.

#include <utility>

#include "core/node2vec.hpp"
#include "core/reject.hpp"
#include "cpu/walks/lane_walk.hpp"
#include "cpu/walks/lanes.hpp"
#include "cpu/walks/scalar_walk.hpp"  // step_after_trials

namespace tendril::cpu {
namespace {

constexpr int width = 192;              // bench/walks, axis width
constexpr std::uint32_t one_line = 16;  // neighbours in a cache line: from here on a search finishes at once

/// A proposal: the vertex, and what its judgement needs.
struct proposal {
  vertex_id target;
  float weight;
};

// A proposal source says how to prefetch a vertex and one of its edges, by which trials it proposes where the bias doesn't
// fold, whether judgements count weights, whether the walk is one of weights, and how to make a proposal of an edge and the
// bits that the trial's block has left. share() is the pair of core::node2vec_bias::extra_share of the edge at position i.
// A row is that of the vertex.

/// Uniform proposals, judged against the bias alone.
template <class View>
struct uniform_proposals {
  using trials = core::uniform_trials;
  static constexpr bool weighted = false;
  static constexpr bool of_weights = false;
  View graph;

  void prefetch_vertex(vertex_id v) const { graph.prefetch_row(v); }
  [[nodiscard]] float bound(vertex_id /*v*/) const { return 1.0F; }
  template <class Row>
  void prefetch_edge(Row const& row, std::uint32_t i) const
  {
    row.prefetch(i);
  }
  template <class Row>
  [[nodiscard]] proposal take(Row const& row, std::uint32_t i, std::uint64_t /*bits*/) const
  {
    return {row.neighbor(i), 1.0F};
  }
  template <class Row>
  [[nodiscard]] std::pair<double, double> share(vertex_id /*v*/, Row const& row, std::uint32_t /*i*/) const
  {
    return {1.0, double{1} * row.degree()};
  }
};

/// Uniform proposals, judged against the largest weight times the largest bias.
template <class View>
struct weighted_proposals {
  using trials = core::uniform_trials;
  static constexpr bool weighted = true;
  static constexpr bool of_weights = true;
  View graph;
  float const* largest;

  void prefetch_vertex(vertex_id v) const
  {
    graph.prefetch_row(v);
    if constexpr (!View::targets_by_number) { graph.prefetch_first_edge(v); }
    prefetch_address(largest + v);
  }
  [[nodiscard]] float bound(vertex_id v) const { return largest[v]; }
  template <class Row>
  void prefetch_edge(Row const& row, std::uint32_t i) const
  {
    row.prefetch(i);
    row.prefetch_weight(i);
  }
  template <class Row>
  [[nodiscard]] proposal take(Row const& row, std::uint32_t i, std::uint64_t /*bits*/) const
  {
    return {row.neighbor(i), row.weight(i)};
  }
  template <class Row>
  [[nodiscard]] std::pair<double, double> share(vertex_id v, Row const& row, std::uint32_t i) const
  {
    return {row.weight(i), double{largest[v]} * row.degree()};
  }
};

/// The same from records of neighbour and weight.
template <class View>
struct record_proposals {
  using trials = core::uniform_trials;
  static constexpr bool weighted = true;
  static constexpr bool of_weights = true;
  View graph;
  float const* largest;
  plan::edge_record const* edges;

  void prefetch_vertex(vertex_id v) const { weighted_proposals<View>{graph, largest}.prefetch_vertex(v); }
  [[nodiscard]] float bound(vertex_id v) const { return largest[v]; }
  template <class Row>
  void prefetch_edge(Row const& row, std::uint32_t i) const
  {
    prefetch_address(edges + row.edge(i));
  }
  template <class Row>
  [[nodiscard]] proposal take(Row const& row, std::uint32_t i, std::uint64_t /*bits*/) const
  {
    plan::edge_record const& r = edges[row.edge(i)];
    return {r.neighbor, r.weight};
  }
  template <class Row>
  [[nodiscard]] std::pair<double, double> share(vertex_id v, Row const& row, std::uint32_t i) const
  {
    return {edges[row.edge(i)].weight, double{largest[v]} * row.degree()};
  }
};

/// Proposals in proportion to the weights, judged against the bias alone.
template <class View>
struct alias_proposals {
  using trials = core::paired_trials;
  static constexpr bool weighted = false;
  static constexpr bool of_weights = true;
  View graph;
  plan::alias_record const* records;
  core::row_weight const* kept;  ///< Null where the bias doesn't fold.

  void prefetch_vertex(vertex_id v) const
  {
    graph.prefetch_row(v);
    if (kept != nullptr) { prefetch_address(kept + v); }
    if constexpr (!View::targets_by_number) { graph.prefetch_first_edge(v); }
  }
  [[nodiscard]] float bound(vertex_id /*v*/) const { return 1.0F; }
  template <class Row>
  void prefetch_edge(Row const& row, std::uint32_t i) const
  {
    prefetch_address(records + row.edge(i));
  }
  template <class Row>
  [[nodiscard]] proposal take(Row const& row, std::uint32_t i, std::uint64_t bits) const
  {
    return {core::alias_choose(records[row.edge(i)], bits), 1.0F};
  }
  template <class Row>
  [[nodiscard]] std::pair<double, double> share(vertex_id v, Row const& row, std::uint32_t i) const
  {
    core::row_weight const& weights = kept[v];
    if (weights.total == 0) { return {0, 0}; }
    return {static_cast<double>(weights.scale()(row.weight(i))), static_cast<double>(weights.total)};
  }
};

/// Where a row of each lane is. Numbers of edges are kept apart from degrees: a place that is written in two parts and
/// read as one soon after stalls.
template <class View, bool by_number = View::targets_by_number>
class lane_places {
 public:
  void set(int lane, typename View::place const& at) { at_[lane] = at; }
  [[nodiscard]] typename View::place operator[](int lane) const { return at_[lane]; }
  [[nodiscard]] std::uint32_t degree(int lane) const { return at_[lane].degree; }

 private:
  typename View::place at_[width];
};
template <class View>
class lane_places<View, true> {
 public:
  void set(int lane, typename View::place const& at)
  {
    first_[lane] = at.first;
    degree_[lane] = at.degree;
  }
  [[nodiscard]] typename View::place operator[](int lane) const { return {first_[lane], degree_[lane]}; }
  [[nodiscard]] std::uint32_t degree(int lane) const { return degree_[lane]; }

 private:
  edge_id first_[width];
  std::uint32_t degree_[width];
};

template <bool Ends, class View, class Proposals>
class second_order_lanes {
 public:
  second_order_lanes(walk_job const& job, View const& graph, walk_batch const& batch, walk_source& source,
                     Proposals proposals)
      : job_(job), graph_(graph), proposals_(proposals), lanes_(job, batch, source)
  {
  }

  /// Flat: there is a class for every form and rule, so that the compiler would else leave calls in the loops.
  [[gnu::flatten]] void run()
  {
    lanes_.fill(width, [this](int lane) { proposals_.prefetch_vertex(lanes_.vertex[lane]); });
    for (int i = 0; i < lanes_.active(); ++i) { try_next_round(i); }
    while (num_next_ + num_searching_ > 0) {
      std::swap(trying_, next_);
      num_trying_ = std::exchange(num_next_, 0);
      lanes_.draw(0, lanes_.active());
      if (folds_) { find_edges_back(); }
      locate();
      probe();
      judge();
      probe();
    }
  }

 private:
  /// Phase 0, of lanes whose step begins: where the edge back is, one probe of each search after the other.
  void find_edges_back()
  {
    int num_left = 0;
    for (int k = 0; k < num_trying_; ++k) {
      int const i = trying_[k];
      if (lanes_.draws.draw[i] != 0 || lanes_.previous[i] == no_vertex) { continue; }
      auto const at = graph_.locate(lanes_.vertex[i]);
      here_.set(i, at);
      if (at.degree == 0) { continue; }
      low_[i] = 0;
      size_[i] = at.degree;
      row(i).prefetch(at.degree / 2);
      finding_[num_left++] = i;
    }
    while (num_left > 0) {
      int const finding = std::exchange(num_left, 0);
      for (int k = 0; k < finding; ++k) {
        int const i = finding_[k];
        auto const list = row(i);
        if (search(i, list, lanes_.previous[i])) {
          share_[i] = share_of(i, list);
        } else {
          finding_[num_left++] = i;
        }
      }
    }
  }

  /// @param list  Where search() has found the last target that is not above the vertex before.
  template <class Row>
  [[nodiscard]] core::return_share share_of(int i, Row const& list) const
  {
    vertex_id const previous = lanes_.previous[i];
    std::uint32_t const last = low_[i];
    bool const again = last > 0 && list.neighbor(last - 1) == previous;
    auto const back = core::return_edge::in(list, again ? last - 1 : last, previous);
    return core::return_share_of(
        job_.bias, back, [&](std::uint32_t position) { return proposals_.share(lanes_.vertex[i], list, position); });
  }

  /// Phase 1: where the proposed edge is. Remembers the neighbourhood, for the search one step later.
  void locate()
  {
    for (int k = 0; k < num_trying_; ++k) {
      int const i = trying_[k];
      auto const at = graph_.locate(lanes_.vertex[i]);
      here_.set(i, at);
      if (at.degree == 0) { continue; }
      pick_[i] = core::bounded(lanes_.draws.low[i], at.degree);
      proposals_.prefetch_edge(graph_.row(lanes_.vertex[i], at), pick_[i]);
    }
  }

  /// Phase 2: judge the proposals. Lanes try again next round, or wait in `searching_` for adjacency.
  void judge()
  {
    for (int k = 0; k < num_trying_; ++k) {
      int const i = trying_[k];
      if (here_.degree(i) == 0) {
        end_dead(i);
        continue;
      }
      proposal const p = proposals_.take(row(i), pick_[i], lanes_.draws.high[i]);
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
    core::decision_draws<> const draws{job_.step_key, lanes_.draws.item[i], lanes_.draws.step[i]};
    std::uint32_t const first = lanes_.draws.draw[i];
    if (!folds_) {
      judge_by(job_.bias, i, p, bound, Proposals::trials::judgement(draws, first, lanes_.draws.high[i]));
      return;
    }
    core::random_block const bits = core::paired_trials::second(draws, first);
    if (share_[i].hit(bits.high())) {
      go(i, lanes_.previous[i]);
    } else {
      judge_by(share_[i].judge_by(job_.bias), i, p, bound, bits.low());
    }
  }

  void judge_by(core::node2vec_bias const& bias, int i, proposal p, float bound, std::uint64_t bits)
  {
    switch (core::node2vec_judge(bias, bits, p.weight, bound, p.target == lanes_.previous[i])) {
      case core::verdict::accepted: go(i, p.target); return;
      case core::verdict::rejected: retry(i); return;
      case core::verdict::needs_adjacency: break;
    }
    candidate_[i] = p.target;
    low_[i] = 0;
    size_[i] = before_.degree(i);
    if (size_[i] == 0) {
      settle(i, false);
      return;
    }
    row_before(i).prefetch(size_[i] / 2);
    searching_[num_searching_++] = i;
  }

  /// One probe of each search.
  void probe()
  {
    int const searching = std::exchange(num_searching_, 0);
    for (int k = 0; k < searching; ++k) {
      int const i = searching_[k];
      auto const list = row_before(i);
      if (search(i, list, candidate_[i])) {
        settle(i, list.neighbor(low_[i]) == candidate_[i]);
      } else {
        searching_[num_searching_++] = i;
      }
    }
  }

  /// One probe of a lane's search for x in `list`, whose range [low, low + size) is not empty.
  /// @return whether it is over: low is the last target that is not above x, or the first of all.
  template <class Row>
  [[gnu::always_inline]] bool search(int i, Row const& list, vertex_id x)
  {
    std::uint32_t low = low_[i];  // in registers, or the halving takes branches
    std::uint32_t size = size_[i];
    bool const is_over = size <= one_line;
    if (is_over) {
      while (size > 1) { search_halve(list, low, size, x); }
    } else {
      search_halve(list, low, size, x);
      list.prefetch(low + size / 2);
    }
    low_[i] = low;
    size_[i] = size;
    return is_over;
  }

  [[nodiscard]] auto row(int i) const { return graph_.row(lanes_.vertex[i], here_[i]); }
  [[nodiscard]] auto row_before(int i) const { return graph_.row(lanes_.previous[i], before_[i]); }

  void try_next_round(int i) { next_[num_next_++] = i; }

  void settle(int i, bool near) { core::node2vec_settle(job_.bias, near) ? go(i, candidate_[i]) : retry(i); }

  /// The step is decided. A lane whose work has run out appears in no list any more.
  void go(int i, vertex_id next)
  {
    before_.set(i, here_[i]);
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
    std::uint32_t const degree = here_.degree(i);
    std::uint32_t const limit = Proposals::of_weights ? core::weighted_trial_limit(degree) : core::trial_limit(degree);
    bool const in_pairs = folds_ && lanes_.previous[i] != no_vertex;
    std::uint32_t const blocks = in_pairs ? core::paired_trials::blocks : Proposals::trials::blocks;
    lanes_.draws.draw[i] += blocks;
    if (lanes_.draws.draw[i] < limit * blocks) {
      try_next_round(i);
      return;
    }
    vertex_id const next = step_after_trials(job_, lanes_.position(i));
    next == no_vertex ? end_dead(i) : go(i, next);
  }

  walk_job const& job_;
  View graph_;
  Proposals proposals_;
  walk_lanes<Ends, true, true> lanes_;
  lane_places<View> here_, before_;  // the neighbourhood here, and the one before
  std::uint32_t pick_[width];        // the proposed edge of the one here
  vertex_id candidate_[width];       // what a search looks for before, in [low, low + size)
  std::uint32_t low_[width], size_[width];
  core::return_share share_[width];  // of a step's trials, where the bias folds
  bool const folds_ = job_.bias.folds();
  int lists_[2][width], searching_[width], finding_[width];
  int *trying_ = lists_[0], *next_ = lists_[1];  // lanes of this round and of the next
  int num_trying_ = 0, num_next_ = 0, num_searching_ = 0;
};

}  // namespace

void second_order_walk(walk_job const& job, walk_batch const& batch, walk_source& source)
{
  auto const& tables = *job.tables;
  job.graph.visit([&]<class View>(View const& graph) {
    auto const run = [&]<class Proposals>(Proposals const& proposals) {
      job.may_end() ? second_order_lanes<true, View, Proposals>(job, graph, batch, source, proposals).run()
                    : second_order_lanes<false, View, Proposals>(job, graph, batch, source, proposals).run();
    };
    if (tables.alias) {
      run(alias_proposals<View>{graph, tables.alias->data(), tables.sums ? tables.sums->rows.data() : nullptr});
    } else if (tables.edges) {
      run(record_proposals<View>{graph, tables.statistics->largest.data(), tables.edges->data()});
    } else if (job.params->weighted) {
      run(weighted_proposals<View>{graph, tables.statistics->largest.data()});
    } else {
      run(uniform_proposals<View>{graph});
    }
  });
}

}  // namespace tendril::cpu
