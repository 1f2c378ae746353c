// The steps of a walk that came as text, on one part of a graph.

#pragma once

#include <memory>
#include <string>

#include <tendril/custom_walk.hpp>
#include <tendril/engine/walks/part_walker.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::jit {
class custom_module;
}  // namespace tendril::jit

namespace tendril::cpu {

class custom_steps {
 public:
  /// @param rows   The part's, as a graph of their own.
  /// @param edges  The same by the numbers of the whole graph.
  /// @param graph  What is known of the whole graph.
  /// @throws argument_error for parameters out of range, a struct that doesn't compile, or that reads more than the edges of
  ///         the walker's own vertex; io_error without a compiler.
  custom_steps(custom_walk const& walk, dynamic_walk_params const& params, graph const& rows,
               engine::part_rows const& edges, transit_view const& graph, cpu_exec const& exec);
  ~custom_steps();
  custom_steps(custom_steps const&) = delete;
  custom_steps& operator=(custom_steps const&) = delete;

  /// Decides the next step of each walker, all of which stand on vertices of the part. Thread-safe.
  /// @throws argument_error for a weight or bound that is none.
  void decide(engine::part_batch const& batch) const;

  [[nodiscard]] sampling_rule rule() const;  ///< reject or scan.

 private:
  custom_walk walk_;
  std::shared_ptr<jit::custom_module const> module_;
  std::shared_ptr<buffer<float> const> largest_;
  engine::dynamic_setup<transit_view> setup_;
  bool rejecting_ = false;
};

/// What a walk is, for comparisons between processes.
[[nodiscard]] std::string identity_of(custom_walk const& walk);

}  // namespace tendril::cpu
