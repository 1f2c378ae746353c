#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/names.hpp>
#include <tendril/plan.hpp>

namespace tendril {

/// The behaviour of a walk on a vertex that it can't leave.
enum class dead_end {
  stop,    ///< The walk ends; the rest of its row is `no_vertex`.
  repeat,  ///< The walk stays: the rest of its row repeats that vertex. Its length still counts the steps taken.
};

template <>
inline constexpr std::array<named<dead_end>, 2> enum_names<dead_end>{
    {{dead_end::stop, "stop"}, {dead_end::repeat, "repeat"}}};

/// The meaning of each entry of `walk_params::metapath`.
enum class metapath_kind {
  edge_labels,   ///< Step t follows an edge with label metapath[t mod size].
  vertex_types,  ///< Position j of the walk, including the start, holds a vertex of type metapath[j mod size].
};

template <>
inline constexpr std::array<named<metapath_kind>, 2> enum_names<metapath_kind>{
    {{metapath_kind::edge_labels, "edges"}, {metapath_kind::vertex_types, "vertices"}}};
template <>
inline constexpr std::array<named<metapath_kind>, 2> enum_aliases<metapath_kind>{
    {{metapath_kind::edge_labels, "edge"}, {metapath_kind::vertex_types, "node"}}};

/// A random walk along out-edges. The fields combine freely, with one exception: p and q other than 1 exclude a
/// metapath. The default is plain DeepWalk (Perozzi et al., KDD'14).
struct walk_params {
  std::int64_t length = 80;   ///< Steps, in [1, 2^31 - 1).
  bool weighted = false;      ///< Choose edges in proportion to their weights; false: uniformly.
  double stop_prob = 0;       ///< PPR: before each step the walk ends with this probability, in [0, 1].
  double restart_prob = 0;    ///< Restart walks: probability of a jump back to the start instead of a step, in [0, 1],
                              ///< regardless of the type that a metapath names there.
  double p = 1;               ///< node2vec (Grover & Leskovec, KDD'16): weight 1/p for the previous vertex,
  double q = 1;               ///< 1 for its out-neighbours, 1/q for the others. From 1e-9 to 1e9.
  bool second_order = false;  ///< Run the node2vec rule even if p = q = 1.
  std::vector<label_id> metapath = {};
  metapath_kind metapath_of = metapath_kind::edge_labels;
  dead_end dead_ends = dead_end::stop;
  sampling_rule rule = sampling_rule::automatic;
  std::uint64_t seed = 0;
  table_limit table_bytes = {};  ///< Most bytes of tables, >= 0. It changes speed alone, no walk.
};

/// Checks the parameters, without a graph. @throws argument_error for a parameter out of range, as every call that takes
/// them.
void validate(walk_params const& params);

/// The memory layout of walks.
enum class walk_order {
  row_major,   ///< [num_walks, length + 1]: each row is a walk.
  step_major,  ///< [length + 1, num_walks]: each row is one step of all walks. Only on a GPU, where it is faster.
};

template <>
inline constexpr std::array<named<walk_order>, 2> enum_names<walk_order>{
    {{walk_order::row_major, "rows"}, {walk_order::step_major, "steps"}}};

/// The resulting walks.
struct walks {
  buffer<vertex_id> vertices;    ///< [num_walks, length + 1], or per `order`; `no_vertex` after a walk's end.
  buffer<std::int32_t> lengths;  ///< [num_walks]: steps taken, in [0, length].
  std::int64_t num_walks = 0;
  std::int64_t length = 0;
  walk_order order = walk_order::row_major;
};

/// Walks one after another, each up to its end: walk i is vertices[offsets[i], offsets[i + 1]), its start first. They
/// are the rows of `walks`, cut at their lengths.
struct ragged_walks {
  buffer<std::int64_t> offsets;  ///< [num_walks + 1]; walk i took offsets[i + 1] - offsets[i] - 1 steps.
  buffer<vertex_id> vertices;    ///< [offsets[num_walks]]
  std::int64_t num_walks = 0;
};

/// A planned walk. It checks the parameters and builds the tables once, then runs on any number of batches. Walk i of a
/// batch depends only on the graph, the parameters, its start and its logical id first_walk + i: threads and batches
/// never change it (docs/reproducibility.md). Thread-safe once constructed.
class walker {
 public:
  /// @param expected_walks  Total number of walks that will be requested; it only decides whether tables pay.
  /// @throws argument_error  a parameter out of range; weights, labels or types requested that the graph lacks; a
  ///                         metapath label that no edge (or no vertex) has.
  walker(graph const& graph, walk_params const& params, std::int64_t expected_walks, cpu_exec const& exec = {});

