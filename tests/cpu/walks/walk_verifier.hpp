#pragma once

// A serial verifier of walks that shares nothing with the engine but the graph's arrays. Of row i it checks that
//   1. vertices[i, 0] is starts[i];
//   2. up to its length, every position follows from the one before by an edge that exists, that has the label (or
//      whose target has the type) which the schema names, and a positive weight if the walk is weighted; or, where
//      walks restart, it is the start;
//   3. a walk shorter than asked for either could be stopped, or stands on a vertex without such an edge;
//   4. what follows is no_vertex, or, if a dead end repeats, that vertex (after a stop: no_vertex, unless the vertex
//      is a dead end too, where the two can't be told apart).

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include <tendril/graph.hpp>
#include <tendril/walk.hpp>

namespace tendril::test {

class walk_verifier {
 public:
  walk_verifier(graph const& graph, walk_params const& params) : graph_(graph.csr()), params_(params) {}

  /// The first violation in one line; empty if there is none.
  [[nodiscard]] std::string operator()(std::span<vertex_id const> starts, walks const& out) const
  {
    auto const n = static_cast<std::int64_t>(starts.size());
    std::int64_t const stride = params_.length + 1;
    if (out.num_walks != n || out.length != params_.length || out.vertices.size() != n * stride ||
        out.lengths.size() != n) {
      return "the arrays have other shapes than [n, length + 1] and [n]";
    }
    for (std::int64_t i = 0; i < n; ++i) {
      auto const row =
          out.vertices.span().subspan(static_cast<std::size_t>(i * stride), static_cast<std::size_t>(stride));
      std::string const wrong = check_row(starts[static_cast<std::size_t>(i)], row, out.lengths[i]);
      if (!wrong.empty()) { return fmt::format("walk {}: {}", i, wrong); }
    }
    return {};
  }

 private:
  [[nodiscard]] std::string check_row(vertex_id start, std::span<vertex_id const> row, std::int32_t length) const
  {
    if (row[0] != start) { return fmt::format("starts at {} instead of {}", row[0], start); }
    if (length < 0 || length > params_.length) { return fmt::format("length {}", length); }
    for (std::int32_t t = 0; t < length; ++t) {
      vertex_id const from = row[static_cast<std::size_t>(t)];
      vertex_id const to = row[static_cast<std::size_t>(t) + 1];
      bool const restarted = params_.restart_prob > 0 && to == start;
      if (!restarted && !may_step(from, to, t)) { return fmt::format("step {}: {} -> {} is not allowed", t, from, to); }
    }
    auto const end = static_cast<std::size_t>(length);
    bool const dead = length < params_.length && !can_leave(row[end], length);
    if (length < params_.length && !dead && !(params_.stop_prob > 0)) {
      return fmt::format("ends at {} after {} steps, but could go on", row[end], length);
    }
    bool const repeats = dead && params_.dead_ends == dead_end::repeat;
    for (std::size_t t = end + 1; t < row.size(); ++t) {
      bool const fits = row[t] == no_vertex ? !repeats || params_.stop_prob > 0 : repeats && row[t] == row[end];
      if (!fits || row[t] != row[end + 1]) { return fmt::format("position {} after its end holds {}", t, row[t]); }
    }
    return {};
  }

  /// Whether edge e can be step `t` of a walk.
  [[nodiscard]] bool allowed(edge_id e, std::int32_t t) const
  {
    if (params_.weighted && !(graph_.weights[e] > 0)) { return false; }
    if (params_.metapath.empty()) { return true; }
    auto const schema = params_.metapath.size();
    auto const step = static_cast<std::size_t>(t);
    return params_.metapath_of == metapath_kind::edge_labels
               ? graph_.edge_labels[e] == params_.metapath[step % schema]
               : graph_.node_types[graph_.indices[e]] == params_.metapath[(step + 1) % schema];
  }

  [[nodiscard]] bool may_step(vertex_id from, vertex_id to, std::int32_t t) const
  {
    if (from >= graph_.num_vertices || !starts_well(from, t)) { return false; }
    for (edge_id e = graph_.indptr[from]; e < graph_.indptr[from + 1]; ++e) {
      if (graph_.indices[e] == to && allowed(e, t)) { return true; }
    }
    return false;
  }

  [[nodiscard]] bool can_leave(vertex_id from, std::int32_t t) const
  {
    if (!starts_well(from, t)) { return false; }
    if (params_.restart_prob == 1) { return true; }
    for (edge_id e = graph_.indptr[from]; e < graph_.indptr[from + 1]; ++e) {
      if (allowed(e, t)) { return true; }
    }
    return false;
  }

  /// A schema of vertex types holds for the start too.
  [[nodiscard]] bool starts_well(vertex_id v, std::int32_t t) const
  {
    return t > 0 || params_.metapath.empty() || params_.metapath_of == metapath_kind::edge_labels ||
           graph_.node_types[v] == params_.metapath[0];
  }

  csr_arrays graph_;
  walk_params params_;
};

}  // namespace tendril::test
