// A sampling application describes a way to grow samples from a graph. It is one small struct, compiled for CPU and GPU
// from one source. The abstraction is NextDoor's (Jangda, Polisetty, Guha, Serafini, "Accelerating graph sampling for
// graph machine learning using GPUs", EuroSys'21): a sample grows step by step; in each step next() chooses vertices
// among the neighbours of the sample's transits.
//
//   struct my_application {
//     TENDRIL_HD int steps() const;                          // steps, or until_done: until a step adds nothing
//     TENDRIL_HD std::int64_t sample_size(int step) const;   // calls of next() per transit (collective: per sample)
//     TENDRIL_HD vertex_id next(auto& sample, transit_list const& transits, auto const& edges, int step,
//                               random_stream& rng) const;   // returns the vertex to add, or no_vertex
//     // optional:
//     static constexpr sampling sampling_type();             // individual (the default), or collective: next() then
//                                                            // gets combined_edges, the edges of all transits
//     TENDRIL_HD bool unique(int step) const;                // true: a step adds each vertex to a sample at most once
//     TENDRIL_HD std::int64_t num_transits(int step) const;  // default: slots of the previous step; step 0: the roots
//     TENDRIL_HD vertex_id step_transits(int step, auto const& sample, std::int64_t i) const;  // transit i; a
//                                                            // random_stream& rng follows if it draws. Default:
//                                                            // vertex i of the previous step
//     TENDRIL_HD void end_step(auto& sample, int step) const;  // called once per sample after each step; may change the
//                                                              // state and the roots
//     struct state { … };                                    // data that each sample carries; initially zero bytes
//     static constexpr bool adds_edges = true;               // next() calls sample.add_edge(u, v)
//     static constexpr bool scans_neighbors = true;          // next() reads whole lists: a hint to the planner
//     static constexpr bool reads_transit_only = true;       // only next() reads edges, and only those it is given: a
//                                                            // graph larger than the GPU's memory streams
//   };
//
// `auto` is a basic_sample_view, and a basic_edge_list or basic_combined_edges, of the form that the graph has. A struct
// that names sample_view, edge_list and combined_edges instead reads graphs in CSR form alone.
//
// next() is a pure function of its arguments: executors may call it in any order, and twice for the same slot. next()
// may write the sample's state or roots only if the step makes a single call per sample; otherwise end_step() writes
// them. A second call of next() records the edges, so the next() of an application that adds edges must write neither
// state nor roots.
//
// With reads_transit_only, next() reads `edges` alone; step_transits() and end_step() read no edges at all. The
// application calls neither has_edge() of another vertex nor prev_edges(). From combined_edges it reads the vertices
// edges[k] and their positions, but not weights, labels or of_transit(). It may ask for the degree and the type of any
// vertex.
//
// CPU and GPU agree to the bit if the application does: use integers, + - * / and comparisons, compiled without
// contraction (-ffp-contract=off, nvcc --fmad=false). Do not use the mathematical library.
//
// <tendril/engine/applications/cpu.hpp> and <tendril/engine/applications/gpu.cuh> run applications. They need src/ on
// the include path, for the rules of src/core. <tendril/custom_application.hpp> compiles a struct from source text.
// docs/applications.md is the tutorial.

#pragma once

#include <cstdint>
#include <vector>

#include <tendril/application_concept.hpp>
#include <tendril/buffer.hpp>
#include <tendril/names.hpp>

namespace tendril {

/// Selects the executor on a GPU. The executor never changes a sample.
enum class sampling_executor : std::uint8_t {
  automatic,         ///< The planner decides, step by step.
  sample_parallel,   ///< Threads belong to samples.
  transit_parallel,  ///< Threads belong to transits: all calls for one vertex run together (NextDoor, section 5.2).
};

template <>
inline constexpr std::array<named<sampling_executor>, 3> enum_names<sampling_executor>{
    {{sampling_executor::automatic, "auto"},
     {sampling_executor::sample_parallel, "sample"},
     {sampling_executor::transit_parallel, "transit"}}};

/// The layout of the result.
enum class sample_order : std::uint8_t {
  per_step,    ///< One array per step.
  per_sample,  ///< One array for all steps: the steps of one sample are contiguous.
};

template <>
inline constexpr std::array<named<sample_order>, 2> enum_names<sample_order>{
    {{sample_order::per_step, "steps"}, {sample_order::per_sample, "samples"}}};

struct application_params {
  std::uint64_t seed = 0;
  int max_steps = 0;  ///< Required for steps() == until_done: number of steps that the result holds, >= 1.
  sample_order order = sample_order::per_step;
  sampling_executor executor = sampling_executor::automatic;
  /// If true, a sample that runs until_done and still grows after max_steps is an error; if false, the sample is cut.
  bool checked = false;
  /// For a graph in host memory that is sampled on a GPU: the number of bytes that the graph may take on the GPU; 0:
  /// all free memory. A larger graph streams through the GPU if the application declares `reads_transit_only`; otherwise
  /// it lies there in part. The limit never changes a sample.
  std::int64_t gpu_memory = 0;
};

/// The vertices and edges that one step added to the samples.
struct sampled_step {
  std::int64_t num_transits = 0;  ///< Per sample.
  std::int64_t sample_size = 0;   ///< Calls of next() per transit; collective: per sample.
  std::int64_t num_slots = 0;     ///< Per sample: num_transits * sample_size; collective: sample_size.
  std::int64_t first_slot = 0;    ///< Order per_sample: offset of the step in a sample's row.
  /// Order per_step: [num_samples, num_slots]; slot t * sample_size + j holds call j for transit t. Slots that stay
  /// empty hold `no_vertex`. Order per_sample: empty.
  buffer<vertex_id> vertices;
  /// [num_samples] number of vertices that the step added; empty unless the application is collective, unique at some
  /// step, or runs until_done.
  buffer<std::int32_t> sizes;
  /// For applications that add edges: the edges of sample s are [edge_offsets[s], edge_offsets[s + 1]), in the order of
  /// the calls. Empty for other applications.
  buffer<std::int64_t> edge_offsets;  ///< [num_samples + 1]
  buffer<vertex_id> edge_sources, edge_targets;
};

/// The result: samples in the memory of the executor's `memory`.
struct samples {
  std::int64_t num_samples = 0;
  std::int64_t num_roots = 0;  ///< Per sample.
  sample_order order = sample_order::per_step;
  std::vector<sampled_step> steps;
  buffer<vertex_id> vertices;  ///< Order per_sample: [num_samples, row_size], all steps; else empty.
  std::int64_t row_size = 0;   ///< Order per_sample: number of slots of all steps.
  buffer<vertex_id> roots;  ///< [num_samples, num_roots] roots as the application left them, if it has an end_step() or
                            ///< step_transits(), since these may replace roots; else empty: the roots are as given.

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
