#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

/// Which root of the set a step of a multi-dimensional walk leaves from.
enum class root_choice {
  by_degree,  ///< In proportion to out-degrees, so that every out-edge of the set is equally likely: frontier sampling.
  uniform,    ///< Each with the same probability.
};

/// A multi-dimensional random walk (Ribeiro and Towsley, "Estimating and sampling graphs with multidimensional random
/// walks", IMC'10): a sample has a set of roots. Each step chooses one of them and one of its out-edges, uniformly; the
/// vertex reached takes the root's place in the set.
struct multidim_params {
  std::int64_t length = 100;  ///< Steps of a sample, in [1, 2^31 - 1).
  root_choice choose = root_choice::by_degree;
  std::uint64_t seed = 0;
};

/// The most roots that a sample can have.
inline constexpr std::int64_t max_num_roots = 65535;

/// Samples as they come out: row i of each array is a sample.
struct multidim_walks {
  buffer<vertex_id> vertices;    ///< [num_walks, num_roots + length], row-major: the roots as given, then the vertex
                                 ///< that each step reached; `no_vertex` after the end.
  buffer<std::int32_t> slots;    ///< [num_walks, length]: which root, in [0, num_roots), step t left from and replaced;
                                 ///< -1 after the end.
  buffer<std::int32_t> lengths;  ///< [num_walks]: steps taken, in [0, length].
  std::int64_t num_walks = 0;
  std::int64_t num_roots = 0;
  std::int64_t length = 0;
};

/// Walks n samples at once. By degree, a sample ends when no root of its set has an out-edge; uniformly, when the root
/// that was chosen has none. Sample i depends on the graph, the parameters, its roots and its logical id first_walk + i
/// alone (docs/reproducibility.md). O(log num_roots) a step. Synchronous. Beside the result it allocates
/// O(num_roots) a thread.
/// @param roots      [n, num_roots] vertices, row-major, each below num_vertices; repeats are roots of their own.
/// @param num_roots  In [1, 65535].
/// @throws argument_error  a parameter out of range; roots that don't fill n rows; the first root out of range.
///         memory_error    if the result doesn't fit.
[[nodiscard]] multidim_walks multidim_walk(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                                           multidim_params const& params, cpu_exec const& exec = {},
                                           std::int64_t first_walk = 0);

/// The same samples, bit for bit, on a GPU: the graph, the roots and the result lie in its memory, the work is ordered
/// on `exec.stream`. Synchronises with the stream once, at the end; the first call with as many steps as there are
/// vertices does so twice more, and leaves 8 bytes a vertex with the graph. Beside that and the result it allocates at
/// most 2 GiB, and nothing for sets of up to 200 roots.
/// @throws argument_error as above, and for a graph that is elsewhere; device_error; memory_error.
[[nodiscard]] multidim_walks multidim_walk(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                                           multidim_params const& params, gpu_exec const& exec,
                                           std::int64_t first_walk = 0);

}  // namespace tendril
