// Records: what a step reads of a vertex or an edge, in one aligned load. One thread a record; coalesced but for the
// offsets of neighbours, which are gathered. Bytes an edge: edge records read 8 and write 8, hop records read 4, gather
// 16 and write 16. For the 31.4 M edges of R-MAT scale 20: 0.5 GB, 0.11 ms at 4.6 TB/s, and 0.63 GB, 0.14 ms, with
// gathers that hit the second-level cache. CPU twin: src/plan/tables.cpp (there are no hop records).

#include <tendril/gpu.hpp>  // memory_of

#include "gpu/device/launch.cuh"
#include "gpu/device/limits.hpp"
#include "gpu/tables/tables.hpp"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;

/// Calls make(i) for i in [0, size) and writes what it gives to out[i].
template <class Record, class Make>
__global__ __launch_bounds__(block_threads) void records_kernel(std::int64_t size, Make make, Record* out)
{
  for (std::int64_t i = global_thread(); i < size; i += grid_stride()) { out[i] = make(i); }
}

template <class Record, class Make>
buffer<Record> make_records(std::int64_t size, Make make, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  buffer<Record> out(size, memory_of(exec));
  if (size == 0) { return out; }
  records_kernel<<<grid_blocks(size, block_threads), block_threads, 0, exec.stream>>>(size, make, out.data());
  TENDRIL_CUDA_TRY(cudaGetLastError());
  return out;
}

// What makes one record. operator(): any thread.

struct row_of_graph {
  edge_id const* indptr;
  __device__ row_record operator()(std::int64_t v) const
  {
    edge_id const first = indptr[v];
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(indptr[v + 1] - first)};
  }
};

struct weighted_row_of_graph {
  edge_id const* indptr;
  float const* largest;
  __device__ plan::vertex_record operator()(std::int64_t v) const
  {
    edge_id const first = indptr[v];
    return {first, static_cast<std::uint32_t>(indptr[v + 1] - first), largest[v]};
  }
};

struct edge_of_graph {
  vertex_id const* indices;
  float const* weights;
  __device__ plan::edge_record operator()(std::int64_t e) const { return {indices[e], weights[e]}; }
};

struct hop_of_graph {
  edge_id const* indptr;
  vertex_id const* indices;
  __device__ hop_record operator()(std::int64_t e) const
  {
    vertex_id const neighbor = indices[e];
    edge_id const first = indptr[neighbor];
    return {neighbor, static_cast<std::uint32_t>(indptr[neighbor + std::int64_t{1}] - first), first};
  }
};

struct packed_hop_of_graph {
  edge_id const* indptr;
  vertex_id const* indices;
  hop_packing packing;
  __device__ std::uint64_t operator()(std::int64_t e) const
  {
    hop_record const hop = hop_of_graph{indptr, indices}(e);
    return packing.pack(hop.neighbor, hop.first, hop.degree);
  }
};

}  // namespace

buffer<row_record> make_row_records(csr_arrays const& graph, gpu_exec const& exec)
{
  expect_below_power("row records: number of edges", graph.num_edges, 32);
  return make_records<row_record>(graph.num_vertices, row_of_graph{graph.indptr}, exec);
}

buffer<plan::vertex_record> make_vertex_records(csr_arrays const& graph, float const* largest, gpu_exec const& exec)
{
  return make_records<plan::vertex_record>(graph.num_vertices, weighted_row_of_graph{graph.indptr, largest}, exec);
}

buffer<plan::edge_record> make_edge_records(csr_arrays const& graph, gpu_exec const& exec)
{
  return make_records<plan::edge_record>(graph.num_edges, edge_of_graph{graph.indices, graph.weights}, exec);
}

buffer<hop_record> make_hop_records(csr_arrays const& graph, gpu_exec const& exec)
{
  return make_records<hop_record>(graph.num_edges, hop_of_graph{graph.indptr, graph.indices}, exec);
}

buffer<std::uint64_t> make_packed_hops(csr_arrays const& graph, hop_packing packing, gpu_exec const& exec)
{
  return make_records<std::uint64_t>(graph.num_edges, packed_hop_of_graph{graph.indptr, graph.indices, packing}, exec);
}

}  // namespace tendril::gpu