  /// Plans a walk for a graph in the memory of the GPU of `exec` (to_gpu). Tables are built there. Synchronises.
  /// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
  walker(graph const& graph, walk_params const& params, std::int64_t expected_walks, gpu_exec const& exec);
  ~walker();
  walker(walker&&) noexcept;
  walker& operator=(walker&&) noexcept;

  [[nodiscard]] sampling_plan const& plan() const noexcept;
  [[nodiscard]] walk_params const& params() const noexcept;
  [[nodiscard]] graph const& input() const noexcept;  ///< The graph of the walks.

  /// @param starts  [n] vertices, each below num_vertices.
  /// @throws argument_error naming the first start out of range.
  [[nodiscard]] walks run(std::span<vertex_id const> starts, std::int64_t first_walk, cpu_exec const& exec = {}) const;

  /// Writes the walks into the caller's memory: `vertices` [n, length + 1], `lengths` [n] or null. Allocates
  /// O(threads).
  void run_into(std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths,
                cpu_exec const& exec = {}) const;

  /// Makes the same walks, without the unused ends of rows: for walks that end early. Beside the result, and for a
  /// moment the result twice, it takes about 64 MB, and up to 1 GiB where single walks have thousands of steps.
  /// @throws argument_error as run; for dead_end::repeat, which fills rows.
  [[nodiscard]] ragged_walks run_ragged(std::span<vertex_id const> starts, std::int64_t first_walk,
                                        cpu_exec const& exec = {}) const;

  /// Makes the same walks, bit for bit, on the GPU that the walker was made for. The starts and results are in its
  /// memory; the work is ordered on `exec.stream`. Synchronises with the stream once, at the end.
  /// @throws argument_error naming the first start out of range, or a walker made for another place; device_error;
  ///         memory_error.
  [[nodiscard]] walks run(std::span<vertex_id const> starts, std::int64_t first_walk, gpu_exec const& exec,
                          walk_order order = walk_order::row_major) const;
  void run_into(std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths,
                gpu_exec const& exec, walk_order order = walk_order::row_major) const;

  /// Makes the same walks on the GPU, without the unused ends of rows. Synchronises with the stream before the size of
  /// the result is known, once per GiB of room that the walks need; the result is ordered on `exec.stream`.
  /// @throws argument_error as run; for dead_end::repeat, which fills rows; device_error; memory_error.
  [[nodiscard]] ragged_walks run_ragged(std::span<vertex_id const> starts, std::int64_t first_walk,
                                        gpu_exec const& exec) const;

  struct state;                                                         ///< The executor's data; not for users.
  [[nodiscard]] state const& data() const noexcept { return *state_; }  ///< Not for users.

 private:
  std::unique_ptr<state> state_;
};

/// Plans without building tables or running the walk. @throws as walker.
[[nodiscard]] sampling_plan plan_walk(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                                      cpu_exec const& exec = {});

/// Plans for the GPU that holds the graph. Gathers the planner's statistics there, and synchronises.
[[nodiscard]] sampling_plan plan_walk(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                                      gpu_exec const& exec);

/// Makes walks with one call: walker(...).run(...). Tables stay with the graph for the next call.
[[nodiscard]] walks random_walk(graph const& graph, std::span<vertex_id const> starts, walk_params const& params,
                                cpu_exec const& exec = {}, std::int64_t first_walk = 0);

/// Makes the same walks on a GPU: `starts`, the result and the graph are in its memory.
[[nodiscard]] walks random_walk(graph const& graph, std::span<vertex_id const> starts, walk_params const& params,
                                gpu_exec const& exec, std::int64_t first_walk = 0,
                                walk_order order = walk_order::row_major);

}  // namespace tendril
