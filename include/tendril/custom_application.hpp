// Sampling applications that come as text: the source of one struct, as <tendril/application.hpp> describes it,
// compiled while the program runs; for the CPU by the system's compiler, for GPUs by NVRTC. docs/applications.md is the
// tutorial.

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

/// A sampling application from source text. Compiled once for each place it runs in, at the first use; what was
/// compiled is kept on disk under a hash of everything it was made from, and is safe to share among processes. Copies
/// share the compiled code. Thread-safe.
///
/// The source may use the names of <tendril/application.hpp> (sample_view, transit_list, edge_list, combined_edges,
/// random_stream, sampling, until_done, vertex_id, no_vertex, graph_view…) without `tendril::`, and needs no includes;
/// it may include <tendril/engine/apps.hpp> and derive from what is there. TENDRIL_HD may stand before functions, but
/// needn't. Whoever may choose the source may run any code in this process: never compile text from strangers.
class custom_application {
 public:
  /// Fields that `parameters` doesn't name keep the values that the struct gives them, or are zero.
  ///
  /// @param struct_name  Empty: the only struct that the source defines outside of namespaces.
  /// @throws argument_error if the source doesn't define that struct as far as can be seen without a compiler; for a
  ///         name that is none.
  explicit custom_application(std::string source, std::string struct_name = "",
                              std::vector<custom_parameter> parameters = {}, custom_options options = {});

  /// The same with the whole struct as the bytes that it has in memory. What it points to must not change what steps(),
  /// sample_size(), num_transits() and unique() return: they are asked once.
  [[nodiscard]] static custom_application from_bytes(std::string source, std::string struct_name,
                                                     std::span<std::byte const> fields, custom_options options = {});

  [[nodiscard]] std::string const& source() const noexcept;
  [[nodiscard]] std::string const& struct_name() const noexcept;

  /// Compiles now what `run` would at its first call.
  /// @throws argument_error if it doesn't compile (a clear line, then the compiler's messages with the lines of
  ///         `source`, which they call application.cpp), lacks what an application needs, has no field of a parameter's
  ///         name, a parameter that doesn't fit its field, or fields of another size; io_error if there is no compiler,
  ///         or no folder to write to; for a GPU device_error if there is no NVRTC, or no such GPU.
  void compile(cpu_exec const& exec = {}) const;
  void compile(gpu_exec const& exec) const;

  /// Grows samples: those of run_application with the same struct compiled ahead of time, bit for bit, and the same on
  /// CPU and GPU.
  ///
  /// @param graph      In host memory.
  /// @param roots      [n, num_roots] vertices, row-major: what each sample begins with.
  /// @param num_roots  Vertices that each sample starts from, >= 1.
  /// @return           In memory of `exec`.
  /// @throws as compile and run_application (<tendril/engine/application_cpu.hpp>).
  [[nodiscard]] samples run(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                            application_params const& params, cpu_exec const& exec = {},
                            std::int64_t first_sample = 0) const;

  /// On a GPU: graph, roots and result lie in its memory. Synchronises with exec.stream at the end; twice where edges
  /// are added; the first call, and one with more max_steps than any before, once more for each of steps() and
  /// sample_size().
  [[nodiscard]] samples run(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                            application_params const& params, gpu_exec const& exec,
                            std::int64_t first_sample = 0) const;

  /// Which executor would run each step of a job of so many samples, and why. Compiles, and runs nothing but the members
  /// that say how large steps are. @throws as run.
  [[nodiscard]] std::vector<planned_step> plan(graph const& graph, std::int64_t num_samples, std::int64_t num_roots,
                                               application_params const& params, cpu_exec const& exec = {}) const;
  [[nodiscard]] std::vector<planned_step> plan(graph const& graph, std::int64_t num_samples, std::int64_t num_roots,
                                               application_params const& params, gpu_exec const& exec) const;

  struct state;  ///< What executors keep; not for users.

 private:
  std::shared_ptr<state> state_;
};

}  // namespace tendril
