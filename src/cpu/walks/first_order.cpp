// First-order walks with many walkers in step. The rules: src/core/{random,reject,alias,its}.hpp. The plain loop of the
// same rules: src/cpu/walks/scalar_walk.cpp.

#include <algorithm>
#include <utility>
#include <vector>

#include "core/alias.hpp"
#include "core/its.hpp"
#include "core/reject.hpp"
#include "cpu/walks/lane_walk.hpp"
#include "cpu/walks/lanes.hpp"
#include "cpu/walks/row.hpp"
#include "cpu/walks/scalar_walk.hpp"  // step_after_trials

namespace tendril::cpu {
namespace {

constexpr int walkers_at_once = 192;  // bench/walks, axis width

/// Which row holds a vertex's candidates: the neighbourhood, or its group for the label that the step must follow.
struct whole_neighborhood {
  [[nodiscard]] std::int64_t row(vertex_id v, std::uint32_t /*step*/) const { return v; }
};

class label_group {
 public:
  label_group(walk_job const& job, std::int64_t num_labels) : num_labels_(num_labels)
  {
    for (std::size_t t = 0; t < job.params->metapath.size(); ++t) {
      wanted_.push_back(job.wanted_label(static_cast<std::int32_t>(t)));
    }
  }

  [[nodiscard]] std::int64_t row(vertex_id v, std::uint32_t step) const
  {
    return v * num_labels_ + wanted_[step % static_cast<std::uint32_t>(wanted_.size())];
  }

 private:
  std::int64_t num_labels_;
  std::vector<label_id> wanted_;  // by step, one period of the schema
};

/// One edge of a row, as a lane keeps it between the phases of a step: its number where that says it all.
template <class View, bool by_number = View::targets_by_number>
struct picked_edge {
  typename View::place at;
  std::uint32_t i;

  [[nodiscard]] static picked_edge of(typename View::place const& at, std::uint32_t i) { return {at, i}; }
  bool prefetch(View const& graph, int round) { return graph.prefetch_target(at, i, round); }
  /// The row of vertex v, or as much of it as the edge is in.
  [[nodiscard]] auto row(View const& graph, std::int64_t v) const { return graph.row(v, at); }
};
template <class View>
struct picked_edge<View, true> {
  edge_id edge;
  static constexpr std::uint32_t i = 0;

  [[nodiscard]] static picked_edge of(typename View::place const& at, std::uint32_t i) { return {at.first + i}; }
  bool prefetch(View const& graph, int round) const { return graph.prefetch_target({edge, 1}, 0, round); }
  [[nodiscard]] auto row(View const& graph, std::int64_t v) const { return graph.row(v, {edge, 1}); }
};

/// Lanes whose candidate takes more rounds of prefetching: what has arrived says where the rest is.
template <int most>
class pending_lanes {
 public:
  void add(int lane) { lanes_[size_++] = static_cast<std::int16_t>(lane); }
  /// Calls more(lane, round) for each, in rounds from 1 on, until it returns false.
  template <class More>
  void finish(More more)
  {
    for (int round = 1; size_ > 0; ++round) {
      int const size = std::exchange(size_, 0);
      for (int k = 0; k < size; ++k) {
        if (more(lanes_[k], round)) { add(lanes_[k]); }
      }
    }
  }

 private:
  std::int16_t lanes_[most];
  int size_ = 0;
};

// A candidate source says how to prefetch a row, where its candidates are, and how to pick (by the low bits of a block),
// prefetch and take one.
// `prefetch` returns whether it is to be called again, in another round. `take` returns the next vertex. Rejection asks for the bound of a row and the weight of a candidate, too.

template <class View>
struct uniform_candidates {
  static constexpr bool rejects = false;
  using picked_type = picked_edge<View>;
  View graph;

  void prefetch_row(std::int64_t row) const { graph.prefetch_row(row); }
  [[nodiscard]] auto locate(std::int64_t row) const { return graph.locate_ahead(row); }
  [[nodiscard]] static picked_type pick(typename View::place const& at, std::uint64_t bits)
  {
    return picked_type::of(at, core::bounded(bits, at.degree));
  }
  bool prefetch(std::int64_t /*row*/, picked_type& p, int round) const { return p.prefetch(graph, round); }
  [[nodiscard]] vertex_id take(std::int64_t row, picked_type const& p, std::uint64_t /*bits*/) const
  {
    return p.row(graph, row).neighbor(p.i);
  }
};

/// The graph gives no more than the numbers of edges.
template <class View>
struct alias_candidates {
  static constexpr bool rejects = false;
  using picked_type = edge_id;
  View graph;
  plan::alias_record const* records;

