// Sampling applications: any way to grow samples from a graph, as one small struct that is compiled for CPU and GPU from
// one source. The abstraction is NextDoor's (Jangda, Polisetty, Guha, Serafini, "Accelerating graph sampling for graph
// machine learning using GPUs", EuroSys'21): a sample grows step by step, by the vertices that next() chooses among the
// neighbours of the sample's transits.
//
//   struct my_application {
//     TENDRIL_HD int steps() const;                          // or until_done: until a step adds nothing
//     TENDRIL_HD std::int64_t sample_size(int step) const;   // calls of next() for each transit (collective: sample)
//     TENDRIL_HD vertex_id next(sample_view& sample, transit_list const& transits, edge_list const& edges, int step,
//                               random_stream& rng) const;   // the vertex to add, or no_vertex
//     // optional:
//     static constexpr sampling sampling_type();             // individual (the default), or collective: next() is
//                                                            // given combined_edges, those of all transits
//     TENDRIL_HD bool unique(int step) const;                // no vertex twice among those that a step adds to a sample
//     TENDRIL_HD std::int64_t num_transits(int step) const;  // default: slots of the step before; roots at step 0
//     TENDRIL_HD vertex_id step_transits(int step, sample_view const& sample, std::int64_t i) const;  // and, if it
//                                                            // draws, random_stream& rng. Default: vertex i of the step
//                                                            // before
//     TENDRIL_HD void end_step(sample_view& sample, int step) const;  // once a sample, after each step: state, roots
//     struct state { … };                                    // what a sample carries; zero bytes at first
//     static constexpr bool adds_edges = true;               // next() calls sample.add_edge(u, v)
//     static constexpr bool scans_neighbors = true;          // next() reads whole lists: a hint to the planner
//     static constexpr bool reads_transit_only = true;       // edges are read by next() alone, and only those that it is
//                                                            // given: the graph may be larger than the GPU's memory
//   };
//
// next() is a pure function of what it is given: executors may call it in any order, and twice for the same slot. It may
// write the sample's state or roots only where a step makes a single call a sample; else end_step() does. Edges are
// recorded by a second call, so an application that adds edges writes neither in next().
//
// With reads_transit_only, next() looks at `edges` alone, and neither step_transits() nor end_step() looks at any: no
// has_edge() of another vertex, no prev_edges(). Of combined_edges it reads vertices, edges[k], and where they are, but no
// weights, labels or of_transit(). Degrees and types of any vertex may be asked for.
//
// CPU and GPU agree to the bit if the application does: use integers, + - * / and comparisons, compiled without
// contraction (-ffp-contract=off, nvcc --fmad=false), not the mathematical library.
//
// <tendril/engine/application_cpu.hpp> and <tendril/engine/application_gpu.cuh> run applications. They need src/ on the
// include path, for the rules of src/core. <tendril/custom_application.hpp> compiles a struct that comes as text.
// docs/applications.md is the tutorial.

#pragma once

#include <cstdint>
#include <vector>

#include <tendril/application_concept.hpp>
#include <tendril/buffer.hpp>

namespace tendril {

/// Which executor a GPU uses. Never changes a sample.
enum class sampling_executor : std::uint8_t {
  automatic,         ///< The planner decides, step by step.
  sample_parallel,   ///< Threads belong to samples.
  transit_parallel,  ///< Threads belong to transits: all calls for one vertex together (NextDoor, section 5.2).
};

/// How the result is laid out.
enum class sample_order : std::uint8_t {
  per_step,    ///< One array a step.
  per_sample,  ///< One array a sample: all steps of a sample lie together.
};

struct application_params {
  std::uint64_t seed = 0;
  int max_steps = 0;  ///< For steps() == until_done: steps that the result holds, >= 1.
  sample_order order = sample_order::per_step;
  sampling_executor executor = sampling_executor::automatic;
  /// A sample of an application that runs until_done and still grows after max_steps is an error; else it is cut.
  bool checked = false;
  /// For a graph in host memory that is sampled on a GPU: bytes that it may take there; 0: what is free. A larger one
  /// streams through the GPU, which applications with `reads_transit_only` allow. Never changes a sample.
  std::int64_t gpu_memory = 0;
};

/// What one step added to the samples.
struct sampled_step {
  std::int64_t num_transits = 0;  ///< A sample.
  std::int64_t sample_size = 0;   ///< Calls for each transit; collective: for each sample.
  std::int64_t num_slots = 0;     ///< A sample: num_transits * sample_size; collective: sample_size.
  std::int64_t first_slot = 0;    ///< Per sample: where the step begins in a sample's row.
  /// Per step: [num_samples, num_slots]; slot t * sample_size + j holds call j for transit t. `no_vertex` in slots that
  /// stay empty. Empty if the order is per sample.
  buffer<vertex_id> vertices;
  /// [num_samples] vertices that the step added; empty unless the application is collective, unique at some step, or
  /// runs until_done.
  buffer<std::int32_t> sizes;
  /// Where the application adds edges: those of sample s are [edge_offsets[s], edge_offsets[s + 1]), in the order of the
  /// calls. Else empty.
  buffer<std::int64_t> edge_offsets;  ///< [num_samples + 1]
  buffer<vertex_id> edge_sources, edge_targets;
};

/// Samples, in the memory of the executor's `memory`.
struct samples {
  std::int64_t num_samples = 0;
  std::int64_t num_roots = 0;  ///< A sample.
  sample_order order = sample_order::per_step;
  std::vector<sampled_step> steps;
  buffer<vertex_id> vertices;  ///< Per sample: [num_samples, row_size], all steps; else empty.
  std::int64_t row_size = 0;   ///< Per sample: slots of all steps.
  buffer<vertex_id> roots;     ///< [num_samples, num_roots] as the application left them, if it has an end_step() or
                               ///< step_transits(), which may replace them; else empty: as given.

  /// Slot k of sample s at step t is first(t)[s * stride(t) + k].
  [[nodiscard]] vertex_id* first(std::size_t t)
  {
    return order == sample_order::per_step ? steps[t].vertices.data() : vertices.data() + steps[t].first_slot;
  }
  [[nodiscard]] vertex_id const* first(std::size_t t) const { return const_cast<samples*>(this)->first(t); }
  [[nodiscard]] std::int64_t stride(std::size_t t) const
  {
    return order == sample_order::per_step ? steps[t].num_slots : row_size;
  }
};

}  // namespace tendril
