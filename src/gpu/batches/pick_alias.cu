// Weighted picks of mini-batches with replacement: a gather of 16 bytes a pick. Pick j draws block j. The rule:
// src/core/alias.hpp. CPU twin: src/cpu/picks/neighbor_picks.hpp.

#include "gpu/batches/pick.cuh"

namespace tendril::gpu {
namespace {

struct alias_choice {
  core::alias_bucket const* buckets;

  template <class View>
  __device__ std::uint32_t one(expansion_part<View> const& part, expanded_vertex<View> const& vertex,
                               std::uint32_t slot) const
  {
    core::random_block const block = core::draw_block(vertex.key, vertex.item, part.what.step, slot);
    std::uint32_t const item = core::bounded(block.low(), vertex.degree);
    return core::alias_choose(buckets[vertex.first + item], item, block.high());
  }
  template <class View>
  __device__ slot_pair operator()(expansion_part<View> const& part, expanded_vertex<View> const& vertex,
                                  std::uint32_t slot) const
  {
    slot_pair out;
    out.first = one(part, vertex, slot);
    if (slot + 1 < part.what.fanout) { out.second = one(part, vertex, slot + 1); }
    return out;
  }
};

}  // namespace

void pick_alias(expansion const& what, core::alias_bucket const* buckets, gpu_exec const& exec)
{
  expand_pairs(what, alias_choice{buckets}, exec);
}

}  // namespace tendril::gpu
