// Induced subgraphs of samples of at most 64 vertices: a warp a sample. Two passes, to count and to write, with a scan of
// the counts between them; the second leaves out the rows in which the first found nothing.
//
// The vertices are sorted in shared memory, and set in a filter of 2048 bits. Lists that are to be read, of up to 32
// vertices at a time, are laid end to end: lane l takes the items l, l + 32, …, so that lists of any lengths keep all
// lanes busy and are read in whole sectors. Which list an item belongs to is told by a bit for each item that begins one:
// the number of bits up to it. An item costs a load and a look at the filter; the few that pass search the sorted vertices.
// Long lists are searched for all vertices at once, a lane a vertex. As vertices are sorted and lists too, both ways find
// the edges of a row in the order of its list, and no atomic operation decides about a place.
//
// Every list of the sample is read once, 4 bytes an entry: 251 M entries, 1 GB, for 161,575 samples of 32 vertices of a
// graph of 48.6 edges a vertex, 0.22 ms at 4.6 TB/s.
// The question: src/core/sample_members.hpp. CPU twin: src/cpu/subgraphs/subgraph.cpp. Larger samples: src/gpu/subgraphs/induce_large.cu.

#include <cub/device/device_scan.cuh>

#include "core/sample_members.hpp"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch
#include "gpu/subgraphs/inner_edges.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
constexpr int block_warps = block_threads / warp_size;
constexpr int most_members = static_cast<int>(most_small_members);
constexpr std::uint32_t most_read = 256;  // entries of a list that is read
constexpr int filter_words = 64;
constexpr int chunks_at_once = 4;  // loads in flight a lane

/// Where the lists are that are read, by rank among them: of views that don't find a target by its edge's number alone.
template <class View, bool by_number = View::targets_by_number>
struct list_places {
  typename View::place at[warp_size];
  std::uint32_t first_item[warp_size];

  __device__ void put(int rank, typename View::place const& place, std::uint32_t item)
  {
    at[rank] = place;
    first_item[rank] = item;
  }
  /// The target of an item. Any lane.
  [[nodiscard]] __device__ vertex_id target(View const& graph, int rank, std::uint32_t item, edge_id) const
  {
    return graph.row(0, at[rank]).neighbor(item - first_item[rank]);
  }
};

template <class View>
struct list_places<View, true> {
  __device__ void put(int, typename View::place const&, std::uint32_t) {}
  [[nodiscard]] __device__ vertex_id target(View const& graph, int, std::uint32_t, edge_id e) const
  {
    return graph.edge_target(e, 0);
  }
};

/// Shared memory of one warp.
struct warp_desk {
  std::uint64_t keys[most_members];   // vertex * 2^32 + position, ascending; then all bits set
  edge_id item_base[warp_size];       // by rank among the lists that are read: first edge - first item
  std::int64_t row_first[warp_size];  // by row of the group: where its edges go
  std::uint32_t filter[filter_words];
  std::uint32_t starts[most_read];  // a bit an item: whether a list begins with it
  std::uint32_t counts[warp_size];  // by row of the group: edges found
  std::uint8_t row_of[warp_size];   // by rank
};

/// The same, and what reading lists takes.
template <class View>
struct list_desk : warp_desk {
  list_places<View> places;
};

/// The calling warp's view of its sample.
struct small_sample {
  warp_desk* desk;
  int size;
  vertex_id least, range;  // of the sample's vertices: the smallest, and how far above it the largest is

  [[nodiscard]] __device__ vertex_id vertex(int place) const
  {
    return static_cast<vertex_id>(desk->keys[place] >> 32U);
  }
  [[nodiscard]] __device__ std::uint32_t position(int place) const
  {
    return static_cast<std::uint32_t>(desk->keys[place]);
  }

