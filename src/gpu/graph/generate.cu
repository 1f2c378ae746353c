// Random graphs, made where they are used. One thread an edge draws its ends by the rules of src/core/rmat.hpp and
// src/core/power_law.hpp, from the edge's own counter, and writes its arcs as sortable keys; the edges themselves are
// stored nowhere. csr.cu makes a CSR of the keys, and weights and labels are drawn from the sorted keys (the rules:
// src/core/edge_attributes.hpp). State: 8 bytes an arc, twice while they are sorted; for power laws 4 bytes an edge before
// that. CPU twins: src/generate/random.cpp, src/generate/powerlaw.cpp.

#include <tendril/generate.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <cub/device/device_scan.cuh>

#include <tendril/gpu.hpp>

#include "core/edge_attributes.hpp"
#include "core/power_law.hpp"
#include "core/rmat.hpp"
#include "generate/params.hpp"        // expect_params, metadata_of
#include "gpu/device/copy_value.hpp"  // value_at
#include "gpu/device/launch.cuh"
#include "gpu/graph/arc_keys.cuh"
#include "gpu/graph/csr.hpp"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch

namespace tendril {
namespace gpu {
namespace {

constexpr int block_threads = 256;

struct rmat_edges {
  core::quadrants levels;
  core::scrambler scramble;
  rng_key key;
  int scale;
  bool scrambled;

  __device__ core::drawn_edge operator()(std::int64_t k) const
  {
    core::drawn_edge const edge = levels.draw(key, static_cast<std::uint64_t>(k), scale);
    if (!scrambled) { return edge; }
    return {scramble(edge.source), scramble(edge.target)};
  }
};

struct er_edges {
  rng_key key;
  std::uint64_t num_vertices;

  __device__ core::drawn_edge operator()(std::int64_t k) const
  {
    core::random_block const block = core::draw_block(key, static_cast<std::uint64_t>(k), 0, 0);
    return {static_cast<vertex_id>(core::bounded64(block.low(), num_vertices)),
            static_cast<vertex_id>(core::bounded64(block.high(), num_vertices))};
  }
};

struct powerlaw_edges {
  rng_key key;
  vertex_id const* sources;  ///< [num_edges]
  std::uint64_t num_edges;

