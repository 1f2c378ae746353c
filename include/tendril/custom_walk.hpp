// Dynamic walks that come as text: the source of one struct, as <tendril/dynamic_walk.hpp> describes it, compiled while
// the program runs; for the CPU by the system's compiler, for GPUs by NVRTC. docs/dynamic_walks.md introduces them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tendril/custom_code.hpp>
#include <tendril/dynamic_walk.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

using custom_walk_options = custom_options;

/// A dynamic walk from source text. Compiled once for each place it runs in, at the first use; what was compiled is
/// kept on disk under a hash of everything it was made from, and is safe to share among processes. Copies share the
/// compiled code. Thread-safe.
///
/// The source may use walk_state, walk_edge, graph_view, vertex_id, edge_id, label_id and no_vertex without
/// `tendril::`, and needs no includes. TENDRIL_HD may stand before functions, but needn't. Whoever may choose the
/// source may run any code in this process: never compile text from strangers.
class custom_walk {
 public:
  /// Fields that `parameters` doesn't name keep the values that the struct gives them, or are zero.
  ///
  /// @param struct_name  Empty: the only struct that the source defines outside of namespaces.
  /// @throws argument_error if the source doesn't define that struct as far as can be seen without a compiler; for a
  ///         name that is none.
  explicit custom_walk(std::string source, std::string struct_name = "", std::vector<custom_parameter> parameters = {},
                       custom_walk_options options = {});

  /// The same with the whole struct as the bytes that it has in memory.
  [[nodiscard]] static custom_walk from_bytes(std::string source, std::string struct_name,
                                              std::span<std::byte const> fields, custom_walk_options options = {});

  [[nodiscard]] std::string const& source() const noexcept;
  [[nodiscard]] std::string const& struct_name() const noexcept;

  /// Compiles now what `run` would at its first call.
  /// @throws argument_error if it doesn't compile (a clear line, then the compiler's messages with the lines of
  ///         `source`, which they call walk.cpp), lacks what a dynamic walk needs, has no field of a parameter's name, a
  ///         parameter that doesn't fit its field, or fields of another size; io_error if there is no compiler, or no
  ///         folder to write to; for a GPU device_error if there is no NVRTC, or no such GPU.
  void compile(cpu_exec const& exec = {}) const;
  void compile(gpu_exec const& exec) const;

  /// Walks from each start: the walks of run_dynamic_walk with the same struct compiled ahead of time, bit for bit, and
  /// the same on CPU and GPU.
  /// @throws as compile and run_dynamic_walk (<tendril/engine/dynamic_walk_cpu.hpp>).
  [[nodiscard]] walks run(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                          cpu_exec const& exec = {}, std::int64_t first_walk = 0) const;

  /// On a GPU: graph, starts and result lie in its memory. Synchronises once with exec.stream, at the end.
  [[nodiscard]] walks run(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                          gpu_exec const& exec, std::int64_t first_walk = 0) const;

  /// The same into the caller's memory: `vertices` [n, length + 1], `lengths` [n] or null.
  void run_into(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths, cpu_exec const& exec = {}) const;
  void run_into(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths, gpu_exec const& exec) const;

  struct state;  ///< What executors keep; not for users.

 private:
  std::shared_ptr<state> state_;
};

}  // namespace tendril
