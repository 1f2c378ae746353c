// Applications that come as text: the unit that is compiled around one, and what it says of itself.

#include <tendril/custom_application.hpp>

#include <algorithm>
#include <utility>

#include "jit/custom_application_state.hpp"

namespace tendril {
namespace jit {
namespace {

constexpr std::string_view application_exports[] = {"tendril_about", "tendril_grow"};
// In the order in which src/gpu/applications/custom_application.cpp takes them.
constexpr std::string_view application_kernels[] = {
    "tendril_about",
    "tendril::engine::team_kernel<tendril_application, tendril::named_view>",
    "tendril::engine::lane_kernel<tendril_application, tendril::named_view>",
    "tendril::engine::call_kernel<tendril_application, tendril::named_view>",
    "tendril::engine::end_step_kernel<tendril_application, tendril::named_view>",
    "tendril::engine::transit_kernel<tendril_application, tendril::named_view>",
    "tendril::engine::few_calls_kernel<tendril_application, tendril::named_view>",
    "tendril::engine::block_calls_kernel<tendril_application, tendril::named_view>",
    "tendril::engine::grid_calls_kernel<tendril_application, tendril::named_view>",
    "tendril::engine::listed_call_kernel<tendril_application, tendril::named_view>"};
constexpr embedded_text application_headers[] = {{"tendril/application.hpp",
                                                  "#pragma once\n#include <tendril/application_concept.hpp>\n#include "
                                                  "<tendril/engine/applications/random_stream.hpp>\n"}};

}  // namespace

custom_kind const& application_kind()
{
  static constexpr custom_kind kind{
      .noun = "application",
      .file = "application.cpp",
      .names = R"(using tendril::combined_edges;
using tendril::edge_id;
using tendril::edge_list;
using graph_view = tendril::named_view;
using tendril::label_id;
using tendril::no_vertex;
using tendril::random_stream;
using tendril::rng_key;
using tendril::sample_view;
using tendril::sampling;
using tendril::state_of;
using tendril::transit_list;
using tendril::until_done;
using tendril::vertex_id;
)",
      .require = "tendril::require_application",
      .head = "application: ",
      .types = "using tendril_application = tendril::engine::compiled_application<tendril_type>;\n",
      .flags = "0",
      .cpu_head = "#include <tendril/engine/applications/custom_application_cpu.hpp>\n",
      .cpu_functions =
          R"(TENDRIL_EXPORT void tendril_about(void const* app, std::int32_t num_steps,
                                  tendril::engine::custom_about* about, tendril::engine::step_request* requests)
{
  tendril::engine::tell_about<tendril_application>(app, num_steps, about, requests);
}
TENDRIL_EXPORT int tendril_grow(void const* app, void const* setup, std::int64_t begin,
                                std::int64_t end, tendril::engine::recorded_edge_sink const* sink, std::uint64_t* problem)
{
  return tendril::engine::grow_custom<tendril_application>(app, setup, begin, end, sink, problem);
}
)",
      .gpu_head = R"(#include <tendril/engine/applications/listed.cuh>
#include <tendril/engine/applications/team.cuh>
#include <tendril/engine/applications/transit.cuh>
#include <tendril/engine/applications/custom_application_unit.hpp>
)",
      .gpu_functions =
          R"(__global__ void tendril_about(tendril_application const app, std::int32_t const num_steps,
                              tendril::engine::custom_about* about, tendril::engine::step_request* requests)
{
  std::int32_t const step = blockIdx.x * blockDim.x + threadIdx.x;
  if (step == 0) { *about = tendril::engine::about_of(app); }
  if (step < num_steps) { requests[step] = tendril::engine::request_of(app, step); }
}
)",
      .exports = application_exports,
      .kernels = application_kernels,
      .headers = application_headers,
  };
  return kind;
}

engine::application_job custom_job(custom_application::state& state, int place, ask_application const& ask,
                                   std::int64_t num_root_ids, std::int64_t num_roots, application_params const& params)
{
  std::lock_guard const guard(state.known_mutex);
  known_application& known = state.known[place];
  if (!known.asked) {
    ask(0, &known.about, nullptr);
    known.asked = true;
  }
  std::int32_t const num_steps = known.about.traits.until_done ? params.max_steps : known.about.num_steps;
  // A number out of range is refused below.
  std::int32_t const wanted = num_steps < engine::problem_code::most_steps ? std::max(num_steps, 0) : 0;
  if (known.requests.size() < static_cast<std::size_t>(wanted)) {
    std::vector<engine::step_request> requests(static_cast<std::size_t>(wanted));
    ask(wanted, &known.about, requests.data());
    known.requests = std::move(requests);
  }
  return engine::make_job(
      known.about.traits, known.about.num_steps,
      [&](int step) { return known.requests[static_cast<std::size_t>(step)]; }, num_root_ids, num_roots, params);
}

}  // namespace jit

custom_application::custom_application(std::string source, std::string struct_name,
                                       std::vector<custom_parameter> parameters, custom_options options)
    : state_(std::make_shared<state>())
{
  jit::set_source(*state_, std::move(source), std::move(struct_name), std::move(options));
  jit::set_parameters(*state_, std::move(parameters));
}

custom_application custom_application::from_bytes(std::string source, std::string struct_name,
                                                  std::span<std::byte const> fields, custom_options options)
{
  custom_application application(std::move(source), std::move(struct_name), {}, std::move(options));
  jit::set_bytes(*application.state_, fields);
  return application;
}

std::string const& custom_application::source() const noexcept { return state_->source; }
std::string const& custom_application::struct_name() const noexcept { return state_->struct_name; }

}  // namespace tendril
