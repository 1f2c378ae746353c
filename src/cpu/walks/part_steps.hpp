// The steps of a dynamic walk on one part of a graph.

#pragma once

#include <functional>
#include <memory>

#include <tendril/custom_walk.hpp>
#include <tendril/engine/walks/part_walker.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/sharded_walk.hpp>

namespace tendril::cpu {

/// Where the rows of a part lie in the whole graph.
struct part_begin {
  vertex_id vertex = 0;
  edge_id edge = 0;
};

class part_steps {
 public:
  /// @param rows   The part's, as a graph of their own.
  /// @param first  The vertex of row 0, and the number of its first edge, in the whole graph.
  /// @param whole  What is known of the whole graph.
  /// @throws argument_error for parameters out of range.
  part_steps(part_walk walk, dynamic_walk_params const& params, graph const& rows, part_begin const& first,
             transit_view const& whole, cpu_exec const& exec);

  /// Decides the next step of each walker, all of which stand on vertices of the part. Thread-safe.
  /// @throws argument_error for a weight or bound that is none.
  void decide(engine::part_batch const& batch) const { decide_(rejecting_, batch); }

  [[nodiscard]] sampling_rule rule() const;  ///< reject or scan.

 private:
  std::shared_ptr<buffer<float> const> largest_;
  bool rejecting_;
  std::function<void(bool, engine::part_batch const&)> decide_;
};

/// A walk that came as text. @throws argument_error for a struct that doesn't compile, or that reads more than the edges of the
/// walker's own vertex; io_error without a compiler.
/// @param form  Of the parts that it steps on.
[[nodiscard]] part_walk part_walk_of_text(custom_walk const& walk, graph_form form);

/// What a walk that came as text is, for comparisons between processes.
[[nodiscard]] std::string identity_of(custom_walk const& walk);

}  // namespace tendril::cpu