  /// The place of x among the sorted vertices, or -1. Any lane.
  [[nodiscard]] __device__ int find(vertex_id x) const
  {
    if (x - least > range) { return -1; }
    auto const bit = core::member_bit::of(x, filter_words);
    if ((desk->filter[bit.word] & bit.mask) == 0) { return -1; }
    int first = 0;
    for (int half = most_members / 2; half > 0; half /= 2) {
      first += first + half < size && vertex(first + half) <= x ? half : 0;
    }
    return vertex(first) == x ? first : -1;
  }
};

/// Sorts the first `size` keys, a power of two up to 64: Batcher's bitonic network. All lanes.
__device__ void sort_keys(std::uint64_t* keys, int size)
{
  int const lane = lane_id();
  for (int block = 2; block <= size; block *= 2) {
    for (int stride = block / 2; stride > 0; stride /= 2) {
      if (lane < size / 2) {
        int const low = 2 * lane - (lane & (stride - 1));
        std::uint64_t const a = keys[low];
        std::uint64_t const b = keys[low + stride];
        if ((a > b) == ((low & block) == 0)) {
          keys[low] = b;
          keys[low + stride] = a;
        }
      }
      __syncwarp();
    }
  }
}

/// Sorts the vertices of a sample that is not empty; tells whether they are distinct. All lanes.
__device__ bool load_sample(vertex_id const* nodes, int size, warp_desk& desk, small_sample& sample)
{
  int const lane = lane_id();
  int const padded = size <= warp_size ? warp_size : most_members;
  __syncwarp();
  for (int i = lane; i < padded; i += warp_size) {
    desk.keys[i] = i < size ? (std::uint64_t{nodes[i]} << 32U) | static_cast<unsigned>(i) : ~std::uint64_t{0};
  }
  for (int i = lane; i < filter_words; i += warp_size) { desk.filter[i] = 0; }
  __syncwarp();
  bool in_order = true;
  for (int i = lane; i + 1 < padded; i += warp_size) { in_order = in_order && desk.keys[i] <= desk.keys[i + 1]; }
  __syncwarp();
  if (__all_sync(full_warp, in_order) == 0) { sort_keys(desk.keys, padded); }
  bool distinct = true;
  for (int i = lane; i < size; i += warp_size) {
    auto const v = static_cast<vertex_id>(desk.keys[i] >> 32U);
    distinct = distinct && (i == 0 || static_cast<vertex_id>(desk.keys[i - 1] >> 32U) != v);
    auto const bit = core::member_bit::of(v, filter_words);
    atomicOr(desk.filter + bit.word, bit.mask);
  }
  __syncwarp();
  sample = {&desk, size, 0, 0};
  sample.least = sample.vertex(0);
  sample.range = sample.vertex(size - 1) - sample.least;
  return __all_sync(full_warp, distinct) != 0;
}

/// What is done with the edges that are found: counted.
struct edge_counter {
  static constexpr bool writes = false;
};

/// Or written.
struct edge_writer {
  static constexpr bool writes = true;
  inner_edges out;
};

/// One row a lane, of at most 32 that the warp works on at once.
template <class View>
struct row_group {
  int first_row;              // position in the sample of lane 0's
  vertex_id vertex = 0;       // the lane's
  typename View::place at{};  // its list; empty where there is nothing to do
  edge_id first = 0;          // the number of its first edge
  std::uint32_t read = 0;     // its degree, if the list is to be read, else 0
};

/// Lays the lists that are to be read end to end; returns the number of items. All lanes.
template <class View>
__device__ std::uint32_t lay_out(list_desk<View>& desk, row_group<View> const& rows)
{
  int const lane = lane_id();
  std::uint32_t const before = sum_before(rows.read);
  std::uint32_t const num_items = __shfl_sync(full_warp, before + rows.read, warp_size - 1);
  for (std::uint32_t w = lane; w * warp_size < num_items; w += warp_size) { desk.starts[w] = 0; }
  desk.counts[lane] = 0;
  __syncwarp();
  unsigned const reading = __ballot_sync(full_warp, rows.read > 0);
  if (rows.read > 0) {
    int const rank = __popc(reading & lanes_before());
    desk.item_base[rank] = rows.first - static_cast<edge_id>(before);
    desk.places.put(rank, rows.at, before);
    desk.row_of[rank] = static_cast<std::uint8_t>(lane);
    atomicOr(desk.starts + before / warp_size, 1U << (before % warp_size));
  }
  __syncwarp();
  return num_items;
}

