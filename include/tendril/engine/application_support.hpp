// What the engines of sampling applications have in the library: shapes, results, messages. Host only.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <tendril/application.hpp>
#include <tendril/engine/application_step.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::engine {

/// What an application says of itself, and what its type tells.
struct application_traits {
  bool collective = false;
  bool until_done = false;
  bool adds_edges = false;
  bool scans_neighbors = false;
  bool own_transits = false;    ///< Has step_transits().
  bool replaces_roots = false;  ///< May write its roots.
  std::int64_t state_bytes = 0;
};

/// A job before it runs: how many samples, what each step looks like.
struct application_job {
  application_traits traits;
  std::vector<step_shape> shapes;
  std::int64_t num_samples = 0;
  std::int64_t num_roots = 0;

  /// Whether steps count what they add.
  [[nodiscard]] bool counts() const;
};

/// What an application asks for at step `step`; num_transits -1 for the default.
struct step_request {
  std::int64_t sample_size;
  std::int64_t num_transits;
  bool unique;
};

/// The job of a call whose arguments are in order.
/// @param num_steps  What steps() returns.
/// @throws argument_error  roots that don't fill rows of num_roots; a step number, sample size or number of transits out of
///                         range; max_steps missing for until_done; more than 2^31 - 1 slots or transits a sample.
[[nodiscard]] application_job make_job(application_traits const& traits, int num_steps,
                                       std::function<step_request(int)> const& request, std::int64_t num_root_ids,
                                       std::int64_t num_roots, application_params const& params);

/// Memory for the result, roots and sizes included, uninitialised. @throws memory_error.
[[nodiscard]] samples allocate_samples(application_job const& job, application_params const& params,
                                       memory_resource& memory);

/// The places of a result and of the roots that it starts from, [steps + 1].
[[nodiscard]] std::vector<step_place> make_places(application_job const& job, samples& out, vertex_id* roots);

/// The keys of round 0, [steps].
[[nodiscard]] std::vector<rng_key> make_call_keys(application_setup const& setup);

/// The setup of a job, without its tables: places, shapes, keys, states.
[[nodiscard]] application_setup make_application_setup(graph_view const& graph, application_job const& job,
                                                       application_params const& params, std::uint64_t first_sample,
                                                       core::domain domain);

/// @throws argument_error that says what the problem was, if `code` isn't problem_code::none.
void throw_application_problem(std::uint64_t code, application_job const& job, std::uint64_t first_sample,
                               std::int64_t num_vertices);

template <class A>
[[nodiscard]] application_traits traits_of(A const& app)
{
  application_traits traits;
  traits.collective = is_collective<A>;
  traits.until_done = app.steps() == until_done;
  traits.adds_edges = application_has::edges<A>;
  traits.scans_neighbors = application_has::scans<A>;
  traits.own_transits = application_has::step_transits<A> || application_has::random_transits<A>;
  traits.replaces_roots = traits.own_transits || application_has::end_step<A>;
  if constexpr (application_has::state<A>) { traits.state_bytes = sizeof(typename A::state); }
  return traits;
}

template <class A>
[[nodiscard]] application_job job_of(A const& app, std::int64_t num_root_ids, std::int64_t num_roots,
                                     application_params const& params)
{
  auto const request = [&](int step) {
    step_request out{app.sample_size(step), -1, false};
    if constexpr (application_has::num_transits<A>) { out.num_transits = app.num_transits(step); }
    if constexpr (application_has::unique<A>) { out.unique = app.unique(step); }
    return out;
  };
  return make_job(traits_of(app), app.steps(), request, num_root_ids, num_roots, params);
}

}  // namespace tendril::engine
