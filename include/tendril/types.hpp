#pragma once

#include <cstdint>

/// Marks functions that run on the host and, under nvcc, also on the device.
#ifdef __CUDACC__
#define TENDRIL_HD __host__ __device__ __forceinline__
#else
#define TENDRIL_HD inline
#endif

/// Marks the same, of functions that are called, not copied into who calls them: for long ones on paths that few take.
#ifdef __CUDACC__
#define TENDRIL_HD_CALLED inline __host__ __device__ __noinline__
#else
#define TENDRIL_HD_CALLED inline __attribute__((noinline))
#endif

/// Marks a loop that nvcc leaves as it is: one of few rounds, where copies of its body only make a kernel longer.
#ifdef __CUDACC__
#define TENDRIL_NOT_UNROLLED _Pragma("unroll 1")
#else
#define TENDRIL_NOT_UNROLLED
#endif

namespace tendril {

using vertex_id = std::uint32_t;  ///< A vertex, in [0, num_vertices).
using edge_id = std::int64_t;     ///< A position in a graph's edge arrays, in [0, num_edges).
using label_id = std::uint16_t;   ///< An edge label or a vertex type.

/// "No vertex": follows the end of a walk, or fills a slot that could not be sampled. Its value as a signed 32-bit
/// integer is -1, which output files hold.
inline constexpr vertex_id no_vertex = 0xffffffffU;

/// The maximum number of vertices of a graph: ids stay below `no_vertex`.
inline constexpr std::int64_t max_num_vertices = 0xffffffffLL;

}  // namespace tendril
