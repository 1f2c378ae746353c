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

part_steps::part_steps(part_walk walk, dynamic_walk_params const& params, graph const& rows, part_begin const& first,
                       transit_view const& whole, cpu_exec const& exec)
    : rejecting_(engine::rejects(params, walk.has_bound))
{
  auto terms = engine::make_setup(rows.view(), params);
  if (walk.has_bound) { largest_ = engine::largest_weights(rows, exec); }
  if (largest_) { terms.largest = largest_->data(); }
  auto const decide_by = [&]<class View>(part_walk::decider<View> decide, View const& view) {
    TENDRIL_EXPECTS(decide, "walk on parts: no function that decides its steps, expected what part_walk_of makes");
    auto setup = engine::setup_with(terms, basic_transit_view<View>{whole.num_vertices, whole.node_types});
    setup.rows = {view, first.vertex, first.edge};
    decide_ = [setup, decide = std::move(decide)](bool rejecting, engine::part_batch const& batch) {
      decide(setup, rejecting, batch);
    };
  };
  graph_view const view = rows.view();
  if (view.form() == graph_form::csr) {
    decide_by(std::move(walk.on_csr), view.as<csr_view>());
  } else {
    decide_by(std::move(walk.on_compressed), view.as<compressed_view>());
  }
}

sampling_rule part_steps::rule() const { return rejecting_ ? sampling_rule::reject : sampling_rule::scan; }

part_walk part_walk_of_text(custom_walk const& walk, graph_form form)
{
  std::shared_ptr<jit::custom_module const> const module =
      jit::for_parts([&] { return jit::module_of(walk.data(), jit::part_of(form)); });
  auto const decide = [module](auto const& setup, bool rejecting, engine::part_batch const& batch) {
    engine::dynamic_report report{};
    auto* const step = module->function<engine::part_step_function>(0);
    if (step(module->bytes.data(), &setup, rejecting ? 1 : 0, &batch, &report) != 0) {
      engine::throw_problem(report, setup.graph.num_vertices);
    }
  };
  part_walk out;
  out.identity = identity_of(walk);
  out.has_bound = module->flags != 0;
  if (form == graph_form::csr) {
    out.on_csr = decide;
  } else {
    out.on_compressed = decide;
  }
  return out;
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
