// A part of a graph to a walker that may need to know edges of other parts.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <tendril/csr_view.hpp>

#include "dist/shard.hpp"

namespace tendril::dist {

/// Edges from a walker's previous vertex, by their targets, as the rank that has the vertex answered.
using known_edges = std::vector<std::pair<vertex_id, bool>>;

/// What one step of a walker asked.
struct step_questions {
  known_edges const* known = nullptr;
  std::vector<vertex_id> open = {};  ///< Candidates that nobody has answered for.
  bool guess = true;                 ///< Stands in for an answer; such a step is taken again.
};

/// Rows by their place in the part; edges of the previous vertex by its id.
/// @tparam View  Of the part's rows.
template <class View>
class asking_view {
 public:
  using row_type = typename View::row_type;

  asking_view(shard const& here, View const& rows, step_questions& questions)
      : rows_(rows), first_(here.part.first_vertex()), last_(here.part.last_vertex()), questions_(&questions)
  {
    node_types = here.node_types;
  }

  label_view node_types;  ///< Of the whole graph.

  [[nodiscard]] row_type row(std::int64_t place) const { return rows_.row(place); }

  /// Whether u -> x is an edge, or a guess.
  [[nodiscard]] bool has_edge(std::int64_t u, vertex_id x) const
  {
    if (u >= first_ && u < last_) { return rows_.has_edge(u - first_, x); }
    if (questions_->known != nullptr) {
      for (auto const& [candidate, is_edge] : *questions_->known) {
        if (candidate == x) { return is_edge; }
      }
    }
    auto& open = questions_->open;
    if (std::find(open.begin(), open.end(), x) == open.end()) { open.push_back(x); }
    return questions_->guess;
  }

 private:
  View rows_;
  std::int64_t first_, last_;
  step_questions* questions_;
};

}  // namespace tendril::dist
