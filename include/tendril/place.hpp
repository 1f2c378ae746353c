#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/names.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>
#include <tendril/work_share.hpp>

namespace tendril {

/// Which lists of neighbours a placed graph keeps on the GPU.
enum class placement_policy {
  visits,  ///< Those with the most expected reads per byte, counted by making a small part of the job on the CPU.
  degree,  ///< The longest, whatever the job (ScaleGPS), for comparison.
  scores,  ///< Those with the most of the caller's numbers per byte.
};

template <>
inline constexpr std::array<named<placement_policy>, 3> enum_names<placement_policy>{
    {{placement_policy::visits, "visits"}, {placement_policy::degree, "degree"}, {placement_policy::scores, "scores"}}};

/// What will be sampled from a placed graph: the parameters of walks, of k-hop trees, or of mini-batches.
using placement_job = std::variant<walk_params, khop_params, minibatch_params>;

/// Parameters of `place_graph`.
struct place_params {
  /// GPU memory for the directory, lists, weights and labels together; 0: nine tenths of the free memory.
  std::int64_t gpu_bytes = 0;
  placement_policy policy = placement_policy::visits;
  placement_job job = walk_params{};       ///< Policy `visits`: what is counted.
  std::span<vertex_id const> starts = {};  ///< Vertices that the job starts from; empty: all.
  /// Of a graph of several types: the vertex type of the starts; -1: mini-batches of every type in turn, from all
  /// vertices.
  std::int32_t start_type = -1;
  std::int64_t num_samples = 0;        ///< Walks, roots or seeds that are counted; 0: as many as the graph needs.
  std::int64_t batch_size = 1024;      ///< Seeds of a mini-batch that is counted.
  std::uint64_t seed = 0;              ///< Of the choice among the starts.
  std::span<float const> scores = {};  ///< Policy `scores`: [V] expected reads of each vertex's list, finite and >= 0.
  work_share share = work_share::automatic;  ///< Who samples the graph.
};

/// What lies where of a graph that is placed on a GPU and in host memory. Of such a graph (`graph::placed`) device() is
/// the GPU. Its directory and its vertices' types lie in that GPU's memory. Its lists are one managed array, of which the
/// first `gpu_bytes` lie on the GPU and the others in host memory, where kernels read them over the bus. Weights, labels
/// and ids of edges are managed arrays, too. No kernel sees a difference, and no sample depends on it.
struct placed_lists {
  graph host;                   ///< The same graph in host memory: what CPUs sample.
  std::int64_t gpu_bytes = 0;   ///< Lists that begin below this byte lie on the GPU, those behind it in host memory.
  std::int64_t host_bytes = 0;  ///< The bytes of lists behind it.
  std::int64_t directory_bytes = 0;
  std::int64_t gpu_edge_bytes = 0;   ///< Of weights, labels and ids of edges, on the GPU.
  std::int64_t host_edge_bytes = 0;  ///< Of them, in host memory.
  double visits_on_gpu = 0;          ///< The expected share of the reads of lists that stay on the GPU.
  /// Bytes, ascending from gpu_bytes to the end of the lists, at which the lists in host memory can be cut: no list lies
  /// on both sides of one. Next to each other they are at least 64 KiB apart, but for the last. Only {gpu_bytes} if all
  /// lists lie on the GPU.
  std::vector<std::uint64_t> cuts;
  work_share share = work_share::automatic;  ///< Who makes the samples of calls with a gpu_exec.
  temporal_order host_order = {};            ///< Of an edge type: the order of the edges of `host` by time.
};

/// Places a graph: its lists of neighbours lie on the GPU as far as `params` allow, the others in host memory. A graph in
/// CSR form is compressed first, in the form `packed`. The result keeps `input` as `placed()->host`. Every call that takes
/// a graph on a GPU takes the result, and gives the same samples. Synchronises. In addition to `input` it takes the host
/// memory of the lists that don't lie on the GPU.
/// @param input  In host memory; or a placed graph, whose `placed()->host` is placed again.
/// @throws argument_error for a graph that lies on a GPU whole, or a parameter out of range; memory_error if the budget
///         does not hold the directory (the message says how much is needed), exceeds the free memory, or memory runs
///         out; device_error if the GPU and its driver have no concurrent access to managed memory.
[[nodiscard]] graph place_graph(graph const& input, place_params const& params, gpu_exec const& exec);

/// Places a graph of several types: the lists of all edge types share the GPU memory, by reads per byte of mini-batches
/// (`params.job` must be `minibatch_params`). Edges' times, and the order by them, lie where their lists' reads say, too.
/// Each edge type's graph keeps its own in host memory as `placed()->host`.
/// @throws as above; argument_error for another job, the policy `scores`, and a start_type that doesn't exist.
[[nodiscard]] hetero_graph place_graph(hetero_graph const& input, place_params const& params, gpu_exec const& exec);

/// Whether a graph in host memory has room on a GPU as a whole.
/// @param gpu_bytes  That it may take there; 0: nine tenths of the free memory. @throws device_error.
[[nodiscard]] bool fits_on_gpu(graph const& input, std::int64_t gpu_bytes, gpu_exec const& exec);

/// A graph on the GPU as a whole if it has room there, and placed if not: `to_gpu` or `place_graph`.
/// @param params  gpu_bytes is the GPU memory that the graph may take. 0: nine tenths of the free memory as a whole, or
///                three quarters placed, since results need room, too.
/// @throws as `to_gpu` and `place_graph`.
[[nodiscard]] graph fit_on_gpu(graph const& input, place_params const& params, gpu_exec const& exec);
[[nodiscard]] hetero_graph fit_on_gpu(hetero_graph const& input, place_params const& params, gpu_exec const& exec);

/// Estimates how often a job reads the list of each vertex, by making a small part of the job: what the policy `visits`
/// ranks lists by. A step of a walk reads one sector (32 bytes) of a list. A parent in a tree reads as many as it has
/// picks, at most all of the list, and a vertex of a mini-batch the same, once a batch. What was counted of a vertex is
/// drawn towards the mean of the vertices of about its degree, so that what chance left out is not 0, and what chance read
/// is not hot: the more, the more the two halves of the samples differ (docs/placement.md). Does not depend on the number
/// of threads. Takes 8 bytes a vertex beside the result.
/// @param input  In host memory.
/// @return [V] expected reads, in the part that was made.
/// @throws argument_error as `place_graph`, and as the sampler of the job.
[[nodiscard]] buffer<float> count_visits(graph const& input, place_params const& params, cpu_exec const& exec = {});

/// The same of a graph of several types, of mini-batches; times are left out.
/// @return [edge types][V]
/// @throws argument_error for another job, and a start_type that doesn't exist.
[[nodiscard]] std::vector<buffer<float>> count_visits(hetero_graph const& input, place_params const& params,
                                                      cpu_exec const& exec = {});

/// Checks the parameters, without a graph. @throws argument_error for a parameter out of range, as `place_graph`.
void validate(place_params const& params);

}  // namespace tendril
