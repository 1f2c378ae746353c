#include "cpu/walks/custom_steps.hpp"

#include <tendril/engine/walks/custom_walk_cpu.hpp>
#include <tendril/engine/walks/support.hpp>

#include "jit/custom_module.hpp"
#include "jit/custom_walk_state.hpp"

namespace tendril::cpu {
custom_steps::custom_steps(custom_walk const& walk, dynamic_walk_params const& params, graph const& rows,
                           engine::part_rows const& edges, transit_view const& graph, cpu_exec const& exec)
    : walk_(walk), setup_(engine::setup_with(engine::make_setup(rows.view(), params), graph))
{
  setup_.rows = edges;
  module_ = jit::for_parts([&] { return jit::module_of(walk_.data(), jit::unit_graph::part); });
  bool const has_bound = module_->flags != 0;
  rejecting_ = engine::rejects(params, has_bound);
  if (has_bound) { largest_ = engine::largest_weights(rows, exec); }
  if (largest_) { setup_.largest = largest_->data(); }
}

custom_steps::~custom_steps() = default;

void custom_steps::decide(engine::part_batch const& batch) const
{
  engine::dynamic_report report{};
  auto* const step = module_->function<engine::part_step_function>(0);
  if (step(module_->bytes.data(), &setup_, rejecting_ ? 1 : 0, &batch, &report) != 0) {
    engine::throw_problem(report, setup_.graph.num_vertices);
  }
}

sampling_rule custom_steps::rule() const { return rejecting_ ? sampling_rule::reject : sampling_rule::scan; }

std::string identity_of(custom_walk const& walk) { return jit::identity_of(walk.data()); }

}  // namespace tendril::cpu