/// Takes note of the places (or -1) that the lanes found for consecutive items. All lanes.
/// @param first_row  row_group::first_row
template <class Visitor>
__device__ void visit_items(small_sample const& sample, int first_row, Visitor const& visitor, unsigned starts,
                            int rank, edge_id e, int place)
{
  warp_desk& desk = *sample.desk;
  unsigned const hits = __ballot_sync(full_warp, place >= 0);
  if (hits == 0) { return; }
  int const row = desk.row_of[rank];
  if constexpr (Visitor::writes) {
    // Hits of the same row before this one: earlier chunks' are counted, this chunk's are lanes from the row's first on.
    unsigned const begun = starts & (lanes_before() | (1U << static_cast<unsigned>(lane_id())));
    unsigned const first_lane = begun != 0 ? 31U - static_cast<unsigned>(__clz(static_cast<int>(begun))) : 0U;
    unsigned const same_row = hits & lanes_before() & (full_warp << first_lane);
    if (place >= 0) {
      write_edge(visitor.out, desk.row_first[row] + desk.counts[row] + __popc(same_row), first_row + row,
                 sample.position(place), e);
    }
    __syncwarp();
  }
  if (place >= 0) { atomicAdd(desk.counts + row, 1U); }
  __syncwarp();
}

/// Reads the lists of a group, end to end. All lanes.
template <class View, class Visitor>
__device__ void read_lists(View const& graph, small_sample const& sample, list_desk<View>& desk,
                           row_group<View> const& rows, Visitor const& visitor)
{
  std::uint32_t const num_items = lay_out(desk, rows);
  std::uint32_t const num_chunks = (num_items + warp_size - 1) / warp_size;
  unsigned const lanes_up_to = lanes_before() | (1U << static_cast<unsigned>(lane_id()));
  int begun = 0;  // lists that begin before the chunk
  for (std::uint32_t chunk = 0; chunk < num_chunks; chunk += chunks_at_once) {
    unsigned starts[chunks_at_once];
    int rank[chunks_at_once];
    edge_id e[chunks_at_once];
    vertex_id x[chunks_at_once];
#pragma unroll
    for (int k = 0; k < chunks_at_once; ++k) {
      starts[k] = chunk + k < num_chunks ? desk.starts[chunk + k] : 0;
      rank[k] = begun + __popc(starts[k] & lanes_up_to) - 1;  // the first item begins a list, so never below 0
      begun += __popc(starts[k]);
      std::uint32_t const item = (chunk + k) * warp_size + lane_id();
      e[k] = desk.item_base[rank[k]] + item;
      // no_vertex is no member: it is out of the sample's range.
      x[k] = item < num_items ? desk.places.target(graph, rank[k], item, e[k]) : no_vertex;
    }
#pragma unroll
    for (int k = 0; k < chunks_at_once; ++k) {
      visit_items(sample, rows.first_row, visitor, starts[k], rank[k], e[k], sample.find(x[k]));
    }
  }
}

/// Searches the long lists of a group for all vertices of the sample. All lanes.
template <class View, class Visitor>
__device__ void search_lists(View const& graph, small_sample const& sample, row_group<View> const& rows,
                             Visitor const& visitor)
{
  warp_desk& desk = *sample.desk;
  for (unsigned left = __ballot_sync(full_warp, rows.at.degree > 0 && rows.read == 0); left != 0; left &= left - 1) {
    int const row = __ffs(static_cast<int>(left)) - 1;
    edge_id const first = __shfl_sync(full_warp, rows.first, row);
    auto const list = graph.row(__shfl_sync(full_warp, rows.vertex, row), from_lane(rows.at, row));
    std::uint32_t found = 0;
    for (int begin = 0; begin < sample.size; begin += warp_size) {
      int const place = begin + lane_id();
      core::edge_run run{0, 0};
      if (place < sample.size) { run = core::find_run(list, sample.vertex(place)); }
      std::uint32_t const before = sum_before(run.count);
      if constexpr (Visitor::writes) {
        std::uint32_t const position = place < sample.size ? sample.position(place) : 0;
        write_runs(visitor.out, desk.row_first[row] + found + before, rows.first_row + row, position, first + run.first,
                   run.count);
      }
      found += __shfl_sync(full_warp, before + run.count, warp_size - 1);
    }
    if (lane_id() == 0) { desk.counts[row] = found; }
  }
  __syncwarp();
}

