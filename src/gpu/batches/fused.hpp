// What the fused executor of mini-batches is given: one batch, all hops and all numbering in one launch, whose blocks meet
// at barriers. Pointers are device memory but where it says otherwise; nothing synchronises. CPU twin:
// src/cpu/batches/minibatch.cpp.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tendril/exec.hpp>

#include "gpu/batches/expand.hpp"
#include "gpu/batches/numbering.hpp"
#include "samplers/batches/checks.hpp"  // edge_choice

namespace tendril::gpu {

// All of a batch's jobs are arguments of one kernel.
inline constexpr std::size_t most_fused_launches = 10;  ///< Hops times edge types.
inline constexpr std::size_t most_fused_types = 4;      ///< Of vertices.
inline constexpr std::int64_t most_fused_fanout = 64;

/// The words of a call_block that tell what a call is, for so many types.
inline constexpr std::size_t most_fused_words =
    (sizeof(batch_call) + most_fused_types * sizeof(vertex_call) + most_fused_launches * sizeof(edge_call)) / 8;

/// What is kept from launch to launch.
struct fused_state {
  unsigned int barrier = 0;             ///< grid_barrier's.
  unsigned long long bad_seed = ~0ULL;  ///< As begin_job::bad_seed; the launch sets it back when it has reported.
};

/// One hop through one edge type.
struct fused_hop {
  expansion picks;
  number_job number;  ///< number.at is null: no picks are made.
  samplers::edge_choice choice = samplers::edge_choice::uniform;
  // Of weighted choices, one of both.
  core::alias_bucket const* buckets = nullptr;
  summed_tables sums;
};

/// A batch. Elements of arrays beyond the number are not used.
struct fused_batch {
  begin_job begin;
  std::array<number_job, most_fused_types> seeds;
  std::size_t num_seeds = 0;  ///< Vertex types that have seeds.
  std::array<fused_hop, most_fused_launches> hops;
  std::size_t num_hops = 0;  ///< 1 or more.
  bool replace = false;

  std::array<unsigned long long, most_fused_words> call;  ///< The words that begin.view refers to,
  std::size_t num_words = 0;
  unsigned long long* call_there = nullptr;  ///< and where they belong.

  // Behind the last hop: `report` words, which follow the least bad seed and an unused word. In pinned host memory.
  unsigned long long const* reported = nullptr;
  std::int64_t report_words = 0;
  unsigned long long* report = nullptr;

  fused_state* state = nullptr;
};

/// Makes a batch. @param form  Of all graphs that have edges.
void run_fused(fused_batch const& batch, graph_form form, gpu_exec const& exec);

}  // namespace tendril::gpu
