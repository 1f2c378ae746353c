// Walks that come as text: the unit that is compiled around one.

#include <tendril/custom_walk.hpp>

#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "jit/code_cache.hpp"  // content_hash
#include "jit/custom_walk_state.hpp"

namespace tendril {
namespace jit {
namespace {

constexpr std::string_view walk_exports[] = {"tendril_walk"};
constexpr std::string_view walk_kernels[] = {
    "tendril::engine::scan_walk_kernel<tendril_scanning, tendril::named_view, tendril::engine::race_sampler>",
    "tendril::engine::reject_walk_kernel<tendril_rejecting, tendril::named_view>"};
constexpr std::string_view part_kernels[] = {
    "tendril::engine::scan_steps_kernel<tendril_scanning, tendril::named_view, tendril::engine::race_sampler>",
    "tendril::engine::reject_steps_kernel<tendril_rejecting, tendril::named_view>"};
constexpr embedded_text walk_headers[] = {
    {"tendril/dynamic_walk.hpp", "#pragma once\n#include <tendril/walk_concept.hpp>\n"}};

}  // namespace

custom_kind const& walk_kind()
{
  static constexpr custom_kind kind{
      .noun = "walk",
      .file = "walk.cpp",
      .names = R"(using tendril::edge_id;
using graph_view = tendril::named_view;
using tendril::label_id;
using tendril::no_vertex;
using tendril::vertex_id;
using tendril::walk_edge;
using tendril::walk_state;
)",
      .require = "tendril::require_dynamic_walk",
      .head = "dynamic walk: ",
      .types = R"(using tendril_scanning = tendril::engine::scanning_walk<tendril_type>;
using tendril_rejecting = tendril::engine::rejecting_walk<tendril_type>;
)",
      .flags = "tendril::walk_has::bound<tendril_type> ? 1 : 0",
      .cpu_head = "#include <tendril/engine/walks/custom_walk_cpu.hpp>\n",
      .cpu_functions =
          R"(TENDRIL_EXPORT int tendril_walk(void const* walk, void const* setup,
                                int rejecting, tendril::engine::dynamic_batch const* batch,
                                std::int64_t begin, std::int64_t end, tendril::engine::dynamic_report* report)
{
  return tendril::engine::walk_custom<tendril_scanning>(walk, setup, rejecting, batch, begin, end, report);
}
)",
      .part_functions =
          R"(TENDRIL_EXPORT int tendril_walk(void const* walk, void const* setup, int rejecting,
                                tendril::engine::part_batch const* batch, tendril::engine::dynamic_report* report)
{
  return tendril::engine::step_custom<tendril_scanning>(walk, setup, rejecting, batch, report);
}
)",
      .gpu_head = R"(#include <tendril/engine/walks/custom_walk_unit.hpp>
#include <tendril/engine/walks/reject_kernel.cuh>
#include <tendril/engine/walks/scan_kernel.cuh>
)",
      .part_gpu_head = R"(#include <tendril/engine/walks/custom_walk_unit.hpp>
#include <tendril/engine/walks/part_kernels.cuh>
)",
      .gpu_functions = "",
      .exports = walk_exports,
      .kernels = walk_kernels,
      .part_kernels = part_kernels,
      .headers = walk_headers,
  };
  return kind;
}

std::string identity_of(custom_code const& code)
{
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
  return fmt::format("struct {} {}{}", code.struct_name, content_hash({code.source}), fields);
}

}  // namespace jit

custom_walk::custom_walk(std::string source, std::string struct_name, std::vector<custom_parameter> parameters,
                         custom_walk_options options)
    : state_(std::make_shared<state>())
{
  jit::set_source(*state_, std::move(source), std::move(struct_name), std::move(options));
  jit::set_parameters(*state_, std::move(parameters));
}

custom_walk custom_walk::from_bytes(std::string source, std::string struct_name, std::span<std::byte const> fields,
                                    custom_walk_options options)
{
  custom_walk walk(std::move(source), std::move(struct_name), {}, std::move(options));
  jit::set_bytes(*walk.state_, fields);
  return walk;
}

std::string const& custom_walk::source() const noexcept { return state_->source; }
std::string const& custom_walk::struct_name() const noexcept { return state_->struct_name; }

}  // namespace tendril
