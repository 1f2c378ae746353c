// The edges of layer-wise samples: a block takes the matrix of bits of two neighbouring layers, counts the edges of each
// row, and writes them, a warp a row, so that lanes store side by side. Rows are normalised by sums that a thread adds up
// in the order of the edges, which is the order of the CPU.
// The rule: src/core/layers.hpp. CPU twin: src/cpu/layers/layers.cpp. At 12 bytes an edge the 66 M edges of 10,000 LADIES samples
// of R-MAT scale 20 (5 layers of 64) are 0.8 GB: 0.17 ms at 4.6 TB/s.

#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_scan.cuh>

#include "gpu/layers/layer_blocks.cuh"
#include "gpu/layers/layer_shape.cuh"

namespace tendril::gpu {
namespace {

/// What a block keeps of the two layers.
struct edge_arena {
  // [rows]
  vertex_id const* rows;  ///< The vertices, in the memory of the layer before.
  edge_id* first;
  std::int64_t* offsets;  ///< Where the row's edges go, counted from the block's.
  double* sums;           ///< What coefficients are divided by.
  double* entries;        ///< Matrix `row`: the entry that all edges of the row have.
  std::uint32_t* degree;
  // [layer_size]
  double* scales;
  vertex_id* columns;
  std::uint32_t* column_degree;  ///< Unless the matrix is `row`.

  [[nodiscard]] static TENDRIL_HD edge_arena cut(layerwise_job const& job, arena_cutter& from)
  {
    std::uint32_t const rows = job.batch_size > job.layer_size ? job.batch_size : job.layer_size;
    edge_arena a{};
    a.first = from.take<edge_id>(rows);
    a.offsets = from.take<std::int64_t>(rows);
    a.sums = from.take<double>(rows);
    a.entries = from.take<double>(job.source.matrix == propagation::row ? rows : 0);
    a.degree = from.take<std::uint32_t>(rows);
    a.scales = from.take<double>(job.layer_size);
    a.columns = from.take<vertex_id>(job.layer_size);
    a.column_degree = from.take<std::uint32_t>(job.source.matrix == propagation::symmetric ? job.layer_size : 0);
    return a;
  }

