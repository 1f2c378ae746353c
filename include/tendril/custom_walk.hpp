// Dynamic walks from source text: one struct, as <tendril/dynamic_walk.hpp> describes it, compiled while the program
// runs. The system's compiler compiles it for the CPU, NVRTC for GPUs. docs/dynamic_walks.md introduces them.

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

/// A dynamic walk from source text. It is compiled at first use, once for each place it runs in. The compiled code is
/// kept on disk under a hash of all its inputs; processes may share it safely. Copies share the compiled code.
/// Thread-safe.
///
/// The source may use walk_state, walk_edge, graph_view, vertex_id, edge_id, label_id and no_vertex without
/// `tendril::`, and needs no includes. TENDRIL_HD before functions is optional. The author of the source can run any
/// code in this process: never compile text from strangers.
class custom_walk {
 public:
  /// Fields that `parameters` doesn't name keep the struct's own default values, or are zero.
  ///
  /// @param struct_name  Empty: the only struct that the source defines outside of namespaces.
  /// @throws argument_error if the source doesn't define that struct, as far as this is visible without a compiler; for
  ///         an invalid name.
  explicit custom_walk(std::string source, std::string struct_name = "", std::vector<custom_parameter> parameters = {},
                       custom_walk_options options = {});

  /// Creates the walk from the whole struct, given as its bytes in memory.
  [[nodiscard]] static custom_walk from_bytes(std::string source, std::string struct_name,
                                              std::span<std::byte const> fields, custom_walk_options options = {});

  [[nodiscard]] std::string const& source() const noexcept;
  [[nodiscard]] std::string const& struct_name() const noexcept;

  /// Compiles now what `run` would compile at its first call.
  /// @throws argument_error if the source doesn't compile (one clear line, then the compiler's messages with the line
  ///         numbers of `source`, which they call walk.cpp), lacks a required member of a dynamic walk, has no field of
  ///         a parameter's name, has a field that can't hold its parameter, or has fields of another size; io_error if
  ///         there is no compiler, or no folder to write to; for a GPU device_error if there is no NVRTC, or no such
  ///         GPU.
  void compile(cpu_exec const& exec = {}) const;
  void compile(gpu_exec const& exec) const;

  /// Walks from each start. The walks equal, bit for bit, the walks of run_dynamic_walk with the same struct compiled
  /// ahead of time; CPU and GPU give the same walks.
  /// @throws as compile and run_dynamic_walk (<tendril/engine/walks/cpu.hpp>).
  [[nodiscard]] walks run(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                          cpu_exec const& exec = {}, std::int64_t first_walk = 0) const;

  /// Walks on a GPU: the graph, the starts and the result are in its memory. Synchronises once with exec.stream, at the
  /// end.
  [[nodiscard]] walks run(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                          gpu_exec const& exec, std::int64_t first_walk = 0) const;

  /// Writes the walks into the caller's memory: `vertices` [n, length + 1], `lengths` [n] or null.
  void run_into(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths, cpu_exec const& exec = {}) const;
  void run_into(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths, gpu_exec const& exec) const;

  /// Makes the same walks without the unused ends of rows; only for dead_end::stop. On a GPU it synchronises once more
  /// than run, and the result is ordered on exec.stream.
  [[nodiscard]] ragged_walks run_ragged(graph const& graph, std::span<vertex_id const> starts,
                                        dynamic_walk_params const& params, cpu_exec const& exec = {},
                                        std::int64_t first_walk = 0) const;
  [[nodiscard]] ragged_walks run_ragged(graph const& graph, std::span<vertex_id const> starts,
                                        dynamic_walk_params const& params, gpu_exec const& exec,
                                        std::int64_t first_walk = 0) const;

  struct state;                                                   ///< The executors' data; not for users.
  [[nodiscard]] state& data() const noexcept { return *state_; }  ///< Not for users.

 private:
  std::shared_ptr<state> state_;
};

}  // namespace tendril
