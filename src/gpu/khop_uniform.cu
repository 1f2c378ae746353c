// Uniform picks of k-hop trees. Pick j of a parent draws half j mod 2 of block j / 2. The rule: src/core/floyd.hpp. CPU
// twin: src/cpu/neighbor_picks.hpp.
//
// With replacement a thread makes two picks. Without, all candidates are drawn at once, and equal ones are told apart
// afterwards: slot j is taken if an earlier slot has its candidate, or by way of core::floyd_link. For fan-outs up to
// 64 lanes of a warp, two picks each, compare theirs by shuffles: ceil(k / 2) lanes a parent, 6 parents a warp for k =
// 10. For larger ones a block keeps the candidates in a hash table, each with the least slot that has it.

#include <bit>

#include "core/floyd.hpp"
#include "gpu/khop_pairs.cuh"

namespace tendril::gpu {
namespace {

constexpr std::uint32_t most_lane_picks = 2 * warp_size;
constexpr int table_threads = 128;
constexpr std::size_t most_shared_bytes = 64 << 10;  // a table for 4,096 picks
constexpr std::int64_t most_scratch_bytes = std::int64_t{2} << 30;

struct uniform_chooser {
  __device__ pick_pair operator()(khop_part const& part, vertex_row const& row, khop_place const& place,
                                  std::uint32_t slot, bool has_second) const
  {
    core::random_block const block = core::draw_block(part.key, place.root, place.slot, slot / 2);
    pick_pair out;
    out.first = core::bounded(block.low(), row.degree);
    if (has_second) { out.second = core::bounded(block.high(), row.degree); }
    find_vertices(part, row.first, out);
    return out;
  }
};

/// Two candidates of a parent, before they are compared with others.
struct candidates {
  std::uint32_t first, second;
};

/// Of the slots 2 * pair and 2 * pair + 1 of k. Any thread.
__device__ __forceinline__ candidates draw_candidates(khop_part const& part, khop_place const& place,
                                                      std::uint32_t pair, std::uint32_t degree)
{
  std::uint32_t const k = part.fanout;
  std::uint32_t const j = 2 * pair;
  core::random_block const block = core::draw_block(part.key, place.root, place.slot, pair);
  candidates out;
  out.first = core::floyd_slot::of(block.low(), j, k, degree).candidate;
  out.second = j + 1 < k ? core::floyd_slot::of(block.high(), j + 1, k, degree).candidate : core::no_pick;
  return out;
}

/// Every edge of a vertex with no more than the fan-out, in order. Any thread.
__device__ __forceinline__ pick_pair pick_in_order(std::uint32_t slot, std::uint32_t degree)
{
  pick_pair out;
  if (slot < degree) { out.first = slot; }
  if (slot + 1 < degree) { out.second = slot + 1; }
  return out;
}

/// Fan-outs of at most 64. Lane l of a parent's has the slots 2 l and 2 l + 1; lanes of a warp that no parent is left
/// for idle. Any grid of whole warps that covers all parents.
__global__ __launch_bounds__(pair_threads) void floyd_lanes_kernel(khop_part const __grid_constant__ part)
{
  std::uint32_t const k = part.fanout;
  std::uint32_t const width = part.by_pairs.divisor();
  auto const lane = static_cast<std::uint32_t>(lane_id());
  std::uint32_t const group = part.by_pairs.quotient(lane);
  std::uint32_t const first_lane = group * width;
  std::uint32_t const pair = lane - first_lane;
  std::uint32_t const groups = part.by_pairs.quotient(warp_size);
  std::uint32_t const parent = (blockIdx.x * blockDim.x + threadIdx.x) / warp_size * groups + group;
  bool const exists = group < groups && parent < part.num_parents;
  vertex_row row;
  if (exists) { row = row_of_parent(part, parent); }
  std::uint32_t const slot = 2 * pair;
  bool const drawn = row.degree > k;
  pick_pair picks = pick_in_order(slot, row.degree);
  if (__any_sync(full_warp, drawn)) {
    candidates own{0, 0};
    if (drawn) { own = draw_candidates(part, place_of(part, parent), pair, row.degree); }
    bool first_taken = false;
    bool second_taken = own.first == own.second;
    for (std::uint32_t back = 1; back < width; ++back) {  // what comes from another parent's lanes doesn't count
      std::uint32_t const a = __shfl_up_sync(full_warp, own.first, back);
      std::uint32_t const b = __shfl_up_sync(full_warp, own.second, back);
      bool const earlier = pair >= back;
      first_taken |= earlier && (a == own.first || b == own.first);
      second_taken |= earlier && (a == own.second || b == own.second);
    }
    std::uint32_t const first_link = core::floyd_link(own.first, slot, k, row.degree);
    std::uint32_t const second_link = core::floyd_link(own.second, slot + 1, k, row.degree);
    bool const first_open = drawn && !first_taken && first_link != core::no_floyd_link;
    bool const second_open = drawn && !second_taken && second_link != core::no_floyd_link;
    if (__any_sync(full_warp, first_open || second_open)) {
      bool changed = true;
      while (__any_sync(full_warp, changed)) {
        unsigned const firsts = __ballot_sync(full_warp, first_taken) >> first_lane;
        unsigned const seconds = __ballot_sync(full_warp, second_taken) >> first_lane;
        auto const is_taken = [&](std::uint32_t j) { return ((j % 2 == 0 ? firsts : seconds) >> (j / 2) & 1U) != 0; };
        bool const now_first = first_open && !first_taken && is_taken(first_link);
        bool const now_second = second_open && !second_taken && is_taken(second_link);
        first_taken |= now_first;
        second_taken |= now_second;
        changed = now_first || now_second;
      }
    }
    if (drawn) {
      picks.first = first_taken ? row.degree - k + slot : own.first;
      picks.second = second_taken ? row.degree - k + slot + 1 : own.second;
    }
  }
  if (!exists) { return; }
  if (slot + 1 >= k) { picks.second = core::no_pick; }
  find_vertices(part, row.first, picks);
  write_pair(part, parent, slot, row.first, picks);
}

/// Candidates, each with the least slot that has it. Empty keys are no_pick, which is no candidate.
struct candidate_table {
  std::uint32_t* keys;   ///< [mask + 1]
  std::uint32_t* slots;  ///< [mask + 1]
  std::uint32_t mask;

