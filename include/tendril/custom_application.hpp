// Sampling applications from source text: one struct, as <tendril/application.hpp> describes it, compiled while the
// program runs. The system's compiler compiles it for the CPU, NVRTC for GPUs. docs/applications.md is the tutorial.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tendril/application.hpp>
#include <tendril/custom_code.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/plan_application.hpp>

namespace tendril {

/// A sampling application from source text. It is compiled at first use, once for each place it runs in. The compiled
/// code is kept on disk under a hash of all its inputs; processes may share it safely. Copies share the compiled code.
/// Thread-safe.
///
/// The source may use the names of <tendril/application.hpp> (sample_view, transit_list, edge_list, combined_edges,
/// random_stream, sampling, until_done, vertex_id, no_vertex, graph_view…) without `tendril::`, and needs no includes.
/// It may include <tendril/engine/applications/apps.hpp> and derive from the structs there. TENDRIL_HD before functions
/// is optional. The author of the source can run any code in this process: never compile text from strangers.
class custom_application {
 public:
  /// Fields that `parameters` doesn't name keep the struct's own default values, or are zero.
  ///
  /// @param struct_name  Empty: the only struct that the source defines outside of namespaces.
  /// @throws argument_error if the source doesn't define that struct, as far as this is visible without a compiler; for
  ///         an invalid name.
  explicit custom_application(std::string source, std::string struct_name = "",
                              std::vector<custom_parameter> parameters = {}, custom_options options = {});

  /// Creates the application from the whole struct, given as its bytes in memory. Data that the struct points to must
  /// not change the values of steps(), sample_size(), num_transits() and unique(): the library calls these functions
  /// once.
  [[nodiscard]] static custom_application from_bytes(std::string source, std::string struct_name,
                                                     std::span<std::byte const> fields, custom_options options = {});

  [[nodiscard]] std::string const& source() const noexcept;
  [[nodiscard]] std::string const& struct_name() const noexcept;

  /// Compiles now what `run` would compile at its first call.
  /// @throws argument_error if the source doesn't compile (one clear line, then the compiler's messages with the line
  ///         numbers of `source`, which they call application.cpp), lacks a required member of an application, has no
  ///         field of a parameter's name, has a field that can't hold its parameter, or has fields of another size;
  ///         io_error if there is no compiler, or no folder to write to; for a GPU device_error if there is no NVRTC,
  ///         or no such GPU.
  void compile(cpu_exec const& exec = {}) const;
  void compile(gpu_exec const& exec) const;

  /// Grows samples. They equal, bit for bit, the samples of run_application with the same struct compiled ahead of
  /// time; CPU and GPU give the same samples.
  ///
  /// @param graph      In host memory.
  /// @param roots      [n, num_roots] vertices, row-major: the initial vertices of each sample.
  /// @param num_roots  Number of roots of each sample, >= 1.
  /// @return           In the memory of `exec`.
  /// @throws as compile and run_application (<tendril/engine/applications/cpu.hpp>).
  [[nodiscard]] samples run(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                            application_params const& params, cpu_exec const& exec = {},
                            std::int64_t first_sample = 0) const;

  /// Grows samples on a GPU: the roots and the result are in its memory, and the graph is there or in host memory, as for
  /// run_application (<tendril/engine/applications/gpu.cuh>). Synchronises with exec.stream at
  /// the end, and a second time where edges are added. The first call, and a call with more max_steps than any call
  /// before, also synchronises once for steps() and once for sample_size().
  [[nodiscard]] samples run(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                            application_params const& params, gpu_exec const& exec,
                            std::int64_t first_sample = 0) const;

  /// Reports which executor would run each step of a job of this many samples, and why. Compiles the source; runs only
  /// the members that give the sizes of steps. @throws as run.
  [[nodiscard]] std::vector<planned_step> plan(graph const& graph, std::int64_t num_samples, std::int64_t num_roots,
                                               application_params const& params, cpu_exec const& exec = {}) const;
  [[nodiscard]] std::vector<planned_step> plan(graph const& graph, std::int64_t num_samples, std::int64_t num_roots,
                                               application_params const& params, gpu_exec const& exec) const;

  struct state;  ///< The executors' data; not for users.

 private:
  std::shared_ptr<state> state_;
};

}  // namespace tendril
