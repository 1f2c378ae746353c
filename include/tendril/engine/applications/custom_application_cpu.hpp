// The functions of a shared library that holds one application compiled from text for the CPU; the library's side is
// src/cpu/applications/custom_application.cpp. No object with a destructor crosses this boundary.

#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <tendril/engine/applications/custom_application_unit.hpp>
#include <tendril/engine/applications/sample_grower.hpp>

namespace tendril::engine {

/// Reports the application's properties, and its values at each of `num_steps` steps.
using custom_about_function = void(void const* app, std::int32_t num_steps, custom_about* about,
                                   step_request* requests);

/// Receives the edges that a run of samples recorded, one call per step. `counts` [num_samples]: edges of each sample.
struct recorded_edge_sink {
  void* self;
  void (*take)(void* self, std::int32_t step, vertex_id const* sources, vertex_id const* targets,
               std::int64_t const* counts, std::int64_t num_samples);
};

/// Grows samples [begin, end); `sink` is null if no edges are recorded. @return 0, with the least problem in
/// `problem`, or 1 if memory is exhausted.
/// @param setup  An application_setup with the view that the library was compiled for.
using custom_grow_function = int(void const* app, void const* setup, std::int64_t begin, std::int64_t end,
                                 recorded_edge_sink const* sink, std::uint64_t* problem);

#ifdef TENDRIL_CUSTOM_UNIT

template <class A>
void tell_about(void const* app, std::int32_t num_steps, custom_about* about, step_request* requests)
{
  auto const& own = *static_cast<A const*>(app);
  *about = about_of(own);
  for (std::int32_t step = 0; step < num_steps; ++step) { requests[step] = request_of(own, step); }
}

template <class A>
int grow_custom(void const* app, void const* setup, std::int64_t begin, std::int64_t end,
                recorded_edge_sink const* sink, std::uint64_t* problem)
{
  try {
    auto const& own = *static_cast<application_setup<named_view> const*>(setup);
    std::vector<recorded_edges> edges(sink == nullptr ? 0 : static_cast<std::size_t>(own.num_steps));
    sample_grower grower(*static_cast<A const*>(app), own);
    grower.grow(begin, end, edges.empty() ? nullptr : edges.data());
    std::int32_t step = 0;
    for (recorded_edges const& of_step : edges) {
      sink->take(sink->self, step++, of_step.sources.data(), of_step.targets.data(), of_step.counts.data(),
                 end - begin);
    }
    *problem = grower.problem();
    return 0;
  } catch (std::bad_alloc const&) {
    return 1;
  }
}

#endif

}  // namespace tendril::engine
