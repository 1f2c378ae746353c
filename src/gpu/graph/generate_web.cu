// Web-like graphs, made on a GPU by the rule of src/core/web_graph.hpp: a thread makes the row of one vertex, once to count
// its neighbours and once to write them. A compressed graph is made in batches of rows, which are compressed by
// src/gpu/place/encoder.cu; its neighbours never lie in memory all at once. CPU twin: src/generate/web.cpp.

#include <tendril/generate.hpp>

#include <algorithm>
#include <utility>

#include <cub/device/device_scan.cuh>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>

#include "core/web_shape.hpp"
#include "generate/params.hpp"        // expect_params, metadata_of
#include "gpu/device/copy_value.hpp"  // value_at
#include "gpu/device/launch.cuh"
#include "gpu/graph/csr.hpp"         // expect_gpu_memory
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch
#include "gpu/graph/web_source.hpp"

namespace tendril {
namespace gpu {
namespace {

constexpr int block_threads = 128;

/// One thread a vertex in [begin, end).
__global__ __launch_bounds__(block_threads) void degrees_kernel(core::web_graph rule, std::int64_t begin,
                                                                std::int64_t end, std::uint32_t* degrees)
{
  for (std::int64_t v = begin + global_thread(); v < end; v += grid_stride()) {
    auto const vertex = static_cast<vertex_id>(v);
    core::web_directory const directory = rule.directory_of(vertex);
    degrees[v] = rule.row(directory, vertex).degree();
  }
}

/// @param offsets  Where the ids of vertex begin + k go: from offsets[k] on.
__global__ __launch_bounds__(block_threads) void ids_kernel(core::web_graph rule, std::int64_t begin, std::int64_t end,
                                                            edge_id const* offsets, vertex_id* ids)
{
  for (std::int64_t v = begin + global_thread(); v < end; v += grid_stride()) {
    auto const vertex = static_cast<vertex_id>(v);
    core::web_directory const directory = rule.directory_of(vertex);
    core::web_row row = rule.row(directory, vertex);
    vertex_id* out = ids + offsets[v - begin];
    for (core::web_run run{}; row.next(run);) {
      for (vertex_id u = run.begin; u < run.end; ++u) { *out++ = u; }
    }
  }
}

/// Adds up 32-bit degrees as 64-bit numbers.
struct widened {
  __host__ __device__ edge_id operator()(edge_id a, edge_id b) const { return a + b; }
};

}  // namespace

web_source::web_source(core::web_graph const& rule, std::int64_t batch_vertices, gpu_exec const& exec)
    : rule_(rule),
      num_vertices_(rule.num_vertices()),
      batch_vertices_(std::min(batch_vertices, num_vertices_)),
      exec_(exec),
      degrees_(num_vertices_, memory_of(exec)),
      offsets_(batch_vertices_ + 1, memory_of(exec))
{
  degrees_kernel<<<grid_blocks(num_vertices_, block_threads), block_threads, 0, exec.stream>>>(rule, 0, num_vertices_,
                                                                                               degrees_.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

std::vector<std::int64_t> web_source::batch_ends() const
{
  std::vector<std::int64_t> ends;
  for (std::int64_t end = batch_vertices_; end < num_vertices_; end += batch_vertices_) { ends.push_back(end); }
  ends.push_back(num_vertices_);
  return ends;
}

place::listed_rows web_source::load(std::int64_t begin, std::int64_t end, edge_id first_edge)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(offsets_.data(), 0, sizeof(edge_id), exec_.stream));
  run_with_scratch(exec_, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, degrees_.data() + begin, offsets_.data() + 1, widened{},
                                          end - begin, exec_.stream);
  });
  loaded_ = value_at(offsets_.data() + (end - begin), exec_);
  if (ids_.size() < loaded_) {
    ids_ = {};
    // Batches are about as large as each other: a few percent more, and the next fits, too.
    ids_ = buffer<vertex_id>(end == num_vertices_ ? loaded_ : loaded_ + loaded_ / 16, memory_of(exec_));
  }
  ids_kernel<<<grid_blocks(end - begin, block_threads), block_threads, 0, exec_.stream>>>(rule_, begin, end,
                                                                                          offsets_.data(), ids_.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return {ids_.data(), offsets_.data(), begin, first_edge};
}

namespace {

/// How many vertices a batch has: so many that the longest row is a small part of the time, and that ids take a sixteenth
/// of the memory.
std::int64_t batch_vertices(double edge_factor, gpu_exec const& exec)
{
  constexpr std::int64_t most = std::int64_t{list_block::vertices} << 23U;
  double const ids = static_cast<double>(free_gpu_bytes(exec.device)) / 16 / sizeof(vertex_id);
  auto const vertices =
      static_cast<std::int64_t>(std::min(ids / std::max(edge_factor, 1.0), static_cast<double>(most)));
  return std::max<std::int64_t>(vertices / list_block::vertices, 1) * list_block::vertices;
}

}  // namespace
}  // namespace gpu

graph generate_web(web_params const& p, build_options const& build, edge_attributes const& extra, gpu_exec const& exec)
{
  generate::expect_params(p);
  generate::expect_edge_attributes("generate_web", extra);
  generate::expect_num_vertices("generate_web", build, p.num_vertices);
  generate::expect_rows_alone(p, build, extra);
  gpu::device_guard const guard(exec.device);
  bool const is_csr = p.form == graph_form::csr;
  auto const vertices = static_cast<double>(p.num_vertices);
  gpu::expect_gpu_memory("generate_web", 12 * vertices + (is_csr ? 4 * p.edge_factor * vertices : 0), exec);

  auto const rule = core::web_graph_of(p.seed, static_cast<std::uint32_t>(p.num_vertices), p.edge_factor);
  gpu::web_source rows(rule, is_csr ? p.num_vertices : gpu::batch_vertices(p.edge_factor, exec), exec);
  graph_arrays arrays;
  if (is_csr) {
    (void)rows.load(0, p.num_vertices, 0);
    arrays.indptr = rows.take_offsets();
    arrays.indices = rows.take_ids();
  } else {
    arrays.compressed = gpu::encode_lists(rows, p.num_vertices, p.form, exec);
  }
  synchronize(exec);
  arrays.metadata = generate::metadata_of(p);
  arrays.device = exec.device;
  return graph(std::move(arrays), graph_content::valid);
}

}  // namespace tendril
