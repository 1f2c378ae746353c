// Compresses lists on a GPU: a warp a block of 11 vertices measures its lists, says where they will lie, and writes them
// when the blocks before it are known, by the functions that the CPU uses (src/place/block_writer.hpp): lanes take
// elements of a list, and put bits into words that are 0 so far by atomic operations, so their order doesn't matter. Two
// passes over batches of rows: the first adds up what all batches take, the second writes into arrays of that size. CPU
// twin: src/place/list_encoder.hpp.

#include "gpu/place/encoder.hpp"

#include <cub/device/device_scan.cuh>

#include <tendril/gpu.hpp>

#include "gpu/device/copy_value.hpp"
#include "gpu/device/launch.cuh"
#include "gpu/graph/edge_tiles.cuh"  // run_with_scratch
#include "gpu/place/warp_team.cuh"

namespace tendril::gpu {
namespace {

using place::block_layout;
using place::list_arrays;
using place::list_totals;
using place::listed_rows;
using place::measured_block;

constexpr int block_threads = 256;
constexpr int warps_a_block = block_threads / warp_size;

/// A block of the directory, in the hands of a warp.
struct warp_block {
  measured_block lists;
  block_layout layout;
};

struct add_totals {
  __host__ __device__ list_totals operator()(list_totals const& a, list_totals const& b) const { return a + b; }
};

/// Blocks of the directory: [first, end) in a graph of num_vertices.
struct block_range {
  std::int64_t first, end, num_vertices;

  [[nodiscard]] std::int64_t size() const { return end - first; }
};

/// f(number of the block from `first` on, its lists and layout) for each block, by a warp that has it. All threads of the
/// grid.
template <class F>
__device__ void for_each_measured_block(block_range const& range, graph_form form, listed_rows const& rows, F f)
{
  // As bytes, because shared objects have no initializers: measure_block and the layout's constructor write all of them.
  __shared__ alignas(warp_block) unsigned char storage[warps_a_block][sizeof(warp_block)];
  warp_team const team;
  auto& own = *reinterpret_cast<warp_block*>(storage[threadIdx.x / warp_size]);
  std::int64_t const num_warps = grid_stride() / warp_size;
  for (std::int64_t k = global_thread() / warp_size; k < range.end - range.first; k += num_warps) {
    std::int64_t const first = (range.first + k) * list_block::vertices;
    place::measure_block(team, rows, form, range.num_vertices, first, own.lists);
    if (team.leads()) { own.layout = block_layout(own.lists); }
    team.wait();
    f(k, own);
    team.wait();  // before the next block takes this one's place
  }
}

/// What each block takes, without its edges.
__global__ __launch_bounds__(block_threads) void measure_kernel(block_range range, graph_form form, listed_rows rows,
                                                                list_totals* totals)
{
  for_each_measured_block(range, form, rows, [&](std::int64_t k, warp_block const& own) {
    if (lane_id() == 0) { totals[k] = place::totals_of(own.layout); }
  });
}

/// @param before  What each block's predecessors in the batch take.
__global__ __launch_bounds__(block_threads) void write_kernel(block_range range, graph_form form, listed_rows rows,
                                                              list_totals const* before, list_totals at, list_arrays to,
                                                              std::uint32_t* words)
{
  for_each_measured_block(range, form, rows, [&](std::int64_t k, warp_block const& own) {
    place::write_block(warp_team(), shared_words(words), to, rows, own.lists, own.layout,
                       (range.first + k) * list_block::vertices, at + before[k]);
  });
}

unsigned grid_for(std::int64_t num_blocks) { return grid_blocks(num_blocks * warp_size, block_threads); }

/// The batches of one call.
class encoder {
 public:
  encoder(row_source& source, std::int64_t num_vertices, graph_form form, gpu_exec const& exec)
      : source_(source),
        num_vertices_(num_vertices),
        num_blocks_(num_vertices / list_block::vertices + 1),
        form_(form),
        exec_(exec)
  {
  }

  compressed_lists run()
  {
    list_totals all;
    for_each_batch(all, [](block_range const&, listed_rows const&, list_totals const&) {});
    auto& memory = memory_of(exec_);
    auto const num_words = static_cast<std::int64_t>(all.bytes / 4) + list_codes::words_beyond;
    buffer<list_block> blocks(num_blocks_, memory);
    buffer<wide_list> wide(all.wide, memory);
    buffer<std::uint32_t> words(num_words, memory);
    TENDRIL_CUDA_TRY(cudaMemsetAsync(words.data(), 0, static_cast<std::size_t>(num_words) * 4, exec_.stream));
    list_totals at;
    for_each_batch(at, [&](block_range const& range, listed_rows const& rows, list_totals const& before) {
      write_kernel<<<grid_for(range.size()), block_threads, 0, exec_.stream>>>(
          range, form_, rows, totals_.data(), before, {blocks.data(), wide.data()}, words.data());
      TENDRIL_CUDA_TRY(cudaGetLastError());
    });
    compressed_lists out;
    out.num_vertices = num_vertices_;
    out.num_edges = all.edges;
    out.form = form_;
    out.blocks = std::move(blocks);
    out.wide = std::move(wide);
    out.words = std::move(words);
    return out;
  }

 private:
  /// f(blocks, rows, what is before them) for each batch, when totals_ has what each block's predecessors in the batch
  /// take. Adds what all take to `at`.
  template <class F>
  void for_each_batch(list_totals& at, F f)
  {
    std::int64_t begin = 0;
    for (std::int64_t const end : source_.batch_ends()) {
      bool const last = end == num_vertices_;
      // The last block has the vertex behind the last one, even if it has no other.
      block_range const range{begin / list_block::vertices, last ? num_blocks_ : end / list_block::vertices,
                              num_vertices_};
      listed_rows const rows = source_.load(begin, end, at.edges);
      list_totals const taken = measure(range, rows);
      f(range, rows, at);
      at = at + taken;
      at.edges += source_.num_loaded();
      begin = end;
    }
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec_.stream));
  }

  /// What the blocks of a batch take; then totals_ has the sums before each.
  list_totals measure(block_range const& range, listed_rows const& rows)
  {
    if (totals_.size() < range.size() + 1) { totals_ = buffer<list_totals>(range.size() + 1, memory_of(exec_)); }
    measure_kernel<<<grid_for(range.size()), block_threads, 0, exec_.stream>>>(range, form_, rows, totals_.data());
    TENDRIL_CUDA_TRY(cudaGetLastError());
    TENDRIL_CUDA_TRY(
        cudaMemsetAsync(totals_.data() + range.size(), 0, sizeof(list_totals), exec_.stream));  // the sum of all
    run_with_scratch(exec_, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveScan(scratch, bytes, totals_.data(), totals_.data(), add_totals{}, list_totals{},
                                            range.size() + 1, exec_.stream);
    });
    return value_at(totals_.data() + range.size(), exec_);
  }

  row_source& source_;
  std::int64_t num_vertices_, num_blocks_;
  graph_form form_;
  gpu_exec exec_;
  buffer<list_totals> totals_;
};

}  // namespace

compressed_lists encode_lists(row_source& source, std::int64_t num_vertices, graph_form form, gpu_exec const& exec)
{
  return encoder(source, num_vertices, form, exec).run();
}

}  // namespace tendril::gpu