/// The rows of one sample from `first_row` on. `wanted` tells whether a lane's is to be looked at. All lanes.
template <class View>
__device__ row_group<View> make_group(View const& graph, small_sample const& sample, vertex_id const* nodes,
                                      int first_row, bool wanted)
{
  row_group<View> rows{first_row};
  if (wanted) {
    rows.vertex = nodes[first_row + lane_id()];
    rows.at = graph.locate(rows.vertex);
    rows.first = graph.row(rows.vertex, rows.at).first_edge();
    std::uint32_t const degree = rows.at.degree;
    rows.read = degree <= most_read && core::reads_list(degree, static_cast<unsigned>(sample.size)) ? degree : 0;
  }
  return rows;
}

template <class View>
__global__ __launch_bounds__(block_threads) void count_kernel(View graph, sample_sets sets, sample_status* status,
                                                              std::uint32_t* row_counts)
{
  __shared__ list_desk<View> desks[block_warps];
  sample_status const seen = *status;
  constexpr unsigned long long none = ~0ULL;
  // Two samples are told apart by the first pass alone, so another warp's bad_sample changes nothing here.
  if (seen.bad_offset != none || seen.bad_node != none || seen.max_size > most_small_members) { return; }
  list_desk<View>& desk = desks[threadIdx.x / warp_size];
  for (std::int64_t s = global_thread() / warp_size; s < sets.num_samples; s += grid_stride() / warp_size) {
    std::int64_t const begin = sets.offsets[s];
    int const size = static_cast<int>(sets.offsets[s + 1] - begin);
    if (size == 0) { continue; }
    small_sample sample;
    bool const distinct = load_sample(sets.nodes + begin, size, desk, sample);
    if (!distinct && lane_id() == 0) { atomicMin(&status->bad_sample, static_cast<unsigned long long>(s)); }
    for (int first_row = 0; first_row < size; first_row += warp_size) {
      bool const inside = first_row + lane_id() < size;
      row_group<View> const rows = make_group(graph, sample, sets.nodes + begin, first_row, inside);
      read_lists(graph, sample, desk, rows, edge_counter{});
      search_lists(graph, sample, rows, edge_counter{});
      if (inside) { row_counts[begin + first_row + lane_id()] = desk.counts[lane_id()]; }
      __syncwarp();
    }
  }
}

template <class View>
__global__ __launch_bounds__(block_threads) void write_kernel(View graph, sample_sets sets,
                                                              std::int64_t const* row_offsets, inner_edges out,
                                                              std::int64_t* edge_offsets)
{
  __shared__ list_desk<View> desks[block_warps];
  list_desk<View>& desk = desks[threadIdx.x / warp_size];
  for (std::int64_t s = global_thread() / warp_size; s <= sets.num_samples; s += grid_stride() / warp_size) {
    std::int64_t const begin = sets.offsets[s];
    std::int64_t const first_edge = row_offsets[begin];
    if (lane_id() == 0) { edge_offsets[s] = first_edge; }
    if (s == sets.num_samples) { continue; }
    std::int64_t const end = sets.offsets[s + 1];
    if (row_offsets[end] == first_edge) { continue; }
    int const size = static_cast<int>(end - begin);
    small_sample sample;
    load_sample(sets.nodes + begin, size, desk, sample);
    for (int first_row = 0; first_row < size; first_row += warp_size) {
      bool const inside = first_row + lane_id() < size;
      std::int64_t const row = begin + first_row + lane_id();
      std::int64_t const row_first = inside ? row_offsets[row] : 0;
      bool const wanted = inside && row_offsets[row + 1] > row_first;
      desk.row_first[lane_id()] = row_first;
      __syncwarp();
      row_group<View> const rows = make_group(graph, sample, sets.nodes + begin, first_row, wanted);
      read_lists(graph, sample, desk, rows, edge_writer{out});
      search_lists(graph, sample, rows, edge_writer{out});
    }
  }
}

