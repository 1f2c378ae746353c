// First-order walks with many walkers in step. The rules: src/core/{random,reject,alias}.hpp. The plain loop of the
// same rules: src/cpu/walks/scalar_walk.cpp.

#include <algorithm>
#include <vector>

#include "core/alias.hpp"
#include "core/reject.hpp"
#include "cpu/walks/lane_walk.hpp"
#include "cpu/walks/lanes.hpp"
#include "cpu/walks/row.hpp"
#include "cpu/walks/scalar_walk.hpp"  // step_by_race

namespace tendril::cpu {
namespace {

constexpr int width = 192;  // bench/walks, axis width

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

// A candidate source says how to prefetch a row, where its candidates are - a `place_type`, which a lane keeps between the
// phases of a step -, prefetch one and take it. `take` returns the next vertex; `accepts` says whether a proposal stands.

template <class View>
struct uniform_candidates {
  static constexpr bool rejects = false;
  using place_type = typename View::place;
  View graph;

  void prefetch_row(std::int64_t row) const { graph.prefetch_row(row); }
  [[nodiscard]] place_type locate(std::int64_t row) const { return graph.locate(row); }
  void prefetch(std::int64_t row, place_type const& at, std::uint32_t i) const { graph.row(row, at).prefetch(i); }
  [[nodiscard]] vertex_id take(std::int64_t row, place_type const& at, std::uint32_t i, std::uint64_t /*bits*/) const
  {
    return graph.row(row, at).neighbor(i);
  }
};

/// The graph gives no more than the numbers of edges.
template <class View>
struct alias_candidates {
  static constexpr bool rejects = false;
  using place_type = csr_view::place;
  View graph;
  plan::alias_record const* records;

  void prefetch_row(std::int64_t row) const { graph.prefetch_first_edge(row); }
  [[nodiscard]] place_type locate(std::int64_t row) const
  {
    edge_id const first = graph.first_edge(row);
    return {first, static_cast<std::uint32_t>(graph.first_edge(row + 1) - first)};
  }
  void prefetch(std::int64_t, place_type const& at, std::uint32_t i) const
  {
    __builtin_prefetch(records + at.first + i);
  }
  [[nodiscard]] vertex_id take(std::int64_t, place_type const& at, std::uint32_t i, std::uint64_t bits) const
  {
    return core::alias_choose(records[at.first + i], bits);
  }
};

template <class View>
struct weighted_candidates {
  static constexpr bool rejects = true;
  struct place_type : View::place {
    float largest;
  };
  View graph;
  float const* largest;

  void prefetch_row(std::int64_t row) const
  {
    graph.prefetch_row(row);
    if constexpr (!View::targets_by_number) { graph.prefetch_first_edge(row); }
    __builtin_prefetch(largest + row);
  }
  [[nodiscard]] place_type locate(std::int64_t row) const { return {graph.locate(row), largest[row]}; }
  void prefetch(std::int64_t row, place_type const& at, std::uint32_t i) const
  {
    auto const edges = graph.row(row, at);
    edges.prefetch(i);
    edges.prefetch_weight(i);
  }
  [[nodiscard]] bool accepts(std::int64_t row, place_type const& at, std::uint32_t i, std::uint64_t bits) const
  {
    return core::accept(bits, graph.row(row, at).weight(i), at.largest);
  }
  [[nodiscard]] vertex_id take(std::int64_t row, place_type const& at, std::uint32_t i, std::uint64_t /*bits*/) const
  {
    return graph.row(row, at).neighbor(i);
  }
};

struct record_candidates {
  static constexpr bool rejects = true;
  using place_type = plan::vertex_record;
  plan::vertex_record const* vertices;
  plan::edge_record const* edges;

  void prefetch_row(std::int64_t row) const { __builtin_prefetch(vertices + row); }
  [[nodiscard]] place_type locate(std::int64_t row) const { return vertices[row]; }
  void prefetch(std::int64_t, place_type const& at, std::uint32_t i) const { __builtin_prefetch(edges + at.first + i); }
  [[nodiscard]] bool accepts(std::int64_t, place_type const& at, std::uint32_t i, std::uint64_t bits) const
  {
    return core::accept(bits, edges[at.first + i].weight, at.largest);
  }
  [[nodiscard]] vertex_id take(std::int64_t, place_type const& at, std::uint32_t i, std::uint64_t /*bits*/) const
  {
    return edges[at.first + i].neighbor;
  }
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
      for (std::int32_t step = 0; step < job_.length() && active_ > 0; ++step) {
        std::fill_n(draws_.step, active_, static_cast<std::uint32_t>(step));
        locate(step);
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
      row_[active_] = batch_.vertices + i * (job_.length() + std::int64_t{1});
      row_[active_][0] = vertex_[active_] = start;
      draws_.item[active_] = static_cast<std::uint64_t>(batch_.first_walk + i);
      ++active_;
      if (job_.may_start_at(start)) {
        candidates_.prefetch_row(rows_.row(start, 0));
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
      place_[i] = candidates_.locate(row);
      while (place_[i].degree == 0) {  // a dead end: the last lane takes this one's place, and draws
        close(i, step, true);
        if (i == active_) { return; }
        philox_lanes(draws_, i, 1, job_.step_key);
        row = rows_.row(vertex_[i], step);
        place_[i] = candidates_.locate(row);
      }
      pick_[i] = core::bounded(draws_.low[i], place_[i].degree);
      candidates_.prefetch(row, place_[i], pick_[i]);
    }
  }

