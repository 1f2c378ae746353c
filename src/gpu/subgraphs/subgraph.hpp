// What the kernels of induced subgraphs are given, and what other samplers of the GPU call. Host and device code.

#pragma once

#include <cstdint>

#include <tendril/exec.hpp>
#include <tendril/graph_view.hpp>
#include <tendril/subgraph.hpp>

namespace tendril::gpu {

/// The most vertices that a sample can have where a warp works on it alone (src/gpu/subgraphs/induce_small.cu).
inline constexpr std::int64_t most_small_members = 64;

/// What is found out about samples on the device. All bits of a fresh one are set.
struct sample_status {
  unsigned long long bad_offset;  ///< The least sample whose cuts are wrong.
  unsigned long long bad_node;    ///< The least place of a vertex that is out of range.
  unsigned long long bad_sample;  ///< The least sample in which a vertex occurs twice.
  long long max_size;             ///< Vertices of the largest sample; -1 where there is none.
  std::int64_t num_edges;         ///< Of all samples.
};

/// Sets of vertices in device memory.
struct sample_sets {
  std::int64_t num_samples = 0;
  std::int64_t num_nodes = 0;
  vertex_id const* nodes = nullptr;       ///< [num_nodes]
  std::int64_t const* offsets = nullptr;  ///< [num_samples + 1]
};

/// The edges of the result, in device memory.
struct inner_edges {
  std::int64_t* row;
  std::int64_t* col;
  edge_id* edges;
};

/// Checks cuts and ids, and finds the largest sample. Enqueues only.
void check_samples(sample_sets const& sets, std::int64_t num_vertices, sample_status* status, cuda_stream stream);

/// row_counts[i] = edges from node i into its sample, for samples of at most most_small_members vertices; does nothing
/// where the status says that cuts, ids or sizes are others. Tells the status of samples with equal vertices. Enqueues.
void count_small(graph_view const& graph, sample_sets const& sets, sample_status* status, std::uint32_t* row_counts,
                 cuda_stream stream);

/// row_offsets[i] = the sum of the counts before i, for i up to `size`; status->num_edges = the sum of all. Enqueues.
/// @param row_counts  [size + 1]; the last doesn't count.
void scan_counts(std::uint32_t const* row_counts, std::int64_t size, std::int64_t* row_offsets, sample_status* status,
                 gpu_exec const& exec);

/// Writes the edges of samples that were counted so, and edge_offsets [num_samples + 1]. Enqueues.
void write_small(graph_view const& graph, sample_sets const& sets, std::int64_t const* row_offsets,
                 inner_edges const& out, std::int64_t* edge_offsets, cuda_stream stream);

/// Samples of any size, all steps of them. `sets` are checked, but for equal vertices; ascending: those of every sample
/// ascend strictly. Fills in all of `out` but nodes and their offsets, unless a sample has equal vertices. Synchronises
/// once, and returns the status.
[[nodiscard]] sample_status induce_large(graph_view const& graph, sample_sets const& sets, bool ascending,
                                         sample_status* status, subgraphs& out, gpu_exec const& exec);

/// The subgraphs that `nodes`, cut by `node_offsets`, induce; both move into the result. Cuts and ids are right.
/// @param max_size   At least the number of vertices of the largest sample.
/// @param ascending  The vertices of every sample ascend strictly.
/// Synchronises once. @throws argument_error where a vertex occurs twice in a sample; device_error; memory_error.
[[nodiscard]] subgraphs induce(graph const& graph, buffer<vertex_id> nodes, buffer<std::int64_t> node_offsets,
                               std::int64_t max_size, bool ascending, gpu_exec const& exec);

}  // namespace tendril::gpu
