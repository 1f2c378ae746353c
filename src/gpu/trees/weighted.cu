// Weighted picks of k-hop trees with replacement: by alias table a gather of 16 bytes a pick, or, where positions are
// asked for, one more; by prefix sums a search. Pick j of a parent draws block j. The rules: src/core/alias.hpp,
// src/core/its.hpp. CPU twin: src/cpu/picks/neighbor_picks.hpp.

#include "gpu/trees/pairs.cuh"

namespace tendril::gpu {
namespace {

__device__ __forceinline__ core::random_block block_of(khop_part const& part, khop_place const& place,
                                                       std::uint32_t slot)
{
  return core::draw_block(part.key, place.root, place.slot, slot);
}

struct record_chooser {
  plan::alias_record const* records;

  __device__ vertex_id one(khop_part const& part, vertex_row const& row, khop_place const& place,
                           std::uint32_t slot) const
  {
    core::random_block const block = block_of(part, place, slot);
    plan::alias_record const record = records[row.first + core::bounded(block.low(), row.degree)];
    return block.high() < record.threshold ? record.here : record.there;
  }
  __device__ pick_pair operator()(khop_part const& part, vertex_row const& row, khop_place const& place,
                                  std::uint32_t slot, bool has_second) const
  {
    pick_pair out;
    out.first_vertex = one(part, row, place, slot);
    if (has_second) { out.second_vertex = one(part, row, place, slot + 1); }
    return out;
  }
};

/// Picks of `Pick`, which gives positions, and their vertices.
template <class Pick>
struct position_chooser {
  Pick pick;

  __device__ pick_pair operator()(khop_part const& part, vertex_row const& row, khop_place const& place,
                                  std::uint32_t slot, bool has_second) const
  {
    pick_pair out;
    out.first = pick(row, block_of(part, place, slot));
    if (has_second) { out.second = pick(row, block_of(part, place, slot + 1)); }
    find_vertices(part, row.first, out);
    return out;
  }
};

struct bucket_pick {
  core::alias_bucket const* buckets;

  __device__ std::uint32_t operator()(vertex_row const& row, core::random_block const& block) const
  {
    std::uint32_t const item = core::bounded(block.low(), row.degree);
    return core::alias_choose(buckets[row.first + item], item, block.high());
  }
};

struct its_position {
  std::uint64_t const* prefix_sums;

  __device__ std::uint32_t operator()(vertex_row const& row, core::random_block const& block) const
  {
    return core::its_pick(prefix_sums + row.first, row.degree, block.low());
  }
};

}  // namespace

void alias_hop(khop_job const& job, plan::alias_record const* records, gpu_exec const& exec)
{
  enqueue_pairs(job, record_chooser{records}, exec);
}

void alias_hop(khop_job const& job, core::alias_bucket const* buckets, gpu_exec const& exec)
{
  enqueue_pairs(job, position_chooser<bucket_pick>{{buckets}}, exec);
}

void its_hop(khop_job const& job, std::uint64_t const* prefix_sums, gpu_exec const& exec)
{
  enqueue_pairs(job, position_chooser<its_position>{{prefix_sums}}, exec);
}

}  // namespace tendril::gpu