  void prefetch_row(std::int64_t row) const { graph.prefetch_first_edge(row); }
  [[nodiscard]] csr_view::place locate(std::int64_t row) const
  {
    edge_id const first = graph.first_edge(row);
    return {first, static_cast<std::uint32_t>(graph.first_edge(row + 1) - first)};
  }
  [[nodiscard]] static edge_id pick(csr_view::place const& at, std::uint64_t bits)
  {
    return at.first + core::bounded(bits, at.degree);
  }
  bool prefetch(std::int64_t, edge_id e, int /*round*/) const
  {
    prefetch_address(records + e);
    return false;
  }
  [[nodiscard]] vertex_id take(std::int64_t, edge_id e, std::uint64_t bits) const
  {
    return core::alias_choose(records[e], bits);
  }
};

/// core::its_pick, one probe a round: the sums of a hub are in as many places of memory as the search has probes.
template <class View>
struct summed_candidates {
  static constexpr bool rejects = false;
  struct place {
    typename View::place targets;
    edge_id first;
    std::uint32_t degree;
  };
  struct picked_type {
    place at;
    std::uint64_t x;     // the bits until the total is known
    std::uint32_t i;     // the edge is one of `size` from here on, or the one here if that is 0
    std::uint32_t size;  // no_pick: the total is not known
    std::uint32_t round_of_target;
  };
  View graph;
  std::uint64_t const* sums;

  void prefetch_row(std::int64_t row) const
  {
    graph.prefetch_row(row);
    if constexpr (!View::targets_by_number) { graph.prefetch_first_edge(row); }
  }
  [[nodiscard]] place locate(std::int64_t row) const
  {
    auto const targets = graph.locate_ahead(row);
    return {targets, graph.first_edge(row), targets.degree};
  }
  [[nodiscard]] static picked_type pick(place const& at, std::uint64_t bits) { return {at, bits, 0, core::no_pick, 0}; }
  bool prefetch(std::int64_t /*row*/, picked_type& p, int round) const
  {
    std::uint64_t const* const own = sums + p.at.first;
    if (round == 0) {
      prefetch_address(own + p.at.degree - 1);
      return true;
    }
    if (p.size == core::no_pick) {
      std::uint64_t const total = own[p.at.degree - 1];
      if (total == 0) {
        p.i = core::no_pick;
        return false;
      }
      p.x = core::bounded64(p.x, total);
      p.size = p.at.degree;
    } else if (p.size > 0) {
      core::its_halve(own, p.i, p.size, p.x);
    }
    if (p.size > 0) {
      prefetch_address(own + p.i + p.size / 2);
      return true;
    }
    return graph.prefetch_target(p.at.targets, p.i, static_cast<int>(p.round_of_target++));
  }
  [[nodiscard]] vertex_id take(std::int64_t row, picked_type const& p, std::uint64_t /*bits*/) const
  {
    return p.i == core::no_pick ? no_vertex : graph.row(row, p.at.targets).neighbor(p.i);
  }
};

template <class View>
struct weighted_candidates : uniform_candidates<View> {
  static constexpr bool rejects = true;
  using typename uniform_candidates<View>::picked_type;
  float const* largest;

  void prefetch_row(std::int64_t row) const
  {
    this->graph.prefetch_row(row);
    if constexpr (!View::targets_by_number) { this->graph.prefetch_first_edge(row); }
    prefetch_address(largest + row);
  }
  [[nodiscard]] float bound(std::int64_t row, typename View::place const&) const { return largest[row]; }
  bool prefetch(std::int64_t row, picked_type& p, int round) const
  {
    if (round == 0) { p.row(this->graph, row).prefetch_weight(p.i); }
    return p.prefetch(this->graph, round);
  }
  [[nodiscard]] float weight(std::int64_t row, picked_type const& p) const
  {
    return p.row(this->graph, row).weight(p.i);
  }
};

struct record_candidates {
  static constexpr bool rejects = true;
  using picked_type = edge_id;
  plan::vertex_record const* vertices;
  plan::edge_record const* edges;

