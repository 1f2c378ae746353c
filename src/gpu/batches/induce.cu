// All edges between the vertices of a mini-batch, of one tree if it is disjoint. A warp takes a segment of a vertex's row
// and looks every neighbour up in the table that numbered the batch. Twice: once to count, once to write, when a scan has
// told every segment its place. A neighbour costs 4 bytes in sequence and one access to the table each time; the table's
// empty slots answer for most.

#include "gpu/batches/induce.hpp"
#include "gpu/batches/shape.cuh"
#include "gpu/graph/edge_tiles.cuh"
#include "gpu/picks/targets.cuh"

namespace tendril::gpu {
namespace {

constexpr int inner_threads = 256;

/// One segment of one vertex's row.
template <class View>
struct segment {
  typename View::row_type row;
  std::int64_t expanded;  ///< In the list.
  edge_id first;          ///< Of the segment, and its position in the row.
  std::uint32_t begin;
  std::uint32_t size;
  std::uint32_t stamp;
  std::int64_t time;

  /// Any thread.
  [[nodiscard]] static __device__ segment of(View const& graph, inner_job const& job, std::int64_t num_vertices,
                                             std::uint32_t first_stamp, std::int64_t s)
  {
    segment out{};
    out.expanded = row_of(job.segments, 0, num_vertices - 1, s);
    out.row = graph.row(job.vertices[out.expanded]);
    std::int64_t const skipped = (s - job.segments[out.expanded]) * inner_segment;
    out.first = out.row.first_edge() + skipped;
    out.begin = static_cast<std::uint32_t>(skipped);
    out.size = static_cast<std::uint32_t>(min(out.row.degree() - skipped, inner_segment));
    std::uint32_t const group = job.group_of[out.expanded];
    out.stamp = stamp_of_group(first_stamp, job.num_types, job.to, group);
    if (job.time_of != nullptr) { out.time = job.groups[group].time; }
    return out;
  }

  /// The number of the neighbour at edge i, or nowhere for one that isn't there, or comes later. Any thread.
  [[nodiscard]] __device__ std::uint32_t number_of(View const& graph, inner_job const& job, std::uint32_t first_stamp,
                                                   std::uint32_t i) const
  {
    if (i >= size) { return nowhere; }
    if (job.time_of != nullptr && job.time_of[first + i] > time) { return nowhere; }
    return job.table.find(stamped(stamp, target_in(graph, row, first + i, begin + i)), first_stamp);
  }
};

__global__ __launch_bounds__(inner_threads) void segments_kernel(edge_arrays const graph,
                                                                 inner_job const __grid_constant__ job,
                                                                 std::int64_t* counts)
{
  std::int64_t const size = *job.num;
  for (std::int64_t i = global_thread(); i < job.most_vertices; i += grid_stride()) {
    std::int64_t const degree = i < size ? graph.degree(job.vertices[i]) : 0;
    counts[i] = (degree + inner_segment - 1) / inner_segment;
  }
}

template <class View>
__global__ __launch_bounds__(inner_threads) void count_kernel(View const graph, inner_job const __grid_constant__ job,
                                                              std::int64_t* counts)
{
  std::int64_t const size = *job.num;
  std::uint32_t const first_stamp = *job.first_stamp;
  auto const lane = static_cast<std::uint32_t>(lane_id());
  for (std::int64_t s = global_thread() / warp_size; s < job.num_segments; s += grid_stride() / warp_size) {
    auto const own = segment<View>::of(graph, job, size, first_stamp, s);
    std::int64_t count = 0;
    for (std::uint32_t i = 0; i < own.size; i += warp_size) {
      count += __popc(__ballot_sync(full_warp, own.number_of(graph, job, first_stamp, i + lane) != nowhere));
    }
    if (lane == 0) { counts[s] = count; }
  }
}

__global__ __launch_bounds__(inner_threads) void rows_kernel(inner_job const __grid_constant__ job,
                                                             std::int64_t* counts)
{
  std::int64_t const size = *job.num;
  for (std::int64_t i = global_thread(); i < job.most_vertices; i += grid_stride()) {
    counts[i] = i < size ? job.places().before(i + 1) - job.places().before(i) : 0;
  }
}

__global__ __launch_bounds__(inner_threads) void sum_kernel(inner_places const places, std::int64_t const* begin,
                                                            std::int64_t num_batches, std::int64_t* totals)
{
  for (std::int64_t b = global_thread(); b < num_batches; b += grid_stride()) {
    totals[b] = places.before(begin[b + 1]) - places.before(begin[b]);
  }
}

/// Where the edges of batches go.
struct batch_sink {
  edge_call out;
  std::int64_t const* begin;
  std::int64_t num_batches;

  /// Of a vertex of the list. Any thread.
  [[nodiscard]] __device__ std::int64_t row_of_vertex(std::int64_t i) const
  {
    return i - begin[row_of(begin, 0, num_batches - 1, i)];
  }
  __device__ void put(std::int64_t at, std::int64_t row, std::uint32_t number, edge_id edge) const
  {
    out.row[at] = row;
    out.col[at] = number;
    out.edge[at] = edge;
  }
};

/// Where edges go that another rank asked for.
struct found_sink {
  edge_id* edges;
  vertex_id* numbers;

