// Sample-parallel execution of sampling applications, for nvcc and NVRTC: threads belong to samples. Two kernels: in
// the first, one thread runs a whole sample, for applications whose steps make one call each (walks); in the second,
// the calls of one step are spread over all threads. Inputs and random numbers of a call: engine/applications/step.hpp.
// CPU twin: engine/applications/cpu.hpp. Applications that need one block per sample: engine/applications/team.cuh.

#pragma once

#include <cstdint>

#include <tendril/engine/applications/kernels.hpp>

namespace tendril::engine {

/// Stores `code` if it is smaller than every problem reported so far. Any thread.
__device__ __forceinline__ void report_problem(std::uint64_t* least, std::uint64_t code)
{
  if (code != problem_code::none) {
    atomicMin(reinterpret_cast<unsigned long long*>(least), static_cast<unsigned long long>(code));
  }
}

/// Whether a sample has ended before a step, because the previous step added nothing. For applications that run
/// until_done, whose steps are counted.
__device__ __forceinline__ bool has_ended(application_terms const& setup, std::int64_t index, std::int32_t step)
{
  return setup.until_done && step > 0 && setup.places()[step].sizes[index] == 0;
}

/// The results of two neighbouring calls.
struct call_pair {
  vertex_id first = no_vertex, second = no_vertex;
};

/// Makes calls 2k and 2k + 1 for one transit (collective: for one sample); the two calls share a block of random bits.
/// `sample.call` is 2k. Any thread.
template <class A, class View, class Edges>
__device__ __forceinline__ call_pair call_both(A const& app, rng_key key, basic_sample_view<View>& sample,
                                               std::int64_t index, transit_list const& transits, Edges const& edges,
                                               std::uint32_t sample_size, std::uint64_t& problem)
{
  call_pair out;
  out.first = call_next(app, key, sample, index, transits, edges, sample_size, problem);
  if (++sample.call < sample_size) {
    out.second = call_next(app, key, sample, index, transits, edges, sample_size, problem);
  }
  return out;
}

/// Writes both results, in one store if they are aligned. The cache evicts these lines first, since results are written
/// once and rarely read.
__device__ __forceinline__ void store_both(vertex_id* out, call_pair const& pair, bool has_second)
{
  if (has_second && reinterpret_cast<std::uintptr_t>(out) % 8 == 0) {
    __stcs(reinterpret_cast<uint2*>(out), make_uint2(pair.first, pair.second));
  } else {
    __stcs(out, pair.first);
    if (has_second) { __stcs(out + 1, pair.second); }
  }
}

/// Thread n makes one pair of calls of one step; neighbouring threads write neighbouring slots. Any threads that cover
/// [0, num_pairs). For individual applications.
template <class A, class View>
__global__ __launch_bounds__(call_threads) void call_kernel(A const __grid_constant__ app,
                                                            application_setup<View> const __grid_constant__ setup,
                                                            call_task const __grid_constant__ task)
{
  if constexpr (!is_collective<A>) {
    std::uint32_t const n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= task.num_pairs) { return; }
    step_shape const& shape = setup.shape(task.step);
    auto const m = static_cast<std::uint32_t>(shape.sample_size);
    std::uint32_t const parent = shape.by_pairs.quotient(n);
    std::uint32_t const first_call = 2 * (n - parent * shape.by_pairs.divisor());
    std::uint32_t const row = shape.by_transits.quotient(parent);
    std::int64_t const index = task.first_index + row;
    auto sample = view_of<A>(setup, index, task.step);
    sample.transit = parent - row * shape.by_transits.divisor();
    sample.call = first_call;

    std::uint64_t problem = problem_code::none;
    call_pair pair;
    if (!has_ended(setup, index, task.step)) {
      vertex_id const transit = transit_of(app, setup, sample, sample.transit);
      if (is_transit(sample, index, transit, problem)) {
        pair = call_both(app, setup.key(task.step), sample, index, transit_list(transit),
                         basic_edge_list(setup.graph.row(transit)), m, problem);
      }
    }
    step_place const& place = setup.places()[task.step + 1];
    store_both(place.vertices + index * place.stride + std::int64_t{sample.transit} * m + first_call, pair,
               first_call + 1 < m);
    report_problem(task.problem, problem);
  }
}

/// Runs all steps, one thread per sample. Any threads, in a loop over the grid. For individual applications.
template <class A, class View>
__global__ __launch_bounds__(call_threads) void lane_kernel(A const __grid_constant__ app,
                                                            application_setup<View> const __grid_constant__ setup,
                                                            lane_task const __grid_constant__ task)
{
  if constexpr (!is_collective<A>) {
    std::uint64_t problem = problem_code::none;
    std::int64_t const stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; index < setup.num_samples;
         index += stride) {
      bool grows = true;
      for (std::int32_t step = 0; step < setup.num_steps; ++step) {
        step_place const& place = setup.places()[step + 1];
        vertex_id pick = no_vertex;
        if (grows) {
          auto sample = view_of<A>(setup, index, step);
          vertex_id const transit = transit_of(app, setup, sample, 0);
          if (is_transit(sample, index, transit, problem)) {
            pick = call_next(app, setup.key(step), sample, index, transit_list(transit),
                             basic_edge_list(setup.graph.row(transit)), 1, problem);
          }
        }
        place.vertices[index * place.stride] = pick;
        if (place.sizes != nullptr) { place.sizes[index] = pick == no_vertex ? 0 : 1; }
        if constexpr (application_has::end_step<A>) {
          if (grows) {
            auto after = view_of<A>(setup, index, step + 1);
            app.end_step(after, step);
          }
        }
        grows = grows && !(setup.until_done && pick == no_vertex);
      }
      if (task.checked && setup.until_done && grows) {
        problem = min(problem, problem_code::of(index, setup.num_steps, application_problem::steps));
      }
    }
    report_problem(task.problem, problem);
  }
}

/// Calls end_step() of every sample that hasn't ended. Any threads, in a loop over the grid.
template <class A, class View>
__global__ __launch_bounds__(call_threads) void end_step_kernel(A const __grid_constant__ app,
                                                                application_setup<View> const __grid_constant__ setup,
                                                                std::int32_t const step)
{
  if constexpr (application_has::end_step<A>) {
    std::int64_t const stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; index < setup.num_samples;
         index += stride) {
      if (has_ended(setup, index, step)) { continue; }
      auto after = view_of<A>(setup, index, step + 1);
      app.end_step(after, step);
    }
  }
}

}  // namespace tendril::engine
