// The steps of a dynamic walk on one part of a graph.

#pragma once

#include <memory>

#include <tendril/custom_walk.hpp>
#include <tendril/engine/walks/part_walker.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/sharded_walk.hpp>

namespace tendril::cpu {

class part_steps {
 public:
  /// @param rows   The part's, as a graph of their own.
  /// @param edges  The same by the numbers of the whole graph.
  /// @param graph  What is known of the whole graph.
  /// @throws argument_error for parameters out of range.
  part_steps(part_walk walk, dynamic_walk_params const& params, graph const& rows, engine::part_rows const& edges,
             transit_view const& graph, cpu_exec const& exec);

  /// Decides the next step of each walker, all of which stand on vertices of the part. Thread-safe.
  /// @throws argument_error for a weight or bound that is none.
  void decide(engine::part_batch const& batch) const { walk_.decide(setup_, rejecting_, batch); }

  [[nodiscard]] sampling_rule rule() const;  ///< reject or scan.

 private:
  part_walk walk_;
  std::shared_ptr<buffer<float> const> largest_;
  engine::dynamic_setup<transit_view> setup_;
  bool rejecting_;
};

/// A walk that came as text. @throws argument_error for a struct that doesn't compile, or that reads more than the edges of the
/// walker's own vertex; io_error without a compiler.
[[nodiscard]] part_walk part_walk_of_text(custom_walk const& walk);

/// What a walk that came as text is, for comparisons between processes.
[[nodiscard]] std::string identity_of(custom_walk const& walk);

}  // namespace tendril::cpu
