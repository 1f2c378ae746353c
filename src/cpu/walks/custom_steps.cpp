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
    throw argument_error(
        fmt::format("on parts of a graph, where a walk reads the edges of the walker's own vertex alone: {}", error.what()));
  }
}

}  // namespace

custom_steps::custom_steps(custom_walk const& walk, dynamic_walk_params const& params, graph const& rows,
                           engine::part_rows const& where, transit_view const& graph, cpu_exec const& exec)
    : walk_(walk), rows_(where)
{
  static_cast<engine::dynamic_terms&>(setup_) = engine::make_setup(rows.view(), params);
  setup_.graph = graph;
  module_ = module_for_parts(walk_);
  bool const has_bound = module_->flags != 0;
  rejecting_ = engine::rejects(params, has_bound);
  if (has_bound) { largest_ = engine::largest_weights(rows, exec); }
  if (largest_) { setup_.largest = largest_->data(); }
  csr_arrays const arrays = rows.csr();
  rows_.indptr = arrays.indptr;
  rows_.indices = arrays.indices;
  rows_.weights = arrays.weights;
  rows_.edge_labels = arrays.edge_labels;
  if (!rows_.edge_labels.empty()) {  // by the numbers of the whole graph's edges
    auto const* const first = static_cast<std::byte const*>(rows_.edge_labels.data);
    rows_.edge_labels.data = first - rows_.first_edge * rows_.edge_labels.bytes_per_label;
  }
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
