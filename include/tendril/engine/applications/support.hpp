// Library functions for the engines of sampling applications: shapes, results, messages. Host only.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <tendril/application.hpp>
#include <tendril/engine/applications/step.hpp>
#include <tendril/engine/applications/traits.hpp>
#include <tendril/engine/forms.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::engine {

/// A job before it runs: the number of samples, and the shape of each step.
struct application_job {
  application_traits traits;
  std::vector<step_shape> shapes;
  std::int64_t num_samples = 0;
  std::int64_t num_roots = 0;

  /// Whether steps count the vertices they add.
  [[nodiscard]] bool counts() const;
};

/// Makes the job of a call and checks the call's arguments.
/// @param num_steps  The value of steps().
/// @throws argument_error  roots that don't fill rows of num_roots; a step number, sample size or number of transits
///                         out of range; max_steps missing for until_done; more than 2^31 - 1 slots or transits a
///                         sample.
[[nodiscard]] application_job make_job(application_traits const& traits, int num_steps,
                                       std::function<step_request(int)> const& request, std::int64_t num_root_ids,
                                       std::int64_t num_roots, application_params const& params);

/// Allocates the result, including roots and sizes, uninitialised. @throws memory_error.
[[nodiscard]] samples allocate_samples(application_job const& job, application_params const& params,
                                       memory_resource& memory);

/// The places of the result's steps and of the initial roots, [steps + 1].
[[nodiscard]] std::vector<step_place> make_places(application_job const& job, samples& out, vertex_id* roots);

/// The keys of round 0, [steps].
[[nodiscard]] std::vector<rng_key> make_call_keys(application_terms const& setup);

/// The setup of a job, without its tables (places, shapes, keys, states).
[[nodiscard]] application_setup<graph_view> make_application_setup(graph_view const& graph, application_job const& job,
                                                                   application_params const& params,
                                                                   std::uint64_t first_sample, core::domain domain);

/// @throws argument_error describing the problem, if `code` isn't problem_code::none.
void throw_application_problem(std::uint64_t code, application_job const& job, std::uint64_t first_sample,
                               std::int64_t num_vertices);

template <class A>
[[nodiscard]] application_job job_of(A const& app, std::int64_t num_root_ids, std::int64_t num_roots,
                                     application_params const& params)
{
  auto const request = [&](int step) { return request_of(app, step); };
  return make_job(traits_of(app), app.steps(), request, num_root_ids, num_roots, params);
}

}  // namespace tendril::engine
