// The options of `tendril walk`, which `tendril plan` understands too, and what they mean.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parser_fwd.hpp"

#include <tendril/buffer.hpp>
#include <tendril/graph.hpp>
#include <tendril/multidim.hpp>
#include <tendril/walk.hpp>

#include "common.hpp"
#include "gpu_graph.hpp"

namespace tendril::cli {

struct walk_job {
  std::string app = "deepwalk";
  std::optional<std::int64_t> length, walks_per_start, num_starts;
  std::string starts_file;
  std::optional<double> p, q, stop_prob, restart_prob;
  std::string metapath, metapath_of = "edges";
  std::string dead_end = "stop";
  std::optional<std::int64_t> roots;
  std::optional<std::string> root_choice;
  std::string device = "cpu", gpu_memory, memory;
  graph_memory graph_room;
  std::int64_t first_walk = 0;
  // These mean the same for samples; `tendril plan` registers them once.
  bool weighted = false;
  std::string rule = "auto", table_bytes;
  std::uint64_t seed = 0;

  void add_to(CLI::App& verb);

  /// Whether `name` is an application of walks, multi-dimensional ones included.
  [[nodiscard]] static bool is_app(std::string_view name);

  /// Checks everything that needs no graph. @throws argument_error.
  void validate() const;

  /// The parameters as the library takes them, of all applications but multidim.
  /// @throws argument_error for an option that the application doesn't have, or a name that the graph doesn't know.
  [[nodiscard]] walk_params params(graph_facts const& g) const;

  /// Whether a sample has a set of roots, not a start; then multidim() has the parameters.
  [[nodiscard]] bool is_multidim() const { return app == "multidim"; }

  /// @throws argument_error for an option that multi-dimensional walks don't have.
  [[nodiscard]] multidim_params multidim() const;

  /// Roots of a sample. @throws argument_error.
  [[nodiscard]] std::int64_t num_roots() const;

  /// The GPUs that --device names; none for the CPU. @throws argument_error.
  [[nodiscard]] gpu_set gpus() const { return parse_devices(device); }

  /// Bytes that --graph-memory leaves to the graph; 0 without it. @throws argument_error.
  [[nodiscard]] std::int64_t graph_bytes() const { return graph_room.bytes(gpus()); }

  /// Bytes that --gpu-memory allows; 0 without it. @throws argument_error.
  [[nodiscard]] std::int64_t gpu_bytes() const;

  /// Bytes that --memory allows; 0 without it. @throws argument_error.
  [[nodiscard]] std::int64_t host_bytes() const;

  /// Walks from each start, or from each set of roots.
  [[nodiscard]] std::int64_t walks_each() const;

  /// Walks from so many starts. @throws memory_error if they, or their logical ids, are too many to be counted.
  [[nodiscard]] std::int64_t count_walks(std::int64_t num_starts_there) const;

  /// The vertices to start from; empty stands for every vertex in order.
  [[nodiscard]] std::optional<buffer<vertex_id>> starts(std::int64_t num_vertices, cpu_exec const& exec) const;

  /// Sets of roots, [n, num_roots()]: those of the file, N at random, or as many as take one root a vertex.
  [[nodiscard]] buffer<vertex_id> root_sets(graph const& g, cpu_exec const& exec) const;

 private:
  /// The parameters of all applications but multidim; a metapath has as many entries as it will, all of them 0.
  /// @throws argument_error for an option that the application doesn't have.
  [[nodiscard]] walk_params without_labels() const;

  /// What holds for every application. @throws argument_error.
  void check() const;
  [[nodiscard]] std::int64_t checked_num_starts() const;
};

/// How the walk is made, for people: "node2vec, p 2, q 0.5, 80 steps".
[[nodiscard]] std::string describe(std::string const& app, walk_params const& params);

/// The same for programs and for metadata of files.
[[nodiscard]] json params_json(walk_params const& params);

[[nodiscard]] std::string describe(multidim_params const& params, std::int64_t num_roots);
[[nodiscard]] json params_json(multidim_params const& params, std::int64_t num_roots);

}  // namespace tendril::cli