  __device__ core::drawn_edge operator()(std::int64_t k) const
  {
    std::uint64_t const bits = core::draw_block(key, static_cast<std::uint64_t>(k), 0, 0).low();
    return {sources[k], sources[core::bounded64(bits, num_edges)]};
  }
};

/// One thread a vertex: its out-degree.
__global__ __launch_bounds__(block_threads) void degrees_kernel(core::power_law law, rng_key key,
                                                                std::int64_t num_vertices, std::int64_t largest,
                                                                std::uint64_t* degrees)
{
  for (std::int64_t v = global_thread(); v < num_vertices; v += grid_stride()) {
    degrees[v] = static_cast<std::uint64_t>(v == 0 ? largest : law.draw(key, static_cast<std::uint64_t>(v)));
  }
}

/// One thread an edge: its source is the first vertex whose edges end after it.
__global__ __launch_bounds__(block_threads) void sources_kernel(std::uint64_t const* ends, std::int64_t num_vertices,
                                                                std::int64_t num_edges, vertex_id* sources)
{
  for (std::int64_t k = global_thread(); k < num_edges; k += grid_stride()) {
    std::int64_t first = 0;
    for (std::int64_t size = num_vertices; size > 0;) {
      std::int64_t const half = size / 2;
      bool const right = ends[first + half] <= static_cast<std::uint64_t>(k);
      first = right ? first + half + 1 : first;
      size = right ? size - half - 1 : half;
    }
    sources[k] = static_cast<vertex_id>(first);
  }
}

/// One thread an edge, by its key.
__global__ __launch_bounds__(block_threads) void weights_kernel(std::uint64_t const* keys, std::int64_t size,
                                                                key_layout layout, bool symmetric,
                                                                core::weight_rule rule, float* weights)
{
  for (std::int64_t e = global_thread(); e < size; e += grid_stride()) {
    weights[e] = rule(core::edge_item(symmetric, layout.source(keys[e]), layout.target(keys[e])));
  }
}

template <class T>
__global__ __launch_bounds__(block_threads) void edge_labels_kernel(std::uint64_t const* keys, std::int64_t size,
                                                                    key_layout layout, bool symmetric,
                                                                    core::label_rule rule, T* labels)
{
  for (std::int64_t e = global_thread(); e < size; e += grid_stride()) {
    labels[e] = static_cast<T>(rule(core::edge_item(symmetric, layout.source(keys[e]), layout.target(keys[e]))));
  }
}

/// One thread a vertex.
template <class T>
__global__ __launch_bounds__(block_threads) void node_types_kernel(std::int64_t size, core::label_rule rule, T* types)
{
  for (std::int64_t v = global_thread(); v < size; v += grid_stride()) {
    types[v] = static_cast<T>(rule(static_cast<std::uint64_t>(v)));
  }
}

void decorate(built_csr& built, edge_attributes const& extra, std::uint64_t seed, gpu_exec const& exec)
{
  auto& memory = memory_of(exec);
  auto& arrays = built.arrays;
  auto const* const keys = built.arcs.keys.data();
  std::int64_t const size = built.arcs.size;
  key_layout const layout = built.arcs.layout;
  bool const symmetric = arrays.symmetric;
  std::int64_t const num_vertices = arrays.indptr.size() - 1;
  auto const label_rule = [&](core::domain which, int num_labels) {
    return core::label_rule{core::make_key(seed, which), static_cast<std::uint32_t>(num_labels)};
  };
  if (extra.has_weights || extra.weight_sigma > 0) {
    buffer<float> weights(size, memory);
    if (size > 0) {
      auto const rule = core::weight_rule::of(seed, extra.weight_min, extra.weight_max, extra.weight_sigma);
      weights_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(keys, size, layout, symmetric,
                                                                                          rule, weights.data());
      TENDRIL_CUDA_TRY(cudaGetLastError());
    }
    arrays.weights = std::move(weights);
  }
  if (extra.num_labels > 0) {
    arrays.edge_labels = make_labels(size, extra.num_labels, memory, [&](auto* labels) {
      if (size == 0) { return; }
      edge_labels_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(
          keys, size, layout, symmetric, label_rule(core::domain::generator_labels, extra.num_labels), labels);
      TENDRIL_CUDA_TRY(cudaGetLastError());
    });
  }
  if (extra.num_node_types > 0) {
    arrays.node_types = make_labels(num_vertices, extra.num_node_types, memory, [&](auto* types) {
      if (num_vertices == 0) { return; }
      node_types_kernel<<<grid_blocks(num_vertices, block_threads), block_threads, 0, exec.stream>>>(
          num_vertices, label_rule(core::domain::generator_node_types, extra.num_node_types), types);
      TENDRIL_CUDA_TRY(cudaGetLastError());
    });
  }
}

/// What a generator is about to build.
struct job {
  char const* generator;
  std::int64_t num_vertices;
  std::int64_t num_edges;  ///< Before the options.
  build_options const& build;
  edge_attributes const& extra;
  std::uint64_t seed;
};

/// @throws memory_error if the graph can't be built in what the GPU has free, argument_error for a number of vertices
///         that is smaller than the generator's.
void expect_room(job const& j, gpu_exec const& exec)
{
  generate::expect_num_vertices(j.generator, j.build, j.num_vertices);
  double const arcs = static_cast<double>(j.num_edges) * (j.build.symmetrize ? 2 : 1);
  auto const label_bytes = [](int num_labels) { return num_labels > 256 ? 2.0 : num_labels > 0 ? 1.0 : 0.0; };
  double const edge_bytes = (j.extra.has_weights || j.extra.weight_sigma > 0 ? 4.0 : 0.0) +
                            label_bytes(j.extra.num_labels) + (j.build.keep_edge_ids ? 8.0 : 0.0);
  auto const ids = static_cast<double>(std::max(j.num_vertices, j.build.num_vertices));
  expect_gpu_memory(j.generator,
                    build_csr_bytes(arcs, ids, edge_bytes, j.build.keep_edge_ids, j.build) +
                        label_bytes(j.extra.num_node_types) * ids,
                    exec);
}

/// The graph of edges that edge_of(k) draws; `free_state` is called once they are drawn.
template <class EdgeOf, class FreeState>
graph generate(job const& j, EdgeOf const& edge_of, FreeState free_state, std::map<std::string, std::string> metadata,
               gpu_exec const& exec)
{
  std::int64_t const num_ids = std::max(j.num_vertices, j.build.num_vertices);
  arc_list arcs = make_arcs(edge_of, j.num_edges, num_ids, j.build, exec);
  free_state();
  if (j.build.keep_edge_ids) { number_arcs(arcs, exec); }
  built_csr built = build_csr(std::move(arcs), num_ids, j.build, exec);
  decorate(built, j.extra, j.seed, exec);
  built.arrays.metadata = std::move(metadata);
  synchronize(exec);
  return graph(std::move(built.arrays), graph_content::valid);
}

}  // namespace
}  // namespace gpu

graph generate_rmat(rmat_params const& p, build_options const& build, edge_attributes const& extra,
                    gpu_exec const& exec)
{
  generate::expect_params(p);
  generate::expect_edge_attributes("generate_rmat", extra);
  gpu::device_guard const guard(exec.device);
  gpu::job const j{
      "generate_rmat", std::int64_t{1} << static_cast<unsigned>(p.scale), generate::num_drawn_edges(p), build, extra,
      p.seed};
  gpu::expect_room(j, exec);
  gpu::rmat_edges const edges{core::quadrants::of(p.a, p.b, p.c), core::scrambler::of(p.scale, p.seed),
                              core::make_key(p.seed, core::domain::generator_edges), p.scale, p.scramble};
  return gpu::generate(
      j, edges, [] {}, generate::metadata_of(p), exec);
}

graph generate_er(er_params const& p, build_options const& build, edge_attributes const& extra, gpu_exec const& exec)
{
  generate::expect_params(p);
  generate::expect_edge_attributes("generate_er", extra);
  gpu::device_guard const guard(exec.device);
  gpu::job const j{"generate_er", p.num_vertices, p.num_edges, build, extra, p.seed};
  gpu::expect_room(j, exec);
  gpu::er_edges const edges{core::make_key(p.seed, core::domain::generator_edges),
                            static_cast<std::uint64_t>(p.num_vertices)};
  return gpu::generate(
      j, edges, [] {}, generate::metadata_of(p), exec);
}

graph generate_powerlaw(powerlaw_params const& p, build_options const& build, edge_attributes const& extra,
                        gpu_exec const& exec)
{
  generate::expect_params(p);
  generate::expect_edge_attributes("generate_powerlaw", extra);
  gpu::device_guard const guard(exec.device);
  gpu::expect_gpu_memory("generate_powerlaw", 8.0 * static_cast<double>(p.num_vertices), exec);

  auto& memory = memory_of(exec);
  buffer<std::uint64_t> ends(p.num_vertices, memory);
  gpu::degrees_kernel<<<gpu::grid_blocks(p.num_vertices, gpu::block_threads), gpu::block_threads, 0, exec.stream>>>(
      core::power_law(p.exponent, p.min_degree, p.max_degree), core::make_key(p.seed, core::domain::generator_degrees),
      p.num_vertices, p.max_degree, ends.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  gpu::run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, ends.data(), ends.data(), ends.size(), exec.stream);
  });
  // Below 2^64: 2^32 degrees below 2^32 each. What is beyond 2^63 is far beyond any memory, which is checked here.
  std::uint64_t const num_edges = gpu::value_at(ends.data() + ends.size() - 1, exec);
  gpu::expect_gpu_memory("generate_powerlaw", 12.0 * static_cast<double>(num_edges), exec);
  gpu::job const j{"generate_powerlaw", p.num_vertices, static_cast<std::int64_t>(num_edges), build, extra, p.seed};
  gpu::expect_room(j, exec);

  buffer<vertex_id> sources(j.num_edges, memory);
  gpu::sources_kernel<<<gpu::grid_blocks(j.num_edges, gpu::block_threads), gpu::block_threads, 0, exec.stream>>>(
      ends.data(), p.num_vertices, j.num_edges, sources.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  ends = {};
  gpu::powerlaw_edges const edges{core::make_key(p.seed, core::domain::generator_edges), sources.data(), num_edges};
  return gpu::generate(
      j, edges, [&] { sources = {}; }, generate::metadata_of(p), exec);
}

}  // namespace tendril