  void take(std::int32_t step)
  {
    for (int i = 0; i < active_;) {
      vertex_id const next = candidates_.take(rows_.row(vertex_[i], step), place_[i], pick_[i], draws_.high[i]);
      if (next == no_vertex) [[unlikely]] {  // no edge of positive weight
        close(i, step, true);
        continue;
      }
      row_[i][step + 1] = vertex_[i] = next;
      candidates_.prefetch_row(rows_.row(next, step + 1));
      ++i;
    }
  }

  /// Ends a walk; the last lane takes its place.
  void close(int lane, std::int32_t steps, bool dead)
  {
    close_row(job_, row_[lane], steps, dead);
    if (batch_.lengths != nullptr) { batch_.lengths[index_[lane]] = steps; }
    int const last = --active_;
    draws_.item[lane] = draws_.item[last];
    draws_.low[lane] = draws_.low[last];
    draws_.high[lane] = draws_.high[last];
    vertex_[lane] = vertex_[last];
    place_[lane] = place_[last];
    pick_[lane] = pick_[last];
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
  typename Candidates::place_type place_[tile] = {};
  std::uint32_t pick_[tile] = {};  // the candidate of the step
  vertex_id* row_[tile];
  std::int64_t index_[tile];
};

/// Walks whose lanes go their own ways: trials differ, or walks end early.
template <bool Ends, class Rows, class Candidates>
void walk_in_lanes(walk_job const& job, walk_batch const& batch, walk_source& source, Rows rows,
                   Candidates const candidates)
{
  walk_lanes<Ends, false, Candidates::rejects> lanes(job, batch, source);
  typename Candidates::place_type place[width];
  std::uint32_t pick[width];  // the proposed candidate; no_pick at a dead end

  auto const row_of = [&](int lane) { return rows.row(lanes.vertex[lane], lanes.draws.step[lane]); };
  auto const arrive = [&](int lane) { candidates.prefetch_row(row_of(lane)); };
  lanes.fill(width, arrive);
  while (lanes.active() > 0) {
    for (int i = 0; i < lanes.active(); ++i) {
      if (i % draw_chunk == 0) { lanes.draw(i, std::min(draw_chunk, lanes.active() - i)); }
      std::int64_t const row = row_of(i);
      auto const at = place[i] = candidates.locate(row);
      bool dead = at.degree == 0;
      if constexpr (Candidates::rejects) { dead = dead || !(at.largest > 0); }
      pick[i] = dead ? core::no_pick : core::bounded(lanes.draws.low[i], at.degree);
      if (!dead) { candidates.prefetch(row, at, pick[i]); }
    }
    // In the same order, so that every prefetch has had the time of a whole round to arrive.
    for (int i = 0; i < lanes.active();) {
      vertex_id next = no_vertex;
      if (pick[i] != core::no_pick) {
        if constexpr (Candidates::rejects) {
          if (candidates.accepts(row_of(i), place[i], pick[i], lanes.draws.high[i])) {
            next = candidates.take(row_of(i), place[i], pick[i], 0);
          } else if (++lanes.draws.draw[i] < core::trial_limit(place[i].degree)) {
            ++i;
            continue;
          } else {
            next = step_by_race(job, lanes.position(i));
          }
        } else {
          next = candidates.take(row_of(i), place[i], pick[i], lanes.draws.high[i]);
        }
      }
      bool const goes_on = next != no_vertex ? lanes.move(i, next, arrive) : lanes.finish_dead(i, arrive);
      if (goes_on) {
        ++i;
      } else {  // no work is left for this lane: the last one takes its place, and its turn
        int const last = lanes.remove(i);
        place[i] = place[last];
        pick[i] = pick[last];
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
  } else if (tables.edges) {
    walk(record_candidates{tables.vertices->data(), tables.edges->data()});
  } else if (job.plan->rule == sampling_rule::reject) {
    walk(weighted_candidates<View>{graph, tables.statistics->largest.data()});
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
