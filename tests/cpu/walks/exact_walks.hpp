#pragma once

// Exact distributions of short walks by brute force: every walk that the parameters allow, with its probability from
// the definitions (weights over their sum; node2vec's factors; labels as filters). Nothing of the engine is used.

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/graph.hpp>
#include <tendril/walk.hpp>

#include "support/statistics.hpp"  // drawn_from

namespace tendril::test {

/// Outcomes of an experiment (here rows of walks) and their probabilities or counts.
using outcome = std::vector<vertex_id>;
using outcome_probabilities = std::map<outcome, double>;
using outcome_counts = std::map<outcome, std::int64_t>;

/// Whether the counts fit the probabilities. An outcome that can't happen is a failure.
inline testing::AssertionResult fits(outcome_counts const& counts, outcome_probabilities const& exact,
                                     double effect = 0.05)
{
  std::vector<std::int64_t> drawn;
  std::vector<double> expected;
  for (auto const& [key, probability] : exact) {
    auto const found = counts.find(key);
    drawn.push_back(found == counts.end() ? 0 : found->second);
    expected.push_back(probability);
  }
  for (auto const& [key, count] : counts) {
    if (exact.count(key) == 0) {
      return testing::AssertionFailure() << testing::PrintToString(key) << " can't happen, and did " << count
                                         << " times";
    }
  }
  return drawn_from(drawn, expected, effect);
}

class exact_walks {
 public:
  exact_walks(graph const& graph, walk_params const& params) : graph_(graph.csr()), params_(params) {}

  /// All rows [length + 1] that a walk from `start` can fill.
  [[nodiscard]] outcome_probabilities from(vertex_id start) const
  {
    outcome_probabilities out;
    bool const fits_start = !of_types() || graph_.node_types[start] == params_.metapath[0];
    follow({start}, no_vertex, fits_start ? 1.0 : 0.0, out);
    if (!fits_start) { finish({start}, 1.0, out); }
    return out;
  }

 private:
  [[nodiscard]] bool of_types() const
  {
    return !params_.metapath.empty() && params_.metapath_of == metapath_kind::vertex_types;
  }

  void finish(outcome row, double probability, outcome_probabilities& out) const
  {
    row.resize(static_cast<std::size_t>(params_.length) + 1, no_vertex);
    if (probability > 0) { out[row] += probability; }
  }

  void follow(outcome const& row, vertex_id before, double probability, outcome_probabilities& out) const
  {
    if (probability == 0) { return; }
    if (static_cast<std::int64_t>(row.size()) > params_.length) {
      finish(row, probability, out);
      return;
    }
    finish(row, probability * params_.stop_prob, out);
    double rest = probability * (1 - params_.stop_prob);
    if (params_.restart_prob > 0) {
      outcome next = row;
      next.push_back(row.front());
      follow(next, no_vertex, rest * params_.restart_prob, out);
      rest *= 1 - params_.restart_prob;
    }
    auto const weights = weights_at(row, before);
    double total = 0;
    for (auto const& [target, weight] : weights) { total += weight; }
    if (total == 0) { finish(row, rest, out); }
    for (auto const& [target, weight] : weights) {
      outcome next = row;
      next.push_back(target);
      follow(next, row.back(), total > 0 ? rest * weight / total : 0, out);
    }
  }

  /// What each neighbour weighs for the next step.
  [[nodiscard]] std::map<vertex_id, double> weights_at(outcome const& row, vertex_id before) const
  {
    std::size_t const step = row.size() - 1;
    auto const& schema = params_.metapath;
    std::map<vertex_id, double> out;
    for (edge_id e = graph_.indptr[row.back()]; e < graph_.indptr[row.back() + 1]; ++e) {
      vertex_id const x = graph_.indices[e];
      if (!schema.empty() && (of_types() ? graph_.node_types[x] != schema[(step + 1) % schema.size()]
                                         : graph_.edge_labels[e] != schema[step % schema.size()])) {
        continue;
      }
      out[x] += (params_.weighted ? double{graph_.weights[e]} : 1.0) * factor(x, before);
    }
    return out;
  }

  [[nodiscard]] double factor(vertex_id x, vertex_id before) const
  {
    if (before == no_vertex) { return 1; }
    if (x == before) { return 1 / params_.p; }
    for (edge_id e = graph_.indptr[before]; e < graph_.indptr[before + 1]; ++e) {
      if (graph_.indices[e] == x) { return 1; }
    }
    return 1 / params_.q;
  }

  csr_arrays graph_;
  walk_params params_;
};

/// How often each row came out of `num_walks` walks from `start`.
inline outcome_counts count_walks(graph const& graph, walk_params const& params, vertex_id start,
                                  std::int64_t num_walks)
{
  std::vector<vertex_id> const starts(static_cast<std::size_t>(num_walks), start);
  walks const out = random_walk(graph, starts, params);
  outcome_counts counts;
  for (std::int64_t i = 0; i < num_walks; ++i) {
    vertex_id const* const row = out.vertices.data() + i * (params.length + 1);
    ++counts[outcome(row, row + params.length + 1)];
  }
  return counts;
}

}  // namespace tendril::test
