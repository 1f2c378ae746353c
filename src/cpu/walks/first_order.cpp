// First-order walks with many walkers in step. The rules: src/core/{random,reject,alias}.hpp. The plain loop of the
// same rules: src/cpu/walks/scalar_walk.cpp.

#include <algorithm>
#include <vector>

#include "core/alias.hpp"
#include "core/reject.hpp"
#include "cpu/walks/lane_walk.hpp"
#include "cpu/walks/lanes.hpp"
#include "cpu/walks/row.hpp"
#include "cpu/walks/scalar_step.hpp"

namespace tendril::cpu {
namespace {

constexpr int width = 192;  // bench/walks, axis width

/// Where a vertex's candidates are: the neighbourhood, or its group for the label that the step must follow.
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

/// What a rule finds at a row: its edges, and the bound that proposals are judged against.
struct edge_range {
  edge_id first;
  std::uint32_t degree;
  float bound;
};

// A candidate source says how to prefetch a row, find its edges, prefetch an edge and take it. `take` returns the
// next vertex; `judge` says whether the proposal stands.

struct uniform_candidates {
  static constexpr bool rejects = false;
  edge_id const* indptr;
  vertex_id const* indices;

  void prefetch_row(std::int64_t row) const { __builtin_prefetch(indptr + row); }
  [[nodiscard]] edge_range locate(std::int64_t row) const
  {
    return {indptr[row], static_cast<std::uint32_t>(indptr[row + 1] - indptr[row]), 1.0F};
  }
  void prefetch_edge(edge_id e) const { __builtin_prefetch(indices + e); }
  [[nodiscard]] vertex_id take(edge_id e, std::uint64_t /*bits*/) const { return indices[e]; }
};

struct alias_candidates {
  static constexpr bool rejects = false;
  edge_id const* indptr;
  plan::alias_record const* records;

  void prefetch_row(std::int64_t row) const { __builtin_prefetch(indptr + row); }
  [[nodiscard]] edge_range locate(std::int64_t row) const
  {
    return {indptr[row], static_cast<std::uint32_t>(indptr[row + 1] - indptr[row]), 1.0F};
  }
  void prefetch_edge(edge_id e) const { __builtin_prefetch(records + e); }
  [[nodiscard]] vertex_id take(edge_id e, std::uint64_t bits) const
  {
    auto const& r = records[e];
    return bits < r.threshold ? r.here : r.there;  // core::alias_choose over vertices
  }
};

struct weighted_candidates {
  static constexpr bool rejects = true;
  edge_id const* indptr;
  vertex_id const* indices;
  float const* weights;
  float const* largest;

  void prefetch_row(std::int64_t row) const
  {
    __builtin_prefetch(indptr + row);
    __builtin_prefetch(largest + row);
  }
  [[nodiscard]] edge_range locate(std::int64_t row) const
  {
    return {indptr[row], static_cast<std::uint32_t>(indptr[row + 1] - indptr[row]), largest[row]};
  }
  void prefetch_edge(edge_id e) const
  {
    __builtin_prefetch(indices + e);
    __builtin_prefetch(weights + e);
  }
  [[nodiscard]] vertex_id take(edge_id e, std::uint64_t /*bits*/) const { return indices[e]; }
  [[nodiscard]] float weight(edge_id e) const { return weights[e]; }
};

struct record_candidates {
  static constexpr bool rejects = true;
  plan::vertex_record const* vertices;
  plan::edge_record const* edges;

  void prefetch_row(std::int64_t row) const { __builtin_prefetch(vertices + row); }
  [[nodiscard]] edge_range locate(std::int64_t row) const
  {
    return {vertices[row].first, vertices[row].degree, vertices[row].largest};
  }
  void prefetch_edge(edge_id e) const { __builtin_prefetch(edges + e); }
  [[nodiscard]] vertex_id take(edge_id e, std::uint64_t /*bits*/) const { return edges[e].neighbor; }
  [[nodiscard]] float weight(edge_id e) const { return edges[e].weight; }
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
      edge_range at = candidates_.locate(rows_.row(vertex_[i], step));
      while (at.degree == 0) {  // a dead end: the last lane takes this one's place, and draws
        close(i, step, true);
        if (i == active_) { return; }
        philox_lanes(draws_, i, 1, job_.step_key);
        at = candidates_.locate(rows_.row(vertex_[i], step));
      }
      edge_[i] = at.first + core::bounded(draws_.low[i], at.degree);
      candidates_.prefetch_edge(edge_[i]);
    }
  }

