// A race among some edges of a vertex that a mini-batch expands, as src/gpu/picks/race_picks.cuh and src/gpu/picks/block_race.cuh take it.

#pragma once

#include "core/race.hpp"
#include "gpu/batches/pick.cuh"

namespace tendril::gpu {

/// Some edges of a vertex that has any.
template <class View>
struct vertex_race {
  expansion_on<View> const& what;
  expanded_vertex<View> const& vertex;
  std::uint32_t first, last;
  float const* own_weights = vertex.row.weights();

  [[nodiscard]] __device__ std::uint32_t begin() const { return first; }
  [[nodiscard]] __device__ std::uint32_t end() const { return last; }
  [[nodiscard]] __device__ float const* weights() const { return own_weights; }
  [[nodiscard]] __device__ core::random_block high_block(std::uint32_t offset) const
  {
    return core::race_high_block(vertex.key, vertex.item, what.step, 0, offset);
  }
  [[nodiscard]] __device__ std::uint64_t entry(std::uint32_t i, std::uint32_t high, float weight) const
  {
    return core::race_entry_of(vertex.key, vertex.item, what.step, 0, i, high, weight);
  }
};

}  // namespace tendril::gpu
