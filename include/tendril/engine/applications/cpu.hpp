// Sampling applications on the CPU: one thread grows a whole sample, step by step. Inputs and random numbers of a call:
// engine/applications/step.hpp. The GPU's executors must give the same results as this executor.

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <tendril/engine/applications/sample_grower.hpp>
#include <tendril/engine/applications/support.hpp>

namespace tendril {
namespace engine {

/// Grows a run of samples and records their edges [num_steps], or null; returns the least problem.
using grow_run = std::function<std::uint64_t(application_setup<graph_view> const&, std::int64_t begin, std::int64_t end,
                                             recorded_edges* edges)>;

/// Runs a whole call on the CPU except the growing of samples. @throws as run_application.
[[nodiscard]] samples run_on_cpu(graph const& graph, application_job const& job, std::span<vertex_id const> roots,
                                 application_params const& params, cpu_exec const& exec, std::int64_t first_sample,
                                 core::domain domain, grow_run const& grow);

/// Runs run_application with the random numbers of `domain`.
template <class A>
[[nodiscard]] samples run_in_domain(graph const& graph, A const& app, std::span<vertex_id const> roots,
                                    std::int64_t num_roots, application_params const& params, cpu_exec const& exec,
                                    std::int64_t first_sample, core::domain domain)
{
  require_application<A>();
  expect_form<application_forms<A>>(graph.view());
  auto const job = job_of(app, static_cast<std::int64_t>(roots.size()), num_roots, params);
  return run_on_cpu(
      graph, job, roots, params, exec, first_sample, domain,
      [&](application_setup<graph_view> const& setup, std::int64_t begin, std::int64_t end, recorded_edges* edges) {
        return visit_form<application_forms<A>>(setup.graph, [&](auto const& view) {
          auto const own = setup_with(setup, view);
          sample_grower grower(app, own);
          grower.grow(begin, end, edges);
          return grower.problem();
        });
      });
}

}  // namespace engine

/// Grows samples by an application on this machine's cores.
///
/// Sample i depends only on the graph, the application, params.seed, its roots and its logical id first_sample + i
/// (docs/reproducibility.md). The GPU's overload gives the same bytes with either executor.
///
/// @param graph      In host memory; in CSR form, or in any form if the application's functions take `auto&`.
/// @param app        A struct as <tendril/application.hpp> describes; all data it points to must be in host memory.
/// @param roots      [n, num_roots] vertices, row-major: the initial vertices of each sample (<tendril/starts.hpp> can
///                   draw them).
/// @param num_roots  Number of roots of each sample, >= 1.
/// @return           In the memory of `exec`.
/// @throws argument_error  for a form of graph that the application can't read; parameters and roots out of range; a step that adds a vertex, or follows a transit, that
///                         is not in the graph; with `checked`: a sample that still grows after max_steps. If there are
///                         several problems, the message names the problem of the least sample. memory_error.
template <class A>
[[nodiscard]] samples run_application(graph const& graph, A const& app, std::span<vertex_id const> roots,
                                      std::int64_t num_roots, application_params const& params,
                                      cpu_exec const& exec = {}, std::int64_t first_sample = 0)
{
  return engine::run_in_domain(graph, app, roots, num_roots, params, exec, first_sample, core::domain::application);
}

}  // namespace tendril