  void take(std::int32_t step)
  {
    for (int i = 0; i < active_;) {
      vertex_id const next = candidates_.take(edge_[i], draws_.high[i]);
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
    edge_[lane] = edge_[last];
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
  edge_id edge_[tile] = {};
  vertex_id* row_[tile];
  std::int64_t index_[tile];
};

/// Walks whose lanes go their own ways: trials differ, or walks end early.
template <bool Ends, class Rows, class Candidates>
void walk_in_lanes(walk_job const& job, walk_batch const& batch, walk_source& source, Rows rows,
                   Candidates const candidates)
{
  walk_lanes<Ends, false, Candidates::rejects> lanes(job, batch, source);
  edge_id edge[width];  // the proposed edge; -1 at a dead end
  float bound[width] = {};
  std::uint32_t trials[width] = {};  // of the step, at most
  scalar_stepper fallback(job);

  auto const arrive = [&](int lane) { candidates.prefetch_row(rows.row(lanes.vertex[lane], lanes.draws.step[lane])); };
  lanes.fill(width, arrive);
  while (lanes.active() > 0) {
    for (int i = 0; i < lanes.active(); ++i) {
      if (i % draw_chunk == 0) { lanes.draw(i, std::min(draw_chunk, lanes.active() - i)); }
      edge_range const at = candidates.locate(rows.row(lanes.vertex[i], lanes.draws.step[i]));
      bool const dead = at.degree == 0 || (Candidates::rejects && !(at.bound > 0));
      edge[i] = dead ? -1 : at.first + core::bounded(lanes.draws.low[i], at.degree);
      if constexpr (Candidates::rejects) {
        bound[i] = at.bound;
        trials[i] = core::trial_limit(at.degree);
      }
      if (!dead) { candidates.prefetch_edge(edge[i]); }
    }
    // In the same order, so that every prefetch has had the time of a whole round to arrive.
    for (int i = 0; i < lanes.active();) {
      vertex_id next = no_vertex;
      if (edge[i] >= 0) {
        if constexpr (Candidates::rejects) {
          if (core::accept(lanes.draws.high[i], candidates.weight(edge[i]), bound[i])) {
            next = candidates.take(edge[i], 0);
          } else if (++lanes.draws.draw[i] < trials[i]) {
            ++i;
            continue;
          } else {
            next = fallback.by_race(lanes.position(i));
          }
        } else {
          next = candidates.take(edge[i], lanes.draws.high[i]);
        }
      }
      bool const goes_on = next != no_vertex ? lanes.move(i, next, arrive) : lanes.finish_dead(i, arrive);
      if (goes_on) {
        ++i;
      } else {  // no work is left for this lane: the last one takes its place, and its turn
        int const last = lanes.remove(i);
        edge[i] = edge[last];
        bound[i] = bound[last];
        trials[i] = trials[last];
      }
    }
  }
}

template <class Rows>
void walk_by_rule(walk_job const& job, walk_batch const& batch, walk_source& source, csr_arrays const& view, Rows rows)
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
    walk(alias_candidates{view.indptr, tables.alias->data()});
  } else if (tables.edges) {
    walk(record_candidates{tables.vertices->data(), tables.edges->data()});
  } else if (job.plan->rule == sampling_rule::reject) {
    walk(weighted_candidates{view.indptr, view.indices, view.weights, tables.statistics->largest.data()});
  } else {
    walk(uniform_candidates{view.indptr, view.indices});
  }
}

}  // namespace

void first_order_walk(walk_job const& job, walk_batch const& batch, walk_source& source)
{
  if (job.tables->groups) {
    csr_arrays const& view = job.tables->groups->rows;
    walk_by_rule(job, batch, source, view, label_group(job, job.tables->groups->num_labels));
  } else {
    walk_by_rule(job, batch, source, job.graph, whole_neighborhood{});
  }
}

}  // namespace tendril::cpu
