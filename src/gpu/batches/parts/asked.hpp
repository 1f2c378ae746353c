// What ranks ask each other about the vertices of mini-batches, and how picks come to the batches that asked. Each function enqueues
// one launch; pointers are device memory.

#pragma once

#include <cstdint>

#include <tendril/batch_numbers.hpp>
#include <tendril/exec.hpp>

#include "gpu/batches/expand.hpp"
#include "gpu/ranks/slots.hpp"

namespace tendril::gpu {

/// The batches of a rank in one round.
struct asking_batches {
  std::int64_t num_batches = 0;
  std::int64_t batch_size = 1;
  batch_numbers numbers;
};

/// The groups that a rank's vertices are expanded for, in its own order: [num_batches], or disjoint
/// [num_batches * batch_size].
/// @param seed, dependency  As of batch_call.
void make_asked_groups(std::uint64_t seed, std::uint64_t dependency, asking_batches const& of, bool disjoint,
                       batch_group* groups, cuda_stream stream);

/// Parts the slots of a frontier into what other ranks are told: rows, and the groups that they are expanded for.
/// @param group_of  Of the frontier, by slot. @param first_group  Of this rank, among those of all ranks.
void split_slots(asked_slot const* slots, std::int64_t size, std::uint32_t const* group_of, std::uint32_t first_group,
                 vertex_id* rows, std::uint32_t* groups, cuda_stream stream);

/// Picks that a rank has made for some slots, in the order of `slots`.
struct made_picks {
  asked_slot const* slots = nullptr;     ///< [size]
  edge_id const* edges = nullptr;        ///< [size * fanout] of the rank's part; -1: none.
  vertex_id const* neighbors = nullptr;  ///< [size * fanout] Of the whole graph.
  std::int64_t size = 0;
  edge_id first_edge = 0;  ///< Number of the part's first edge in the whole graph.
};

/// Puts picks where those of an expansion on one GPU would be: edges into to.picked, neighbours into the table of its sink.
void put_picks(made_picks const& picks, expansion_slots const& to, gpu_exec const& exec);

/// Of counted picks: where those of each slot begin.
struct counted_picks {
  std::int64_t const* offsets = nullptr;  ///< [size + 1], in the order of `slots`, as made_picks have them.
  std::int64_t first = 0, end = 0;        ///< offsets[0], offsets[size]
  std::int64_t const* places = nullptr;   ///< [vertices + 1] of an expansion's list: where the picks of each belong.
};

/// The same. @param picks  Its arrays begin with pick number counted.first.
void put_counted(made_picks const& picks, counted_picks const& counted, expansion_slots const& to,
                 gpu_exec const& exec);

}  // namespace tendril::gpu
