// Multi-dimensional random walks: a thread a sample. Its set of roots lies in shared memory, or, where few samples would
// fit there, in device memory; either way thread t owns column t of a matrix, so that lanes of a warp that look at
// different roots fall into different banks. A root is a vertex id: a step then gathers where its edges are and one of
// them, and, by degree, the degree of the vertex reached. The rule: src/core/multidim.hpp. CPU twin:
// src/cpu/multidim.cpp.

#include <algorithm>

#include "core/multidim.hpp"
#include "gpu/launch.cuh"
#include "gpu/multidim.hpp"

namespace tendril::gpu {
namespace {

constexpr int most_threads = 256;  // a block
constexpr int least_threads = 96;  // that a multiprocessor's shared memory must hold to be preferred
constexpr std::int64_t most_scratch_bytes = std::int64_t{2} << 30U;

/// One column of a matrix: what one thread keeps.
template <class T>
struct column {
  T* first = nullptr;
  std::int64_t stride = 0;

  __device__ T& operator[](std::uint32_t row) const { return first[row * stride]; }
};

/// A thread's roots by name.
struct named_roots {
  edge_id const* indptr = nullptr;
  column<vertex_id> vertices;

  __device__ core::multidim_root at(std::uint32_t slot) const
  {
    return core::multidim_root::of(indptr, vertices[slot]);
  }
  __device__ core::multidim_root put(std::uint32_t slot, vertex_id v) const
  {
    vertices[slot] = v;
    return core::multidim_root::of(indptr, v);
  }
};

/// Writes the roots in front of each row, and finds the first that is no vertex. Any threads.
__global__ __launch_bounds__(most_threads) void copy_roots_kernel(multidim_job const job)
{
  std::int64_t const row = job.num_roots + std::int64_t{job.length};
  std::int64_t const size = job.num_walks * job.num_roots;
  for (std::int64_t k = global_thread(); k < size; k += grid_stride()) {
    vertex_id const v = job.roots[k];
    std::int64_t const i = k / job.num_roots;
    job.vertices[i * row + (k - i * job.num_roots)] = v;
    if (v >= job.graph.num_vertices) { atomicMin(job.bad_root, static_cast<unsigned long long>(k)); }
  }
}

/// The calling thread walks sample `index` with the set of roots in `frontier`'s memory. Any thread.
template <class Frontier>
__device__ void walk_sample(multidim_job const& job, std::int64_t index, Frontier frontier)
{
  vertex_id const* const roots = job.roots + index * job.num_roots;
  bool valid = true;
  for (std::uint32_t slot = 0; slot < job.num_roots; ++slot) {
    vertex_id const v = roots[slot];
    valid = valid && v < job.graph.num_vertices;
    if (valid) { frontier.place(slot, v); }
  }
  if (!valid) { return; }  // copy_roots_kernel has told the host
  frontier.start();
  vertex_id* const reached = job.vertices + index * (job.num_roots + std::int64_t{job.length}) + job.num_roots;
  std::int32_t* const slots = job.slots + index * job.length;
  std::int32_t step = 0;
  for (; step < job.length; ++step) {
    auto const block = core::draw_block(job.key, job.first_walk + static_cast<std::uint64_t>(index),
                                        static_cast<std::uint32_t>(step), 0);
    core::multidim_pick const pick = frontier.choose(block.low(), block.high());
    if (pick.edge < 0) { break; }
    vertex_id const v = job.graph.indices[pick.edge];
    frontier.replace(pick, v);
    reached[step] = v;
    slots[step] = static_cast<std::int32_t>(pick.slot);
  }
  job.lengths[index] = step;
  for (; step < job.length; ++step) {
    reached[step] = no_vertex;
    slots[step] = -1;
  }
}

template <bool by_degree, bool in_shared>
__global__ __launch_bounds__(most_threads) void multidim_kernel(multidim_job const job, multidim_scratch const scratch)
{
  extern __shared__ std::uint64_t shared[];  // sums, if by degree, then roots
  column<std::uint64_t> sums;
  column<vertex_id> roots;
  if constexpr (in_shared) {
    std::uint32_t const threads = blockDim.x;
    auto* const behind_sums = reinterpret_cast<vertex_id*>(shared + (by_degree ? job.num_roots * threads : 0));
    sums = {shared + threadIdx.x, threads};
    roots = {behind_sums + threadIdx.x, threads};
  } else {
    sums = {scratch.sums + global_thread(), grid_stride()};
    roots = {scratch.roots + global_thread(), grid_stride()};
  }
  using frontier = core::multidim_frontier<named_roots, column<std::uint64_t>, by_degree>;
  for (std::int64_t i = global_thread(); i < job.num_walks; i += grid_stride()) {
    walk_sample(job, i, frontier({job.graph.indptr, roots}, sums, job.num_roots));
  }
}

std::int64_t bytes_a_sample(multidim_job const& job)
{
  return job.num_roots * static_cast<std::int64_t>(sizeof(vertex_id) + (job.by_degree ? sizeof(std::uint64_t) : 0));
}

/// Calls f(kernel) with the kernel of this job and shape.
template <class F>
void with_kernel(bool by_degree, bool in_shared, F f)
{
  if (by_degree) {
    f(in_shared ? multidim_kernel<true, true> : multidim_kernel<true, false>);
  } else {
    f(in_shared ? multidim_kernel<false, true> : multidim_kernel<false, false>);
  }
}

}  // namespace

multidim_shape shape_of(multidim_job const& job, int device)
{
  int most_shared = 0;
  TENDRIL_CUDA_TRY(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  std::int64_t const fitting = most_shared / bytes_a_sample(job) / warp_size * warp_size;
  bool const in_shared = fitting >= least_threads;
  multidim_shape shape{1, most_threads, 0, 0};
  if (in_shared) {
    shape.threads = static_cast<int>(std::min<std::int64_t>(fitting, most_threads));
    shape.shared_bytes = static_cast<std::size_t>(bytes_a_sample(job)) * static_cast<std::size_t>(shape.threads);
  } else {
    shape.threads = 2 * warp_size;
  }
  with_kernel(job.by_degree, in_shared, [&](auto* kernel) {
    TENDRIL_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(shape.shared_bytes)));
    std::int64_t most = resident_blocks(kernel, shape.threads, shape.shared_bytes, device);
    if (!in_shared) {
      most = std::clamp<std::int64_t>(most_scratch_bytes / bytes_a_sample(job) / shape.threads, 1, most);
    }
    shape.blocks = grid_blocks(job.num_walks, shape.threads, most);
  });
  if (!in_shared) { shape.scratch_samples = std::int64_t{shape.blocks} * shape.threads; }
  return shape;
}

void enqueue(multidim_job const& job, multidim_shape const& shape, multidim_scratch const& scratch, cuda_stream stream)
{
  unsigned const blocks = grid_blocks(job.num_walks * job.num_roots, most_threads);
  copy_roots_kernel<<<blocks, most_threads, 0, stream>>>(job);
  TENDRIL_CUDA_TRY(cudaGetLastError());
  with_kernel(job.by_degree, shape.scratch_samples == 0, [&](auto* kernel) {
    kernel<<<shape.blocks, shape.threads, shape.shared_bytes, stream>>>(job, scratch);
    TENDRIL_CUDA_TRY(cudaGetLastError());
  });
}

}  // namespace tendril::gpu