  void prefetch_row(std::int64_t row) const { prefetch_address(vertices + row); }
  [[nodiscard]] plan::vertex_record locate(std::int64_t row) const { return vertices[row]; }
  [[nodiscard]] float bound(std::int64_t, plan::vertex_record const& at) const { return at.largest; }
  [[nodiscard]] static edge_id pick(plan::vertex_record const& at, std::uint64_t bits)
  {
    return at.first + core::bounded(bits, at.degree);
  }
  bool prefetch(std::int64_t, edge_id e, int /*round*/) const
  {
    prefetch_address(edges + e);
    return false;
  }
  [[nodiscard]] float weight(std::int64_t, edge_id e) const { return edges[e].weight; }
  [[nodiscard]] vertex_id take(std::int64_t, edge_id e, std::uint64_t /*bits*/) const { return edges[e].neighbor; }
};

/// Walks whose steps take one trial and that only end at dead ends, a tile of them step by step: everyone is at the same
/// step, so a lane is little more than a vertex and a row.
template <class Rows, class Candidates>
class walks_in_step {
 public:
  walks_in_step(walk_job const& job, walk_batch const& batch, walk_source& source, Rows rows, Candidates candidates)
      : job_(job), batch_(batch), source_(source), rows_(rows), candidates_(candidates)
  {
    std::fill_n(draws_.draw, tile, 0U);
  }

  void run()
  {
    while (load()) {
      for (std::int32_t step = batch_.first_step; step < job_.length() && active_ > 0; ++step) {
        std::fill_n(draws_.step, active_, static_cast<std::uint32_t>(step));
        locate(step);
        pending_.finish([&](int i, int round) { return prefetch(i, step, round); });
        take(step);
      }
      while (active_ > 0) { close(active_ - 1, job_.length(), false); }
    }
  }

 private:
  static constexpr int tile = draw_lanes::max_lanes;  // bench/walks, axis width

  bool load()
  {
    while (active_ < tile) {
      std::int64_t const i = source_.next();
      if (i < 0) { break; }
      vertex_id const start = batch_.starts[static_cast<std::size_t>(i)];
      index_[active_] = i;
      row_[active_] = batch_.vertices + i * (job_.length() - batch_.first_step + std::int64_t{1});
      row_[active_][0] = vertex_[active_] = start;
      draws_.item[active_] = batch_.id(i);
      ++active_;
      if (batch_.first_step > 0 || job_.may_start_at(start)) {
        candidates_.prefetch_row(rows_.row(start, static_cast<std::uint32_t>(batch_.first_step)));
      } else {
        close(active_ - 1, 0, true);
      }
    }
    return active_ > 0;
  }

  void locate(std::int32_t step)
  {
    for (int i = 0; i < active_; ++i) {
      if (i % draw_chunk == 0) { philox_lanes(draws_, i, std::min(draw_chunk, active_ - i), job_.step_key); }
      std::int64_t row = rows_.row(vertex_[i], step);
      auto at = candidates_.locate(row);
      while (at.degree == 0) {  // a dead end: the last lane takes this one's place, and draws
        close(i, step, true);
        if (i == active_) { return; }
        philox_lanes(draws_, i, 1, job_.step_key);
        row = rows_.row(vertex_[i], step);
        at = candidates_.locate(row);
      }
      picked_[i] = Candidates::pick(at, draws_.low[i]);
      if (candidates_.prefetch(row, picked_[i], 0)) { pending_.add(i); }
    }
  }

  bool prefetch(int i, std::int32_t step, int round)
  {
    return candidates_.prefetch(rows_.row(vertex_[i], step), picked_[i], round);
  }

  void take(std::int32_t step)
  {
    for (int i = 0; i < active_;) {
      vertex_id const next = candidates_.take(rows_.row(vertex_[i], step), picked_[i], draws_.high[i]);
      if (next == no_vertex) [[unlikely]] {  // no edge of positive weight
        close(i, step, true);
        continue;
      }
      row_[i][step - batch_.first_step + 1] = vertex_[i] = next;
      if (step + 1 < job_.length()) { candidates_.prefetch_row(rows_.row(next, step + 1)); }
      ++i;
    }
  }

  /// Ends a walk; the last lane takes its place.
  void close(int lane, std::int32_t steps, bool dead)
  {
    close_row(job_, batch_, row_[lane], steps, dead);
    if (batch_.lengths != nullptr) { batch_.lengths[index_[lane]] = steps; }
    int const last = --active_;
    draws_.item[lane] = draws_.item[last];
    draws_.low[lane] = draws_.low[last];
    draws_.high[lane] = draws_.high[last];
    vertex_[lane] = vertex_[last];
    picked_[lane] = picked_[last];
    row_[lane] = row_[last];
    index_[lane] = index_[last];
  }

