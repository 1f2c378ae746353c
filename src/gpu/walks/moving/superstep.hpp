// Walkers that move between GPUs: what one step of all of them reads and writes. A rank is a GPU, or in tests one of several
// places on a GPU. Each rank owns a range of edges, and walkers go to the rank that owns the edges of their vertex; so a step
// reads its own memory, and what crosses the link is walkers, in runs. (KnightKing, SOSP'19, moves walkers between hosts.)
//
// Walks of a batch have homes: rank r gets the rows of walks [r walks_each, (r + 1) walks_each). A walker that steps on another
// rank, and doesn't go home, sends its home the new vertex.

#pragma once

#include <cstdint>

#include <tendril/gpu_set.hpp>
#include <tendril/types.hpp>

#include "gpu/ranks/inbox.hpp"

namespace tendril::gpu {

/// A walker on its way.
struct alignas(16) moved_walker {
  std::uint32_t walk;     ///< In the batch.
  vertex_id vertex;       ///< Where it stands.
  std::uint64_t carried;  ///< What its rule knows of that (steps.cuh: carry, resume).
};

/// A vertex of a row on its way home.
struct alignas(8) moved_vertex {
  std::uint32_t walk;
  vertex_id vertex;
};

/// One step of all walkers that stand on one rank; or, of a batch that begins, their way to the ranks of their starts.
struct superstep {
  int rank, num_ranks;
  bool begins;
  bool may_end;                              ///< Whether core::walk_ends can end or restart a walk.
  std::int32_t step;                         ///< Steps taken by the walkers.
  std::uint32_t walks_each;                  ///< Walks of a home; the last homes may have fewer.
  std::uint32_t first_walk;                  ///< Of this home.
  float ranks_an_edge;                       ///< num_ranks / num_edges.
  inbox<moved_walker const> arrived;         ///< Walkers that stand here.
  inbox<moved_vertex const> told;            ///< Position `step` of rows of this home.
  unsigned* idle_sizes[2];                   ///< Of inboxes that nobody uses during this step: they become 0.
  inbox<moved_walker> walkers[most_ranks];   ///< Of the next step, on each rank.
  inbox<moved_vertex> vertices[most_ranks];  ///< Position step + 1 of rows, at each home.
  vertex_id const* starts[most_ranks];       ///< [walks_each] of each home.
  vertex_id* columns;                        ///< [length + 1, walks_each]: rows of this home, by steps.

  /// The rank that has an edge. By rounded numbers: where a walker steps changes no walk.
  [[nodiscard]] TENDRIL_HD int owner_of(edge_id edge) const
  {
    int const owner = static_cast<int>(static_cast<float>(edge) * ranks_an_edge);
    return owner < num_ranks ? owner : num_ranks - 1;
  }
};

}  // namespace tendril::gpu
