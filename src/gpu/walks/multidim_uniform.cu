// Multi-dimensional random walks whose roots are chosen uniformly: 8 lanes a sample, or 32 where sets are large. The
// rule: src/core/multidim.hpp. CPU twin: src/cpu/walks/multidim.cpp.
//
// With a uniform choice the roots of all steps follow from random numbers alone, and the walks of different roots have
// nothing to do with each other: a set of 100 roots is 100 chains of a step or so. Each lane takes one of the next 8
// steps, draws, and waits only for those before it, of these 8, that leave from the same root. So a turn takes as many
// rounds of two gathers (the row of the root, the neighbour) as the root chosen most often has steps. With 100 roots a
// sample's 8 steps go in one round with probability 0.75, and the four samples of a warp take 1.7 rounds on average; a
// single root makes it 8. With 32 lanes a sample, 100 roots would take 2.4 rounds, and 100 steps four turns of 32.
//
// Throughput. A step costs two gathers of one sector each, as a step of any uniform walk does. Everything else moves in
// runs: roots are read, and copied to the rows, line by line, and 8 steps of a sample leave as one sector of vertices
// (turns begin where sectors do) and one or two of slots. A thread a sample wrote each vertex and each slot apart, and
// read roots 4 bytes a sector: more sectors a step than the two gathers.
//
// Latency. Sets of roots lie in shared memory, one for 8 lanes, so that it hardly bounds how many lanes there are: 100
// roots take 400 bytes / 8 = 50 a lane, 2,048 lanes 100 KB of 228, and the rest is left to the first-level cache. What
// bounds them is registers: 32 a lane for 2,048 lanes, which the kernel is compiled for. Of these, 32 / 1.7 a warp
// wait for memory at any time: 1,200 a multiprocessor, 159,000 in all. At 1 us a gather that is 159 G gathers a second,
// more than the 95 G that the ceiling "row, then neighbour" of bench/walks makes where rows and part of the neighbours
// are in the second-level cache.

#include <algorithm>

#include "core/multidim.hpp"
#include "gpu/walks/multidim_roots.cuh"
#include "gpu/walks/places.cuh"

namespace tendril::gpu {
namespace {

constexpr int block_threads = 256;
#if defined(__CUDA_ARCH__) && ((__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1200)
constexpr int least_blocks = 6;  // a multiprocessor holds 1,536 threads, and ptxas ignores a larger bound
#else
constexpr int least_blocks = 8;
#endif
constexpr int many_lanes = 8;                 // a sample, as long as shared memory has room for a set for each 8 lanes:
constexpr std::uint32_t most_for_many = 256;  // of so many roots; beyond, 32 lanes share one
constexpr std::int64_t least_blocks_shared = 2;  // that shared memory must have room for, else sets lie elsewhere
constexpr std::int64_t reserved_bytes = 1024;    // of a block's shared memory

/// The lanes of one sample. All members: the whole warp, converged.
template <int lanes, class Rows, class Targets>
class sample_lanes {
 public:
  /// @param set  The sample's roots: [num_roots].
  /// @param length  Its steps; 0 if there is no such sample.
  __device__ sample_lanes(multidim_job const& job, Rows const& rows, Targets const& targets, vertex_id* set,
                          std::int64_t index, std::uint32_t length)
      : job_(job),
        rows_(rows),
        targets_(targets),
        set_(set),
        index_(index),
        reached_(job.vertices + index * (job.num_roots + std::int64_t{job.length}) + job.num_roots),
        length_(length)
  {
  }

  /// Walks to the end of the longest sample of the warp.
  __device__ void walk()
  {
    // Lanes whose first step would lie before the sample's are idle then: a step "below zero" is above any length.
    auto const ahead =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(reached_) / sizeof(vertex_id)) % lanes;
    std::uint32_t const turns = (job_.length + 2 * (lanes - 1)) / lanes;
    taken_ = length_;
    step_ = place() - ahead;
    for (std::uint32_t turn = 0; turn < turns; ++turn, step_ += lanes) {
      std::uint32_t slot = 0;
      vertex_id const v = take_steps(slot);
      if (step_ < length_) {
        bool const is_step = step_ < taken_;
        __stcs(reached_ + step_, is_step ? v : no_vertex);
        __stcs(job_.slots + index_ * job_.length + step_, is_step ? static_cast<std::int32_t>(slot) : -1);
      }
    }
    if (length_ != 0 && place() == 0) { job_.lengths[index_] = static_cast<std::int32_t>(taken_); }
  }

