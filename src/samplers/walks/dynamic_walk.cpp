// The parts of dynamic walks that don't depend on where they run: arguments in, a setup or one clear line out.

#include <tendril/engine/walks/support.hpp>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "samplers/rules.hpp"

namespace tendril::engine {

bool rejects(dynamic_walk_params const& params, bool has_bound)
{
  validate(params);
  samplers::expect_rule(params.rule, samplers::dynamic_walk_rules(has_bound),
                        has_bound ? "dynamic walks" : "a dynamic walk without bound(state)");
  return has_bound && params.rule != sampling_rule::scan;
}

dynamic_setup<graph_view> make_setup(graph_view const& graph, dynamic_walk_params const& params)
{
  validate(params);
  dynamic_setup<graph_view> setup;
  setup.graph = graph;
  setup.step_key = core::make_key(params.seed, core::domain::dynamic_walk);
  setup.step_keys = core::key_schedule::of(setup.step_key);
  setup.ends = core::walk_ends::of(params.seed, params.stop_prob, params.restart_prob);
  setup.may_end = params.stop_prob > 0 || params.restart_prob > 0;
  setup.length = static_cast<std::int32_t>(params.length);
  setup.repeat_dead_ends = params.dead_ends == dead_end::repeat;
  return setup;
}

void throw_problem(dynamic_report const& report, std::int64_t num_vertices)
{
  auto const where = [&] {
    std::string const edge = report.edge < 0 ? "" : fmt::format(", edge {}", report.edge);
    return fmt::format("walk {}, step {}, vertex {}{}", report.walk, report.step, report.vertex, edge);
  };
  switch (report.what) {
    case dynamic_problem::bound:
      throw argument_error(fmt::format("bound: {} at {}, expected a finite number, 0 or more", report.value, where()));
    case dynamic_problem::above_bound:
      throw argument_error(
          fmt::format("weight: {} at {}, expected nothing above the bound that the walk gives", report.value, where()));
    case dynamic_problem::start:
      throw argument_error(fmt::format("start: vertex {} of walk {} is out of range, the graph has {} vertices",
                                       report.vertex, report.walk, num_vertices));
    default:
      throw argument_error(fmt::format("weight: {} at {}, expected a finite number, 0 or more", report.value, where()));
  }
}

}  // namespace tendril::engine
