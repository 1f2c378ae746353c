// Dynamic walks on the CPU: one walker after the other on each thread. The rules: engine/dynamic_step.hpp and
// src/core/race.hpp. GPU twin: engine/dynamic_walk_gpu.cuh.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <tendril/engine/dynamic_step.hpp>
#include <tendril/engine/dynamic_support.hpp>

namespace tendril {
namespace engine {

/// Walks one walker at a time.
template <class W>
class dynamic_walker {
 public:
  dynamic_walker(W const& walk, dynamic_setup const& setup, bool rejecting)
      : walk_(walk), setup_(setup), rejecting_(rejecting)
  {
  }

  /// Fills the row of walk `walk` from `start`, [length + 1]. @return the steps taken. @throws argument_error.
  std::int32_t operator()(std::uint64_t walk, vertex_id start, vertex_id* row) const
  {
    walk_state s = first_state(setup_, walk, start);
    row[0] = start;
    arrive(setup_, s);
    bool dead = !may_start(walk_, s);
    while (!dead && s.step < setup_.length) {
      before_step const first = decide(walk_, setup_, s);
      if (first == before_step::stop) { break; }
      if (first == before_step::restart) {
        go_back(s);
      } else {
        dead = !step(s);
      }
      row[s.step] = s.vertex;
      arrive(setup_, s);
    }
    std::fill(row + s.step + 1, row + setup_.length + 1, dead && setup_.repeat_dead_ends ? s.vertex : no_vertex);
    return s.step;
  }

 private:
  /// Follows an edge; false at a dead end.
  bool step(walk_state& s) const
  {
    edge_id const first = s.graph.first_edge(s.vertex);
    std::uint32_t const degree = s.graph.degree(s.vertex);
    if (degree == 0) { return false; }
    std::uint64_t entry = core::race_nobody;
    if constexpr (walk_has::bound<W>) {
      entry = rejecting_ ? reject(s, first, degree) : race(s, first, degree);
    } else {
      entry = race(s, first, degree);
    }
    if (!core::race_has_winner(entry)) { return false; }
    edge_id const edge = first + core::race_index(entry);
    go_along(s, edge, s.graph.indices[edge]);
    return true;
  }

  /// The winner of a race over the neighbourhood.
  std::uint64_t race(walk_state const& s, edge_id first, std::uint32_t degree) const
  {
    std::uint32_t wrong = degree;
    auto const edge = [&](std::uint32_t i) { return walk_edge(s.graph, first + i, i); };
    auto const bound = [&](std::uint32_t i) {
      float const b = bound_of(walk_, s, edge(i));
      if (!is_weight(b)) { wrong = std::min(wrong, i); }
      return b;
    };
    auto const weight = [&](std::uint32_t i) {
      float const w = walk_.weight(s, edge(i));
      if (!is_weight(w) || (walk_has::edge_bound<W> && w > bound_of(walk_, s, edge(i)))) { wrong = std::min(wrong, i); }
      return w;
    };
    std::uint64_t const best = core::race_one(degree, bound, weight, setup_.step_key, s.walk,
                                              static_cast<std::uint32_t>(s.step), core::race_draws);
    if (wrong < degree) { throw_problem(inspect(walk_, s, first, wrong), s.graph.num_vertices); }
    return best;
  }

  /// The edge that a proposal was accepted for, as an entry. A race decides when trials run out.
  std::uint64_t reject(walk_state const& s, edge_id first, std::uint32_t degree) const requires walk_has::bound<W>
  {
    float const bound = walk_.bound(s);
    if (!is_weight(bound)) {
      throw_problem({s.walk, -1, dynamic_problem::bound, s.step, s.vertex, bound}, s.graph.num_vertices);
    }
    if (bound == 0) { return core::race_nobody; }
    for (std::uint32_t number = 0; number < core::trial_limit(degree); ++number) {
      trial const t = try_edge(walk_, setup_, s, first, degree, bound, number);
      if (t.result == trial_result::accepted) { return core::race_entry(1, t.position); }
      if (t.result == trial_result::wrong) {
        throw_problem(inspect(walk_, s, first, t.position, bound), s.graph.num_vertices);
      }
    }
    return race(s, first, degree);
  }

  W walk_;
  dynamic_setup setup_;
  bool rejecting_;
};

/// Runs a batch whose arguments are in order. `batch.step_stride` is 1.
template <class W>
void walk_batch_on_cpu(W const& walk, dynamic_setup const& setup, bool rejecting, dynamic_batch const& batch,
                       cpu_exec const& exec)
{
  dynamic_walker<W> const walker(walk, setup, rejecting);
  for_each_run(batch.size, exec, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int32_t const steps = walker(batch.first_walk + static_cast<std::uint64_t>(i), batch.starts[i],
                                        batch.vertices + i * batch.walk_stride);
      if (batch.lengths != nullptr) { batch.lengths[i] = steps; }
    }
  });
}

}  // namespace engine

/// Runs a dynamic walk from each start on this machine's cores.
///
/// Row i depends on graph, walk, parameters, starts[i] and the logical id first_walk + i alone; the GPU's overload
/// gives the same bytes.
///
/// @param graph   In host memory.
/// @param walk    A struct as <tendril/dynamic_walk.hpp> describes; what it points to must be in host memory.
/// @param starts  [n] vertices, each below num_vertices.
/// @return [n, length + 1] vertices and [n] lengths, in memory of `exec`.
/// @throws argument_error for a parameter or start out of range, a rule that the walk can't use, and a weight or bound
///         that is NaN, infinite, negative, or a weight above its bound, where the walk came upon it.
template <class W>
[[nodiscard]] walks run_dynamic_walk(graph const& graph, W const& walk, std::span<vertex_id const> starts,
                                     dynamic_walk_params const& params, cpu_exec const& exec = {},
                                     std::int64_t first_walk = 0)
{
  require_dynamic_walk<W>();
  bool const rejecting = engine::rejects(params, walk_has::bound<W>);
  engine::dynamic_setup setup = engine::make_setup(graph.view(), params);
  engine::check_starts(setup.graph, starts, first_walk);
  std::shared_ptr<buffer<float> const> largest;
  if constexpr (walk_has::bound<W>) { largest = engine::largest_weights(graph, exec); }
  if (largest) { setup.largest = largest->data(); }
  auto const n = static_cast<std::int64_t>(starts.size());
  std::int64_t const stride = params.length + 1;
  walks out{buffer<vertex_id>(n * stride, *exec.memory), buffer<std::int32_t>(n, *exec.memory), n, params.length};
  engine::walk_batch_on_cpu(
      walk, setup, rejecting,
      {starts.data(), n, static_cast<std::uint64_t>(first_walk), out.vertices.data(), stride, 1, out.lengths.data()},
      exec);
  return out;
}

}  // namespace tendril