 private:
  /// The lane among those of its sample.
  [[nodiscard]] static __device__ std::uint32_t place() { return static_cast<std::uint32_t>(lane_id()) % lanes; }

  /// Those lanes, as bits.
  [[nodiscard]] static __device__ unsigned fellows()
  {
    return (full_warp >> (warp_size - lanes)) << (static_cast<unsigned>(lane_id()) / lanes * lanes);
  }

  /// One turn: each lane takes step `step_` of its sample, unless that lies beyond its end. @return the vertex reached.
  __device__ vertex_id take_steps(std::uint32_t& slot)
  {
    vertex_id v = no_vertex;
    unsigned waiting = __ballot_sync(full_warp, step_ < taken_);
    if (waiting == 0) { return v; }
    auto const draws = core::walk_draws(job_.keys, job_.first_walk + static_cast<std::uint64_t>(index_),
                                        static_cast<std::int32_t>(step_));
    core::random_block const bits = draws.block(0);
    slot = core::multidim_slot(bits.low(), job_.num_roots);
    // Slots have 16 bits. Lanes of one sample are in the order of its steps.
    unsigned const same = __match_any_sync(full_warp, slot | (static_cast<unsigned>(lane_id()) / lanes << 16U));
    unsigned const before = same & ((1U << lane_id()) - 1U);
    while (waiting != 0) {
      bool const goes = (waiting >> lane_id() & 1U) != 0 && (before & waiting) == 0;
      bool ends = false;
      if (goes) {
        auto const place = rows_(set_[slot]);
        ends = place.degree == 0;
        if (!ends) {
          v = targets_.row(place).neighbor(core::bounded(bits.high(), place.degree), gather_load{});
          set_[slot] = v;
        }
      }
      waiting &= ~__ballot_sync(full_warp, goes);
      unsigned const ending = __ballot_sync(full_warp, ends);
      if (ending != 0) { waiting = end_early(ending, waiting); }
      __syncwarp();  // the sets as they are now are what the next round, or turn, sees
    }
    return v;
  }

  /// Lanes in `ending` found that their step can't be taken: a sample ends before its first such step. Steps after it
  /// that were taken already leave no trace, since rows show `taken_` steps and the set is not read again.
  /// @return those of `waiting` that are still to be taken.
  __device__ unsigned end_early(unsigned ending, unsigned waiting)
  {
    unsigned const mine = ending & fellows();
    if (mine != 0) {
      auto const first = static_cast<std::uint32_t>(__ffs(static_cast<int>(mine)) - 1) % lanes;
      taken_ = min(taken_, step_ - place() + first);
    }
    return __ballot_sync(full_warp, (waiting >> lane_id() & 1U) != 0 && step_ < taken_);
  }