  /// All threads of the block; a barrier must follow.
  __device__ void clear() const
  {
    for (std::uint32_t i = threadIdx.x; i <= mask; i += blockDim.x) { keys[i] = slots[i] = core::no_pick; }
  }

  /// Any number of threads at once.
  __device__ void insert(std::uint32_t candidate, std::uint32_t slot) const
  {
    std::uint32_t at = start(candidate);
    while (true) {
      std::uint32_t const held = atomicCAS(keys + at, core::no_pick, candidate);
      if (held == core::no_pick || held == candidate) { break; }
      at = (at + 1) & mask;
    }
    atomicMin(slots + at, slot);
  }

  /// The least slot of a candidate that is there. Any thread, after a barrier.
  [[nodiscard]] __device__ std::uint32_t slot_of(std::uint32_t candidate) const
  {
    std::uint32_t at = start(candidate);
    while (keys[at] != candidate) { at = (at + 1) & mask; }
    return slots[at];
  }

 private:
  [[nodiscard]] __device__ std::uint32_t start(std::uint32_t candidate) const
  {
    return (candidate * 0x9E3779B1U >> 7U) & mask;
  }
};

/// Where tables lie.
struct table_space {
  std::uint32_t num_slots;  ///< A power of two, or 0: nobody has more neighbours than the fan-out.
  std::uint32_t* scratch;   ///< [blocks, 2 * num_slots]; null: shared memory.
};

/// Pick `slot`, given its candidate. Any thread, after a barrier.
__device__ std::uint32_t resolve(khop_part const& part, khop_place const& place, candidate_table const& table,
                                 std::uint32_t degree, std::uint32_t slot, std::uint32_t candidate)
{
  std::uint32_t j = slot;
  std::uint32_t c = candidate;
  while (true) {
    if (table.slot_of(c) < j) { return degree - part.fanout + slot; }
    std::uint32_t const link = core::floyd_link(c, j, part.fanout, degree);
    if (link == core::no_floyd_link) { return candidate; }
    candidates const there = draw_candidates(part, place, link / 2, degree);
    j = link;
    c = link % 2 == 0 ? there.first : there.second;
  }
}

/// Any fan-out; a block a parent, in a loop over the grid.
__global__ __launch_bounds__(table_threads) void floyd_tables_kernel(khop_part const __grid_constant__ part,
                                                                     table_space const space)
{
  extern __shared__ std::uint32_t shared[];
  std::uint32_t* const memory =
      space.scratch == nullptr ? shared : space.scratch + std::size_t{blockIdx.x} * 2 * space.num_slots;
  candidate_table const table{memory, memory + space.num_slots, space.num_slots - 1};
  std::uint32_t const num_pairs = part.by_pairs.divisor();
  for (std::uint32_t parent = blockIdx.x; parent < part.num_parents; parent += gridDim.x) {
    vertex_row const row = row_of_parent(part, parent);
    bool const drawn = row.degree > part.fanout;
    khop_place const place = place_of(part, parent);
    if (drawn) {
      table.clear();
      __syncthreads();
      for (std::uint32_t pair = threadIdx.x; pair < num_pairs; pair += blockDim.x) {
        candidates const own = draw_candidates(part, place, pair, row.degree);
        table.insert(own.first, 2 * pair);
        if (own.second != core::no_pick) { table.insert(own.second, 2 * pair + 1); }
      }
      __syncthreads();
    }
    for (std::uint32_t pair = threadIdx.x; pair < num_pairs; pair += blockDim.x) {
      std::uint32_t const slot = 2 * pair;
      pick_pair picks = pick_in_order(slot, row.degree);
      if (drawn) {
        candidates const own = draw_candidates(part, place, pair, row.degree);
        picks.first = resolve(part, place, table, row.degree, slot, own.first);
        picks.second = core::no_pick;
        if (own.second != core::no_pick) {
          picks.second = resolve(part, place, table, row.degree, slot + 1, own.second);
        }
      } else if (slot + 1 >= part.fanout) {
        picks.second = core::no_pick;
      }
      find_vertices(part, row.first, picks);
      write_pair(part, parent, slot, row.first, picks);
    }
    __syncthreads();  // the table is read before it is cleared
  }
}

void enqueue_lanes(khop_job const& job, gpu_exec const& exec)
{
  std::int64_t const groups = warp_size / (job.fanout / 2 + job.fanout % 2);
  for_each_part(job, warp_size / groups + 1, [&](khop_part const& part) {
    std::int64_t const warps = (part.num_parents + groups - 1) / groups;
    unsigned const blocks = grid_blocks(warps * warp_size, pair_threads, 1 << 23);
    floyd_lanes_kernel<<<blocks, pair_threads, 0, exec.stream>>>(part);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

void enqueue_tables(khop_job const& job, gpu_exec const& exec)
{
  bool const any_drawn = job.most_picks >= job.fanout;
  std::uint32_t const num_slots = any_drawn ? std::bit_ceil(2 * std::min(job.fanout, 0x40000000U)) : 0;
  std::int64_t const bytes = 2 * std::int64_t{num_slots} * 4;
  bool const in_shared = bytes <= static_cast<std::int64_t>(most_shared_bytes);
  std::size_t const shared_bytes = in_shared ? static_cast<std::size_t>(bytes) : 0;
  if (in_shared) {
    TENDRIL_CUDA_TRY(cudaFuncSetAttribute(floyd_tables_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(most_shared_bytes)));
  }
  std::int64_t most = resident_blocks(floyd_tables_kernel, table_threads, shared_bytes, exec.device);
  if (!in_shared) { most = std::clamp<std::int64_t>(most_scratch_bytes / bytes, 1, most); }
  most = std::min(most, job.parents.size);
  buffer<std::uint32_t> scratch(in_shared ? 0 : most * bytes / 4, memory_of(exec));
  table_space const space{num_slots, in_shared ? nullptr : scratch.data()};
  for_each_part(job, 1, [&](khop_part const& part) {
    auto const blocks = static_cast<unsigned>(std::min<std::int64_t>(most, part.num_parents));
    floyd_tables_kernel<<<blocks, table_threads, shared_bytes, exec.stream>>>(part, space);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace

void uniform_hop(khop_job const& job, gpu_exec const& exec)
{
  if (job.replace) {
    enqueue_pairs(job, uniform_chooser{}, exec);
  } else if (job.fanout <= most_lane_picks) {
    enqueue_lanes(job, exec);
  } else {
    enqueue_tables(job, exec);
  }
}

}  // namespace tendril::gpu
