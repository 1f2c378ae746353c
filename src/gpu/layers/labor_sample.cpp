// The front of the GPU's LABOR-0: checks arguments, allocates, enqueues, hop by hop. CPU twin: src/cpu/layers/labor.cpp.

#include <bit>
#include <string>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>
#include <tendril/labor.hpp>

#include "core/random.hpp"
#include "gpu/device/check.hpp"
#include "gpu/layers/labor.hpp"
#include "graph/places.hpp"

namespace tendril {
namespace {

/// What the host asks for once a hop.
struct report {
  unsigned long long bad_seed;
  std::int64_t num_nodes;
  std::int64_t num_edges;
};

class labor_builder {
 public:
  labor_builder(graph_view const& graph, labor_params const& params, gpu_exec const& exec)
      : graph_(graph), params_(params), exec_(exec), memory_(memory_of(exec)), report_(1, memory_)
  {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(report_.data(), 0xff, sizeof(report), exec.stream));
  }

  labor_batch build(std::span<vertex_id const> seeds)
  {
    labor_batch out;
    begin(seeds);
    std::int64_t reached = 0;
    for (std::size_t h = 0; h < params_.fanouts.size(); ++h) {
      out.hops.push_back(hop(static_cast<std::uint32_t>(h), seeds));
      out.num_sampled_nodes.push_back(known_.num_nodes - reached);
      reached = known_.num_nodes;
    }
    ask(seeds);
    out.num_sampled_nodes.push_back(known_.num_nodes - reached);
    out.node = buffer<vertex_id>(known_.num_nodes, memory_);
    copy(out.node.data(), node_.data(), known_.num_nodes);
    return out;
  }

 private:
  /// The seeds, each once.
  void begin(std::span<vertex_id const> seeds)
  {
    auto const size = static_cast<std::int64_t>(seeds.size());
    buffer<vertex_id> candidates(size, memory_);
    gpu::clean_seeds(seeds.data(), size, graph_.num_vertices, candidates.data(), &report_.data()->bad_seed,
                     exec_.stream);
    number(candidates, 0, nullptr);
  }

  /// Adds candidates behind the known vertices; the bound of their number follows.
  void number(buffer<vertex_id> const& candidates, std::int64_t num_known, std::int64_t* col)
  {
    most_nodes_ = num_known + candidates.size();
    buffer<vertex_id> node(most_nodes_, memory_);
    copy(node.data(), node_.data(), num_known);
    node_ = std::move(node);
    auto const slots = static_cast<std::int64_t>(std::bit_ceil(2 * static_cast<std::uint64_t>(most_nodes_)));
    buffer<vertex_id> keys(slots, memory_);
    buffer<unsigned long long> least(slots, memory_);
    gpu::number_labor(candidates.data(), candidates.size(), node_.data(), num_known,
                      {keys.data(), least.data(), static_cast<std::uint64_t>(slots)}, col, &report_.data()->num_nodes,
                      exec_);
  }

  labor_hop hop(std::uint32_t index, std::span<vertex_id const> seeds)
  {
    buffer<std::int64_t> offsets(most_nodes_ + 1, memory_);
    buffer<std::int64_t> hubs(most_nodes_ + 1, memory_);
    TENDRIL_CUDA_TRY(cudaMemsetAsync(hubs.data(), 0, sizeof(std::int64_t), exec_.stream));
    gpu::labor_job const job{graph_,
                             core::make_key(params_.seed, core::domain::labor, params_.batch),
                             index,
                             params_.fanouts[index],
                             params_.normalize,
                             node_.data(),
                             &report_.data()->num_nodes,
                             most_nodes_,
                             offsets.data(),
                             hubs.data()};
    gpu::count_labor(job, exec_);
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(&report_.data()->num_edges, offsets.data() + most_nodes_, sizeof(std::int64_t),
                                     cudaMemcpyDeviceToDevice, exec_.stream));
    ask(seeds);
    std::int64_t const size = known_.num_edges;
    labor_hop out{buffer<std::int64_t>(size, memory_), buffer<std::int64_t>(size, memory_),
                  buffer<edge_id>(size, memory_), buffer<float>(size, memory_)};
    most_nodes_ = known_.num_nodes;
    if (size == 0) { return out; }
    buffer<vertex_id> neighbors(size, memory_);
    gpu::write_labor(job, {out.row.data(), out.edge.data(), out.weights.data(), neighbors.data()}, exec_);
    number(neighbors, known_.num_nodes, out.col.data());
    return out;
  }

  /// Waits for the report. @throws argument_error for a seed that is no vertex.
  void ask(std::span<vertex_id const> seeds)
  {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(&known_, report_.data(), sizeof known_, cudaMemcpyDeviceToHost, exec_.stream));
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec_.stream));
    if (known_.bad_seed != ~0ULL) {
      vertex_id vertex = 0;
      TENDRIL_CUDA_TRY(cudaMemcpy(&vertex, seeds.data() + known_.bad_seed, sizeof vertex, cudaMemcpyDeviceToHost));
      validation::refuse_vertex("seed", static_cast<std::int64_t>(known_.bad_seed), vertex, graph_.num_vertices);
    }
  }

  void copy(vertex_id* to, vertex_id const* from, std::int64_t size) const
  {
    if (size == 0) { return; }
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size) * sizeof(vertex_id),
                                     cudaMemcpyDeviceToDevice, exec_.stream));
  }

  graph_view graph_;
  labor_params const& params_;
  gpu_exec const& exec_;
  memory_resource& memory_;
  buffer<report> report_;
  report known_{};
  buffer<vertex_id> node_;
  std::int64_t most_nodes_ = 0;
};

}  // namespace

labor_batch labor_sample(graph const& graph, std::span<vertex_id const> seeds, labor_params const& params,
                         gpu_exec const& exec)
{
  validation::expect_on_gpu(graph, exec);
  validate(params);
  gpu::device_guard const guard(exec.device);
  if (seeds.empty()) {
    labor_batch out;
    out.hops.resize(params.fanouts.size());
    out.num_sampled_nodes.assign(params.fanouts.size() + 1, 0);
    return out;
  }
  if (graph.num_vertices() == 0) {
    vertex_id vertex = 0;
    TENDRIL_CUDA_TRY(cudaMemcpy(&vertex, seeds.data(), sizeof vertex, cudaMemcpyDeviceToHost));
    validation::refuse_vertex("seed", 0, vertex, 0);
  }
  return labor_builder(graph.view(), params, exec).build(seeds);
}

}  // namespace tendril
