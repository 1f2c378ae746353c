#include "cpu/walks/custom_steps.hpp"

#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tendril/engine/walks/support.hpp>
#include <tendril/error.hpp>

#include "jit/code_cache.hpp"  // content_hash
#include "jit/custom_module.hpp"
#include "jit/custom_walk_state.hpp"

namespace tendril::cpu {
namespace {

std::shared_ptr<jit::custom_module const> module_for_parts(custom_walk const& walk)
{
  try {
    return jit::part_module_of(walk.data());
  } catch (argument_error const& error) {
    throw argument_error(fmt::format(
        "on parts of a graph, where a walk reads the edges of the walker's own vertex alone: {}", error.what()));
  }
}

}  // namespace

custom_steps::custom_steps(custom_walk const& walk, dynamic_walk_params const& params, graph const& rows,
                           engine::part_rows const& edges, transit_view const& graph, cpu_exec const& exec)
    : walk_(walk), rows_(edges)
{
  setup_ = engine::setup_with(engine::make_setup(rows.view(), params), graph);
  module_ = module_for_parts(walk_);
  bool const has_bound = module_->flags != 0;
  rejecting_ = engine::rejects(params, has_bound);
  if (has_bound) { largest_ = engine::largest_weights(rows, exec); }
  if (largest_) { setup_.largest = largest_->data(); }
}

custom_steps::~custom_steps() = default;

void custom_steps::decide(std::span<engine::part_walker const> walkers, engine::part_step* steps) const
{
  engine::dynamic_report report{};
  auto* const step = module_->function<engine::part_step_function>(0);
  if (step(module_->bytes.data(), &setup_, rejecting_ ? 1 : 0, &rows_, walkers.data(), std::ssize(walkers), steps,
           &report) != 0) {
    engine::throw_problem(report, setup_.graph.num_vertices);
  }
}

sampling_rule custom_steps::rule() const { return rejecting_ ? sampling_rule::reject : sampling_rule::scan; }

std::string custom_steps::identity() const
{
  auto const& code = walk_.data();
  std::string fields;
  for (auto const& parameter : code.parameters) {
    std::visit(
        [&](auto const& value) {
          if constexpr (requires { value.size(); }) {
            fields += fmt::format(" {}=[{}]", parameter.name, fmt::join(value, " "));
          } else {
            fields += fmt::format(" {}={}", parameter.name, value);
          }
        },
        parameter.value);
  }
  return fmt::format("struct {} {}{}", code.struct_name, jit::content_hash({code.source}), fields);
}

}  // namespace tendril::cpu