  multidim_job const& job_;
  Rows const& rows_;
  Targets const& targets_;
  vertex_id* const set_;
  std::int64_t const index_;
  vertex_id* const reached_;  // the row behind its roots
  std::uint32_t const length_;
  std::uint32_t taken_ = 0;  // steps of the sample: fewer than `length_` once an end is known
  std::uint32_t step_ = 0;   // the lane's
};

template <int lanes, bool in_shared, class Rows, class Targets>
__global__ __launch_bounds__(block_threads, least_blocks) void uniform_kernel(__grid_constant__ multidim_job const job,
                                                                              __grid_constant__ Rows const rows,
                                                                              __grid_constant__ Targets const targets,
                                                                              vertex_id* scratch)
{
  constexpr std::uint32_t warp_samples = warp_size / lanes;
  extern __shared__ vertex_id shared[];
  std::int64_t const set_size = std::int64_t{warp_samples} * job.num_roots;  // a warp's
  vertex_id* const sets =
      in_shared ? shared + threadIdx.x / warp_size * set_size : scratch + global_thread() / warp_size * set_size;
  std::uint32_t const own = static_cast<std::uint32_t>(lane_id()) / lanes;
  for (std::int64_t first = global_thread() / warp_size * warp_samples; first < job.num_walks;
       first += grid_stride() / warp_size * warp_samples) {
    auto const count = static_cast<std::uint32_t>(min(static_cast<std::int64_t>(warp_samples), job.num_walks - first));
    bool const valid = take_roots(job, first, count, [&](std::uint32_t k, vertex_id v) { sets[k] = v; });
    __syncwarp();
    if (valid) {
      sample_lanes<lanes, Rows, Targets>(job, rows, targets, sets + own * job.num_roots, first + own,
                                         own < count ? job.length : 0)
          .walk();
    }
    __syncwarp();  // the sets of the next samples take the place of these
  }
}

/// Calls f(rows, targets) with what leads from a vertex to its edges, and what reads these.
template <class F>
void with_rows(multidim_job const& job, F f)
{
  job.graph.visit([&]<class View>(View const& view) {
    auto const targets = view.targets();
    edge_offsets const first_edges = view.edges().first_edges;
    if constexpr (!View::targets_by_number) {
      f(own_rows<decltype(view.targets())>{targets, first_edges}, targets);
    } else if (job.rows != nullptr) {
      f(compact_rows{job.rows}, targets);
    } else {
      f(wide_rows{first_edges}, targets);
    }
  });
}

/// How many lanes a sample has.
int lanes_of(multidim_job const& job) { return job.num_roots <= most_for_many ? many_lanes : warp_size; }

/// Bytes of a block's sets.
std::int64_t set_bytes(multidim_job const& job)
{
  return std::int64_t{job.num_roots} * static_cast<std::int64_t>(sizeof(vertex_id)) * (block_threads / lanes_of(job));
}

/// Calls f(kernel, rows, targets) with the kernel of this job.
template <class F>
void with_kernel(multidim_job const& job, bool in_shared, F f)
{
  with_rows(job, [&]<class Rows, class Targets>(Rows const& rows, Targets const& targets) {
    if (lanes_of(job) == many_lanes) {
      f(uniform_kernel<many_lanes, true, Rows, Targets>, rows, targets);
    } else if (in_shared) {
      f(uniform_kernel<warp_size, true, Rows, Targets>, rows, targets);
    } else {
      f(uniform_kernel<warp_size, false, Rows, Targets>, rows, targets);
    }
  });
}

}  // namespace

multidim_shape uniform_shape(multidim_job const& job, int device)
{
  int most_shared = 0;  // a multiprocessor
  TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  bool const in_shared = set_bytes(job) * least_blocks_shared <= most_shared - reserved_bytes * least_blocks_shared;
  std::int64_t const warps_needed = (job.num_walks * lanes_of(job) + warp_size - 1) / warp_size;
  multidim_shape shape{grid_blocks(warps_needed * warp_size, block_threads), block_threads, 0, 0};
  with_kernel(job, in_shared, [&](auto* kernel, auto const&, auto const&) {
    if (in_shared) {
      shape.shared_bytes = static_cast<std::size_t>(set_bytes(job));
      TENDRIL_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(shape.shared_bytes)));
    } else {
      std::int64_t const most = std::clamp<std::int64_t>(most_scratch_bytes / set_bytes(job), 1,
                                                         resident_blocks(kernel, block_threads, 0, device));
      shape.blocks = static_cast<unsigned>(std::min<std::int64_t>(shape.blocks, most));
      shape.scratch_bytes = shape.blocks * set_bytes(job);
    }
  });
  return shape;
}

void enqueue_uniform(multidim_job const& job, multidim_shape const& shape, void* scratch, cuda_stream stream)
{
  with_kernel(job, shape.shared_bytes != 0, [&](auto* kernel, auto const& rows, auto const& targets) {
    kernel<<<shape.blocks, shape.threads, shape.shared_bytes, stream>>>(job, rows, targets,
                                                                        static_cast<vertex_id*>(scratch));
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace tendril::gpu
