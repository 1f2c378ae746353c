#include "gpu/batches/shared_batches.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <omp.h>

#include <tendril/gpu.hpp>
#include <tendril/place.hpp>

#include "gpu/batches/batch_arrays.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/host_copies.hpp"
#include "gpu/placed/shared_graph.hpp"
#include "samplers/batches/checks.hpp"

namespace tendril::gpu {
namespace {

/// A batch that a thread of the CPU made: its arrays one after the other in GPU memory, in the order of a lane's copies,
/// and all that isn't an array.
struct uploaded_batch {
  minibatch shape;  ///< Its arrays are in host memory, and may be gone: only their sizes count.
  buffer<std::byte> arrays;
};

uploaded_batch upload(minibatch&& made, lane& mine, int device)
{
  std::int64_t bytes = 0;
  for_each_array(made, [&](auto const& array) { bytes += room_of(array); });
  uploaded_batch out{{}, buffer<std::byte>(bytes, mine.gpu_memory_of(device))};
  std::byte* to = out.arrays.data();
  for_each_array(made, [&]<class T>(shared_array<T>& array) {
    mine.upload(reinterpret_cast<T*>(to), array.data(), array.size());
    to += room_of(array);
    auto const size = static_cast<std::size_t>(array.size());
    array = shared_array<T>(std::span<T const>(array.data(), size), nullptr);  // its memory goes to the next batch
  });
  out.shape = std::move(made);
  return out;
}

/// The batch in memory of `exec`, in the order of its stream. Enqueues a copy from `from`.
minibatch settle(uploaded_batch&& from, gpu_exec const& exec)
{
  auto const memory = std::make_shared<buffer<std::byte>>(from.arrays.size(), memory_of(exec));
  if (!from.arrays.empty()) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(memory->data(), from.arrays.data(), static_cast<std::size_t>(memory->size()),
                                     cudaMemcpyDeviceToDevice, exec.stream));
  }
  std::byte const* at = memory->data();
  for_each_array(from.shape, [&]<class T>(shared_array<T>& array) {
    std::int64_t const room = room_of(array);
    auto const size = static_cast<std::size_t>(array.size());
    array = size == 0 ? shared_array<T>() : shared_array<T>({reinterpret_cast<T const*>(at), size}, memory);
    at += room;
  });
  return std::move(from.shape);
}

/// Reads of neighbours of a batch, about; vertices that are reached twice are read once.
double reads_of(minibatch_params const& params, std::int64_t batch_size)
{
  constexpr double all = 32;  // neighbours of a vertex, where a hop takes all of them
  auto const& hops = params.num_neighbors_of_type.empty() ? params.num_neighbors : params.num_neighbors_of_type.front();
  double frontier = static_cast<double>(batch_size);
  double reads = frontier;
  for (std::int64_t const fanout : hops) {
    frontier *= fanout < 0 ? all : static_cast<double>(fanout);
    reads += frontier;
  }
  return reads;
}

job_kind kind_of(minibatch_params const& params, std::int64_t batch_size)
{
  job_kind kind{4,
                static_cast<std::uint64_t>(batch_size),
                params.replace ? 1U : 0U,
                params.weighted ? 1U : 0U,
                params.disjoint ? 1U : 0U,
                static_cast<std::uint64_t>(params.subgraph),
                static_cast<std::uint64_t>(params.frontier),
                static_cast<std::uint64_t>(params.choice)};
  for (std::int64_t const fanout : params.num_neighbors) { kind.add(static_cast<std::uint64_t>(fanout)); }
  for (auto const& fanouts : params.num_neighbors_of_type) {
    for (std::int64_t const fanout : fanouts) { kind.add(static_cast<std::uint64_t>(fanout)); }
  }
  return kind;
}

}  // namespace

host_batches::host_batches(hetero_graph graph, hetero_graph on_host, minibatch_params params)
    : graph_(std::move(graph)), on_host_(std::move(on_host)), params_(std::move(params))
{
  samplers_.resize(static_cast<std::size_t>(omp_get_num_procs()));
}

std::unique_ptr<host_batches> host_batches::of(hetero_graph const& graph, minibatch_params const& params)
{
  auto types = graph.edge_types();
  if (types.empty() || graph.has_times()) { return nullptr; }
  bool shared = false;  // the lists of some types may all lie on the GPU
  for (edge_type& type : types) {
    if (type.edges.placed() == nullptr) { return nullptr; }
    shared = shared || is_shared(type.edges);
    auto edges = type.edges.placed()->host;
    type.edges = std::move(edges);
  }
  if (!shared) { return nullptr; }
  return std::unique_ptr<host_batches>(
      new host_batches(graph, hetero_graph(graph.num_vertices(), std::move(types)), params));
}

/// One thread makes a batch at a time, so that no thread waits for another.
minibatch_sampler& host_batches::sampler_of(int thread)
{
  auto& own = samplers_[static_cast<std::size_t>(thread)];
  if (!own) { own = std::make_unique<minibatch_sampler>(on_host_, params_, cpu_exec{.num_threads = 1}); }
  return *own;
}

std::vector<minibatch> host_batches::share(many_seeds const& all, batches_maker const& on_gpu, gpu_exec const& exec)
{
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));  // the seeds are made
  auto const seeds = host_copy(all.seeds.data(), std::ssize(all.seeds));
  samplers::check_seed_range(graph_, all.vertex_type, seeds);
  std::int64_t const num_batches = all.num_batches();
  std::vector<minibatch> out(static_cast<std::size_t>(num_batches));
  std::vector<uploaded_batch> uploaded(out.size());  // those that the CPU made
  auto const part_of = [&](std::span<vertex_id const> from, base::item_range turn) {
    auto const begin = static_cast<std::size_t>(turn.first * all.batch_size);
    return from.subspan(begin, std::min(static_cast<std::size_t>(turn.size * all.batch_size), from.size() - begin));
  };
  shared_job job;
  job.num_items = num_batches;
  job.reads = reads_of(params_, all.batch_size);
  job.kind = kind_of(params_, all.batch_size);
  job.aligned = 1;
  job.on_gpu = [&](base::item_range turn) {
    many_seeds some = all;
    some.seeds = part_of(all.seeds, turn);
    some.numbers = all.numbers.from(turn.first);
    auto made = on_gpu(some);
    std::move(made.begin(), made.end(), out.begin() + turn.first);
  };
  job.on_cpu = [&](base::item_range turn, int thread, lane& mine) {
    for (std::int64_t b = turn.first; b < turn.first + turn.size; ++b) {
      auto made = sampler_of(thread).sample_batches(all.vertex_type, part_of(seeds, {b, 1}), all.batch_size,
                                                    all.numbers.from(b));
      uploaded[static_cast<std::size_t>(b)] = upload(std::move(made.front()), mine, exec.device);
    }
  };
  work_together(graph_.edge_types().front().edges, job, exec);
  for (std::size_t b = 0; b < out.size(); ++b) {
    if (out[b].vertices.empty()) { out[b] = settle(std::move(uploaded[b]), exec); }
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));  // what was uploaded goes now
  return out;
}

}  // namespace tendril::gpu