  walk_job const& job_;
  walk_batch const& batch_;
  walk_source& source_;
  Rows rows_;
  Candidates candidates_;
  draw_lanes draws_;
  int active_ = 0;
  vertex_id vertex_[tile];
  typename Candidates::picked_type picked_[tile] = {};
  pending_lanes<tile> pending_;
  vertex_id* row_[tile];
  std::int64_t index_[tile];
};

/// Walks whose lanes go their own ways: trials differ, or walks end early. Flat: there is one for every form and rule, so
/// that the compiler would else leave calls in the loops.
template <bool Ends, class Rows, class Candidates>
[[gnu::flatten]] void walk_in_lanes(walk_job const& job, walk_batch const& batch, walk_source& source, Rows rows,
                                    Candidates const candidates)
{
  walk_lanes<Ends, false, Candidates::rejects> lanes(job, batch, source);
  typename Candidates::picked_type picked[walkers_at_once];  // the proposal
  std::uint32_t trials[walkers_at_once];                     // of the step, at most; 0 at a dead end
  float bound[walkers_at_once] = {};
  pending_lanes<walkers_at_once> pending;

  auto const row_of = [&](int lane) { return rows.row(lanes.vertex[lane], lanes.draws.step[lane]); };
  auto const arrive = [&](int lane) { candidates.prefetch_row(row_of(lane)); };
  lanes.fill(walkers_at_once, arrive);
  while (lanes.active() > 0) {
    for (int i = 0; i < lanes.active(); ++i) {
      if (i % draw_chunk == 0) { lanes.draw(i, std::min(draw_chunk, lanes.active() - i)); }
      std::int64_t const row = row_of(i);
      auto const at = candidates.locate(row);
      trials[i] = at.degree == 0 ? 0 : core::weighted_trial_limit(at.degree);
      if constexpr (Candidates::rejects) {
        bound[i] = candidates.bound(row, at);
        if (!(bound[i] > 0)) { trials[i] = 0; }
      }
      if (trials[i] == 0) { continue; }
      picked[i] = Candidates::pick(at, lanes.draws.low[i]);
      if (candidates.prefetch(row, picked[i], 0)) { pending.add(i); }
    }
    pending.finish([&](int i, int round) { return candidates.prefetch(row_of(i), picked[i], round); });
    // In the same order, so that every prefetch has had the time of a whole round to arrive.
    for (int i = 0; i < lanes.active();) {
      vertex_id next = no_vertex;
      if (trials[i] != 0) {
        if constexpr (Candidates::rejects) {
          if (core::accept(lanes.draws.high[i], candidates.weight(row_of(i), picked[i]), bound[i])) {
            next = candidates.take(row_of(i), picked[i], 0);
          } else if (++lanes.draws.draw[i] < trials[i]) {
            ++i;
            continue;
          } else {
            next = step_after_trials(job, lanes.position(i));
          }
        } else {
          next = candidates.take(row_of(i), picked[i], lanes.draws.high[i]);
        }
      }
      bool const goes_on = next != no_vertex ? lanes.move(i, next, arrive) : lanes.finish_dead(i, arrive);
      if (goes_on) {
        ++i;
      } else {  // no work is left for this lane: the last one takes its place, and its turn
        int const last = lanes.remove(i);
        picked[i] = picked[last];
        trials[i] = trials[last];
        bound[i] = bound[last];
      }
    }
  }
}

/// @param graph  The job's, or its groups.
template <class View, class Rows>
void walk_by_rule(walk_job const& job, walk_batch const& batch, walk_source& source, View const& graph, Rows rows)
{
  auto const& tables = *job.tables;
  auto const walk = [&](auto candidates) {
    if (job.may_end()) {
      walk_in_lanes<true>(job, batch, source, rows, candidates);
    } else if constexpr (decltype(candidates)::rejects) {
      walk_in_lanes<false>(job, batch, source, rows, candidates);
    } else {
      walks_in_step(job, batch, source, rows, candidates).run();
    }
  };
  if (tables.alias) {
    walk(alias_candidates<View>{graph, tables.alias->data()});
  } else if (tables.prefix_sums) {
    walk(summed_candidates<View>{graph, tables.prefix_sums->data()});
  } else if (tables.edges) {
    walk(record_candidates{tables.vertices->data(), tables.edges->data()});
  } else if (job.plan->rule == sampling_rule::reject) {
    walk(weighted_candidates<View>{{graph}, tables.statistics->largest.data()});
  } else {
    walk(uniform_candidates<View>{graph});
  }
}

}  // namespace

void first_order_walk(walk_job const& job, walk_batch const& batch, walk_source& source)
{
  if (job.tables->groups) {
    csr_view const groups(job.tables->groups->rows);
    walk_by_rule(job, batch, source, groups, label_group(job, job.tables->groups->num_labels));
  } else {
    job.graph.visit([&](auto const& graph) { walk_by_rule(job, batch, source, graph, whole_neighborhood{}); });
  }
}

}  // namespace tendril::cpu