  [[nodiscard]] __device__ std::int64_t row_of_vertex(std::int64_t i) const { return i; }
  __device__ void put(std::int64_t at, std::int64_t, std::uint32_t number, edge_id edge) const
  {
    edges[at] = edge;
    numbers[at] = number;
  }
};

template <class View, class Sink>
__global__ __launch_bounds__(inner_threads) void write_kernel(View const graph, inner_job const __grid_constant__ job,
                                                              Sink const __grid_constant__ sink)
{
  std::int64_t const size = *job.num;
  std::uint32_t const first_stamp = *job.first_stamp;
  auto const lane = static_cast<std::uint32_t>(lane_id());
  for (std::int64_t s = global_thread() / warp_size; s < job.num_segments; s += grid_stride() / warp_size) {
    auto const own = segment<View>::of(graph, job, size, first_stamp, s);
    std::int64_t const row = sink.row_of_vertex(own.expanded);
    std::int64_t at = job.hits[s];
    for (std::uint32_t i = 0; i < own.size; i += warp_size) {
      std::uint32_t const number = own.number_of(graph, job, first_stamp, i + lane);
      unsigned const found = __ballot_sync(full_warp, number != nowhere);
      if (number != nowhere) { sink.put(at + __popc(found & ((1U << lane) - 1U)), row, number, own.first + i + lane); }
      at += __popc(found);
    }
  }
}

template <class Sink>
void launch_write(inner_job const& job, Sink const& sink, gpu_exec const& exec)
{
  if (job.num_segments == 0) { return; }
  job.graph.visit([&](auto const& graph) {
    write_kernel<<<grid_blocks(job.num_segments * warp_size, inner_threads), inner_threads, 0, exec.stream>>>(
        graph, job, sink);
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

/// Vertex i of batch b is element i + b, and behind a batch's last one stands its end.
__global__ __launch_bounds__(inner_threads) void inner_indptr_kernel(inner_places const places, vertex_list const list,
                                                                     std::int64_t num_batches, std::int64_t* row_ends)
{
  std::int64_t const size = *list.num;
  for (std::int64_t k = global_thread(); k < size + num_batches; k += grid_stride()) {
    // Batch b's elements begin at begin[b] + b.
    std::int64_t low = 0;
    std::int64_t high = num_batches - 1;
    while (low < high) {
      std::int64_t const middle = (low + high + 1) / 2;
      bool const right = list.begin[middle] + middle <= k;
      low = right ? middle : low;
      high = right ? high : middle - 1;
    }
    row_ends[k] = places.before(k - low) - places.before(list.begin[low]);
  }
}

__global__ __launch_bounds__(inner_threads) void invert_kernel(edge_arrays const graph, std::int64_t const* times,
                                                               std::uint32_t const* ordinal, std::int64_t* time_of)
{
  for (edge_id e = global_thread(); e < graph.num_edges; e += grid_stride()) {
    edge_id const first = graph.first_edge(row_of(graph.first_edges, 0, graph.num_vertices - 1, e));
    time_of[first + ordinal[e]] = times[e];
  }
}

}  // namespace

void count_segments(inner_job const& job, std::int64_t* counts, gpu_exec const& exec)
{
  if (job.most_vertices == 0) { return; }
  segments_kernel<<<grid_blocks(job.most_vertices, inner_threads), inner_threads, 0, exec.stream>>>(job.graph.edges(),
                                                                                                    job, counts);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void count_inner(inner_job const& job, std::int64_t* counts, gpu_exec const& exec)
{
  if (job.num_segments == 0) { return; }
  job.graph.visit([&](auto const& graph) {
    count_kernel<<<grid_blocks(job.num_segments * warp_size, inner_threads), inner_threads, 0, exec.stream>>>(
        graph, job, counts);
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void count_of_rows(inner_job const& job, std::int64_t* counts, gpu_exec const& exec)
{
  if (job.most_vertices == 0) { return; }
  rows_kernel<<<grid_blocks(job.most_vertices, inner_threads), inner_threads, 0, exec.stream>>>(job, counts);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void sum_inner(inner_places const& places, std::int64_t const* begin, std::int64_t num_batches, std::int64_t* totals,
               gpu_exec const& exec)
{
  sum_kernel<<<grid_blocks(num_batches, inner_threads), inner_threads, 0, exec.stream>>>(places, begin, num_batches,
                                                                                         totals);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void write_inner_indptr(inner_places const& places, vertex_list const& list, std::int64_t num_batches,
                        std::int64_t most_vertices, std::int64_t* indptr, gpu_exec const& exec)
{
  inner_indptr_kernel<<<grid_blocks(most_vertices + num_batches, inner_threads), inner_threads, 0, exec.stream>>>(
      places, list, num_batches, indptr);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void write_inner(inner_job const& job, std::int64_t const* begin, std::int64_t num_batches, edge_call const& out,
                 gpu_exec const& exec)
{
  launch_write(job, batch_sink{out, begin, num_batches}, exec);
}

void write_found(inner_job const& job, edge_id* edges, vertex_id* numbers, gpu_exec const& exec)
{
  launch_write(job, found_sink{edges, numbers}, exec);
}

void invert_times(graph_view const& graph, std::int64_t const* times, std::uint32_t const* ordinal,
                  std::int64_t* time_of, gpu_exec const& exec)
{
  if (graph.num_edges == 0) { return; }
  invert_kernel<<<grid_blocks(graph.num_edges, inner_threads), inner_threads, 0, exec.stream>>>(graph.edges(), times,
                                                                                                ordinal, time_of);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