/// As a type, since a lambda that a kernel calls takes a switch of the compiler.
struct add_counts {
  __host__ __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

/// A thread a node, and a thread a sample.
__global__ __launch_bounds__(block_threads) void check_kernel(sample_sets sets, std::int64_t num_vertices,
                                                              sample_status* status)
{
  long long largest = -1;
  for (std::int64_t i = global_thread(); i < max(sets.num_nodes, sets.num_samples + 1); i += grid_stride()) {
    if (i < sets.num_nodes && sets.nodes[i] >= num_vertices) {
      atomicMin(&status->bad_node, static_cast<unsigned long long>(i));
    }
    if (i > sets.num_samples) { continue; }
    std::int64_t const offset = sets.offsets[i];
    std::int64_t const next = i < sets.num_samples ? sets.offsets[i + 1] : sets.num_nodes;
    bool const wrong = (i == 0 && offset != 0) || offset > next || next > sets.num_nodes ||
                       (i == sets.num_samples && offset != next) || next - offset > max_num_vertices;
    if (wrong) { atomicMin(&status->bad_offset, static_cast<unsigned long long>(i)); }
    if (i < sets.num_samples) { largest = max(largest, static_cast<long long>(next - offset)); }
  }
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    largest = max(largest, __shfl_xor_sync(full_warp, largest, distance));
  }
  if (lane_id() == 0 && largest >= 0) { atomicMax(&status->max_size, largest); }
}

}  // namespace

void check_samples(sample_sets const& sets, std::int64_t num_vertices, sample_status* status, cuda_stream stream)
{
  constexpr std::int64_t most_blocks = 2048;  // one atomic operation a warp: few warps
  unsigned const blocks = grid_blocks(std::max(sets.num_nodes, sets.num_samples + 1), block_threads, most_blocks);
  check_kernel<<<blocks, block_threads, 0, stream>>>(sets, num_vertices, status);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void count_small(graph_view const& graph, sample_sets const& sets, sample_status* status, std::uint32_t* row_counts,
                 cuda_stream stream)
{
  unsigned const blocks = grid_blocks(sets.num_samples, block_warps);
  graph.visit(
      [&](auto const& view) { count_kernel<<<blocks, block_threads, 0, stream>>>(view, sets, status, row_counts); });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

void scan_counts(std::uint32_t const* row_counts, std::int64_t size, std::int64_t* row_offsets, sample_status* status,
                 gpu_exec const& exec)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(row_offsets, 0, sizeof *row_offsets, exec.stream));
  if (size > 0) {
    run_with_scratch(exec, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveScan(scratch, bytes, row_counts, row_offsets + 1, add_counts{}, size,
                                            exec.stream);
    });
  }
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(&status->num_edges, row_offsets + size, sizeof(std::int64_t),
                                   cudaMemcpyDeviceToDevice, exec.stream));
}

void write_small(graph_view const& graph, sample_sets const& sets, std::int64_t const* row_offsets,
                 inner_edges const& out, std::int64_t* edge_offsets, cuda_stream stream)
{
  unsigned const blocks = grid_blocks(sets.num_samples + 1, block_warps);
  graph.visit([&](auto const& view) {
    write_kernel<<<blocks, block_threads, 0, stream>>>(view, sets, row_offsets, out, edge_offsets);
  });
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

}  // namespace tendril::gpu
