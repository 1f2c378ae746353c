#include "cpu/walks/part_steps.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include <tendril/engine/walks/custom_walk_cpu.hpp>
#include <tendril/engine/walks/parts_cpu.hpp>
#include <tendril/engine/walks/support.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "jit/custom_module.hpp"
#include "jit/custom_walk_state.hpp"

namespace tendril {

namespace cpu {

part_steps::part_steps(part_walk walk, dynamic_walk_params const& params, graph const& rows,
                       engine::part_rows const& edges, transit_view const& graph, cpu_exec const& exec)
    : walk_(std::move(walk)),
      setup_(engine::setup_with(engine::make_setup(rows.view(), params), graph)),
      rejecting_(engine::rejects(params, walk_.has_bound))
{
  TENDRIL_EXPECTS(walk_.decide, "walk on parts: no function that decides its steps, expected what part_walk_of makes");
  setup_.rows = edges;
  if (walk_.has_bound) { largest_ = engine::largest_weights(rows, exec); }
  if (largest_) { setup_.largest = largest_->data(); }
}

sampling_rule part_steps::rule() const { return rejecting_ ? sampling_rule::reject : sampling_rule::scan; }

part_walk part_walk_of_text(custom_walk const& walk)
{
  std::shared_ptr<jit::custom_module const> const module =
      jit::for_parts([&] { return jit::module_of(walk.data(), jit::unit_graph::part); });
  auto const decide = [module](engine::dynamic_setup<transit_view> const& setup, bool rejecting,
                               engine::part_batch const& batch) {
    engine::dynamic_report report{};
    auto* const step = module->function<engine::part_step_function>(0);
    if (step(module->bytes.data(), &setup, rejecting ? 1 : 0, &batch, &report) != 0) {
      engine::throw_problem(report, setup.graph.num_vertices);
    }
  };
  return {identity_of(walk), module->flags != 0, decide};
}

std::string identity_of(custom_walk const& walk) { return jit::identity_of(walk.data()); }

}  // namespace cpu

std::string engine::struct_identity(std::type_info const& type, std::size_t size)
{
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                         &std::free);
  return fmt::format("struct {} of {} bytes", status == 0 ? name.get() : type.name(), size);
}

}  // namespace tendril
