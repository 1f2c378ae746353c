// Weighted picks of k-hop trees with replacement: by alias table a gather of 16 bytes a pick, or, where positions are
// asked for, one more; by prefix sums a search. Pick j of a parent draws block j. The rules: src/core/alias.hpp,
// src/core/its.hpp. CPU twin: src/cpu/picks/neighbor_picks.hpp.

#include "gpu/trees/pairs.cuh"

namespace tendril::gpu {
namespace {

template <class View>
__device__ __forceinline__ core::random_block block_of(khop_part<View> const& part, khop_place const& place,
                                                       std::uint32_t slot)
{
  return core::draw_block(part.key, place.root, place.slot, slot);
}

struct record_chooser {
  plan::alias_record const* records;

  template <class View>
  __device__ pick_pair operator()(khop_part<View> const& part, typename View::row_type const& row,
                                  khop_place const& place, std::uint32_t slot, bool has_second) const
  {
    plan::alias_record const* const own = records + row.first_edge();
    auto const one = [&](std::uint32_t j) {
      core::random_block const block = block_of(part, place, j);
      plan::alias_record const record = own[core::bounded(block.low(), row.degree())];
      return block.high() < record.threshold ? record.here : record.there;
    };
    pick_pair out;
    out.first_vertex = one(slot);
    if (has_second) { out.second_vertex = one(slot + 1); }
    return out;
  }
};

/// Picks of `Pick`, which gives positions in a row from the number of its first edge, and their vertices.
template <class Pick>
struct position_chooser {
  Pick pick;

  template <class View>
  __device__ pick_pair operator()(khop_part<View> const& part, typename View::row_type const& row,
                                  khop_place const& place, std::uint32_t slot, bool has_second) const
  {
    edge_id const first = row.first_edge();
    pick_pair out;
    out.first = pick(first, row.degree(), block_of(part, place, slot));
    if (has_second) { out.second = pick(first, row.degree(), block_of(part, place, slot + 1)); }
    find_vertices(row, out);
    return out;
  }
};

struct bucket_pick {
  core::alias_bucket const* buckets;

  __device__ std::uint32_t operator()(edge_id first, std::uint32_t degree, core::random_block const& block) const
  {
    std::uint32_t const item = core::bounded(block.low(), degree);
    return core::alias_choose(buckets[first + item], item, block.high());
  }
};

struct its_position {
  std::uint64_t const* prefix_sums;

  __device__ std::uint32_t operator()(edge_id first, std::uint32_t degree, core::random_block const& block) const
  {
    return core::its_pick(prefix_sums + first, degree, block.low());
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