  /// Row r, which has edges. Any thread.
  template <class View>
  [[nodiscard]] __device__ auto row(View const& graph, std::uint32_t r) const
  {
    return graph.row(rows[r], first[r], degree[r]);
  }
};

/// Whether an edge's place must be searched. Any thread.
__device__ bool needs_places(layerwise_job const& job, layer_edges const& out)
{
  return job.parallel_edges || job.source.matrix == propagation::weights || out.edges != nullptr;
}

/// Calls f(scaled entry, edge) for each edge of row r to column j, in order. Without `places` edges are unknown: -1. Any
/// thread.
template <class View, class F>
__device__ void for_each_entry(View const& graph, layerwise_job const& job, edge_arena const& a, bool places,
                               std::uint32_t r, std::uint32_t j, F f)
{
  propagation const matrix = job.source.matrix;
  std::uint32_t const column_degree = matrix == propagation::symmetric ? a.column_degree[j] : 0;
  auto const scaled = [&](float weight) {
    return (matrix == propagation::row ? a.entries[r]
                                       : core::propagation_entry(matrix, a.degree[r], column_degree, weight)) *
           a.scales[j];
  };
  if (!places) {
    f(scaled(1.0F), edge_id{-1});
    return;
  }
  auto const row = a.row(graph, r);
  for_each_edge_to(row, a.columns[j], [&](std::uint32_t i) {
    f(scaled(matrix == propagation::weights ? row.weight(i) : 1.0F), a.first[r] + i);
  });
}

/// Calls f(column) for each bit of a row, ascending. Any thread.
template <class F>
__device__ void for_each_bit(std::uint32_t const* row_bits, std::uint32_t words, F f)
{
  for (std::uint32_t w = 0; w < words; ++w) {
    for (std::uint32_t word = row_bits[w]; word != 0; word &= word - 1) {
      f(w * 32 + static_cast<std::uint32_t>(__ffs(static_cast<int>(word)) - 1));
    }
  }
}

/// Counts of rows, their offsets, their sums. Ends with the block in step. All threads of the block.
template <int threads, class View>
__device__ void measure_rows(View const& graph, layerwise_job const& job, edge_arena const& a, bool places,
                             std::uint32_t num_rows, std::uint32_t const* bits)
{
  using scan = cub::BlockScan<std::int64_t, threads>;
  __shared__ typename scan::TempStorage storage;
  std::uint32_t const words = job.row_words();
  std::int64_t before = 0;
  for (std::uint32_t begin = 0; begin < num_rows; begin += threads) {
    std::uint32_t const r = begin + threadIdx.x;
    std::int64_t count = 0;
    if (r < num_rows) {
      std::uint32_t const* const row_bits = bits + std::size_t{r} * words;
      double sum = job.normalize_rows ? 0 : 1;
      if (job.normalize_rows || job.parallel_edges) {
        for_each_bit(row_bits, words, [&](std::uint32_t j) {
          for_each_entry(graph, job, a, places, r, j, [&](double scaled, edge_id) {
            ++count;
            if (job.normalize_rows) { sum += scaled; }
          });
        });
      } else {
        for (std::uint32_t w = 0; w < words; ++w) { count += __popc(row_bits[w]); }
      }
      a.sums[r] = sum;
    }
    std::int64_t offset = 0;
    std::int64_t all = 0;
    scan(storage).ExclusiveSum(count, offset, all);
    if (r < num_rows) { a.offsets[r] = before + offset; }
    before += all;
    __syncthreads();
  }
}

/// Writes the edges of row r from `at` on. A whole warp calls it.
template <class View>
__device__ void write_row(View const& graph, layerwise_job const& job, edge_arena const& a, layer_edges const& out,
                          bool places, std::uint32_t r, std::uint32_t const* row_bits, std::int64_t at)
{
  double const sum = a.sums[r];
  auto const lane = static_cast<unsigned>(lane_id());
  for (std::uint32_t w = 0; w < job.row_words(); ++w) {
    std::uint32_t const word = row_bits[w];
    if (word == 0) { continue; }  // of the whole warp
    std::uint32_t const j = w * warp_size + lane;
    bool const mine = ((word >> lane) & 1U) != 0;
    int count = mine ? 1 : 0;
    int before = __popc(word & ((1U << lane) - 1U));
    int all = __popc(word);
    if (job.parallel_edges) {
      count = 0;
      if (mine) {
        for_each_edge_to(a.row(graph, r), a.columns[j], [&](std::uint32_t) { ++count; });
      }
      before = count;
      for (unsigned step = 1; step < warp_size; step *= 2) {
        int const left = __shfl_up_sync(full_warp, before, step);
        before += lane >= step ? left : 0;
      }
      all = __shfl_sync(full_warp, before, warp_size - 1);
      before -= count;
    }
    if (mine) {
      std::int64_t to = at + before;
      for_each_entry(graph, job, a, places, r, j, [&](double scaled, edge_id e) {
        out.row[to] = static_cast<std::int32_t>(r);
        out.col[to] = static_cast<std::int32_t>(j);
        // Divided by 1 it stays what it is.
        out.coefficients[to] = job.normalize_rows ? core::coefficient(scaled, sum) : static_cast<float>(scaled);
        if (out.edges != nullptr) { out.edges[to] = e; }
        ++to;
      });
    }
    at += all;
  }
}

template <int threads, class View>
__global__ __launch_bounds__(threads) void write_edges_kernel(View const graph, layerwise_job const job,
                                                              layer_range const range, layer_edges const out,
                                                              layer_shape const shape, char* scratch)
{
  extern __shared__ std::uint64_t shared[];
  arena_cutter cutter(arena_memory(shape, shared, scratch));
  edge_arena a = edge_arena::cut(job, cutter);
  bool const places = needs_places(job, out);
  for (std::int64_t b = blockIdx.x; b < range.count * job.num_layers; b += gridDim.x) {
    std::int64_t const in_range = b / job.num_layers;
    std::int64_t const i = range.first + in_range;
    auto const layer = static_cast<std::uint32_t>(b - in_range * job.num_layers);
    std::int64_t const pair = i * job.num_layers + layer;
    std::uint32_t const num_rows = job.num_rows(layer);
    vertex_id const* const columns = job.vertices + pair * job.layer_size;
    a.rows = layer == 0 ? job.roots + i * job.batch_size : columns - job.layer_size;
    std::uint32_t const* const bits = range.bits + in_range * job.sample_words() + job.layer_word(layer);
    for (std::uint32_t r = threadIdx.x; r < num_rows; r += threads) {
      vertex_id const v = a.rows[r];
      a.first[r] = v == no_vertex ? 0 : graph.first_edge(v);
      a.degree[r] = v == no_vertex ? 0 : graph.degree(v);
      if (job.source.matrix == propagation::row) {
        a.entries[r] = core::propagation_entry(propagation::row, a.degree[r], 0, 0.0F);
      }
    }
    for (std::uint32_t j = threadIdx.x; j < job.layer_size; j += threads) {
      vertex_id const u = columns[j];
      float const p = job.probabilities[pair * job.layer_size + j];
      a.columns[j] = u;
      a.scales[j] = p > 0 ? core::column_scale(job.layer_size, p) : 0.0;
      if (job.source.matrix == propagation::symmetric) { a.column_degree[j] = u == no_vertex ? 0 : graph.degree(u); }
    }
    __syncthreads();
    measure_rows<threads>(graph, job, a, places, num_rows, bits);
    std::int64_t const at = job.edge_offsets[pair];
    for (std::uint32_t r = threadIdx.x / warp_size; r < num_rows; r += threads / warp_size) {
      write_row(graph, job, a, out, places, r, bits + std::size_t{r} * job.row_words(), at + a.offsets[r]);
    }
    __syncthreads();
  }
}

/// Calls f(kernel, view) with the one of so many threads for the view of the job's graph.
template <class F>
void with_write_kernel(layerwise_job const& job, int threads, F f)
{
  job.graph.visit([&]<class View>(View const& graph) {
    bool const few = threads == few_layer_threads;
    f(few ? write_edges_kernel<few_layer_threads, View> : write_edges_kernel<most_layer_threads, View>, graph);
  });
}

}  // namespace

layer_shape edges_shape(layerwise_job const& job, std::int64_t samples, int device)
{
  arena_cutter cutter(nullptr);
  (void)edge_arena::cut(job, cutter);
  layer_shape out;
  with_write_kernel(job, layer_threads(job), [&](auto* kernel, auto const&) {
    out = shape_of(kernel, layer_threads(job), cutter.used(), samples * job.num_layers, device);
  });
  return out;
}

void enqueue_edges(layerwise_job const& job, layer_range const& range, layer_edges const& out,
                   layer_shapes const& shapes, char* scratch, cuda_stream stream)
{
  layer_shape const& s = shapes.write;
  with_write_kernel(job, s.threads, [&](auto* kernel, auto const& graph) {
    kernel<<<s.blocks, s.threads, s.in_shared ? s.arena_bytes : 0, stream>>>(graph, job, range, out, s, scratch);
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
