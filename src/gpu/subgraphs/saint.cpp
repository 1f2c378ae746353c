// The front of the GPU's GraphSAINT: checks arguments, tables, allocates, enqueues. CPU twin: src/cpu/subgraphs/saint.cpp.

#include "gpu/subgraphs/saint.hpp"

#include <memory>
#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/layers/known_tables.hpp"
#include "gpu/subgraphs/subgraph.hpp"
#include "graph/places.hpp"
#include "samplers/subgraphs/saint_tables.hpp"

namespace tendril {
namespace {

constexpr std::int64_t vertices_at_once = std::int64_t{1} << 24U;  // drawn, of a part of a normalization

template <class T>
buffer<T> make_zeros(std::int64_t size, gpu_exec const& exec)
{
  buffer<T> out(size, memory_of(exec));
  if (size > 0) {
    TENDRIL_CUDA_TRY(cudaMemsetAsync(out.data(), 0, static_cast<std::size_t>(size) * sizeof(T), exec.stream));
  }
  return out;
}

}  // namespace

subgraphs saint_sample(graph const& graph, saint_params const& params, std::int64_t num_samples, gpu_exec const& exec,
                       std::int64_t first_sample, std::int64_t sample_step)
{
  validation::expect_on_gpu(graph, exec);
  samplers::check_saint(graph, params, num_samples, first_sample, sample_step);
  gpu::device_guard const guard(exec.device);
  if (num_samples == 0 || !samplers::can_draw(graph, params)) {
    return gpu::induce(graph, buffer<vertex_id>(0, memory_of(exec)), make_zeros<std::int64_t>(num_samples + 1, exec), 0,
                       true, exec);
  }
  constexpr std::int64_t most_vertices = std::int64_t{1} << 44U;
  if (num_samples > most_vertices / samplers::vertices_a_sample(params)) {
    throw memory_error(fmt::format("saint_sample: {} samples that draw {} vertices each don't fit any GPU", num_samples,
                                   samplers::vertices_a_sample(params)));
  }
  auto const tables = samplers::saint_tables_of(
      params, [&](propagation matrix) { return gpu::columns_of(graph, matrix, exec); },
      [&] {
        return gpu::derived_table(graph, samplers::saint_sources_table(), exec,
                                  [&] { return gpu::make_sources(graph.view(), exec); });
      });
  gpu::saint_draws const draws = samplers::saint_draws_of(graph.view(), params, tables);
  batch_numbers const numbers{static_cast<std::uint64_t>(first_sample), static_cast<std::uint64_t>(sample_step)};
  auto drawn = gpu::draw_samples(draws, static_cast<std::uint32_t>(params.budget), numbers, num_samples, exec);
  return gpu::induce(graph, std::move(drawn.nodes), std::move(drawn.offsets), drawn.max_size, true, exec);
}

saint_coefficients saint_normalization(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                       gpu_exec const& exec, std::int64_t first_sample)
{
  samplers::check_saint_count(num_samples);
  validation::expect_on_gpu(graph, exec);
  samplers::check_saint(graph, params, num_samples, first_sample);
  gpu::device_guard const guard(exec.device);
  saint_coefficients out = samplers::empty_coefficients(
      graph, num_samples, memory_of(exec), [&](std::int64_t size) { return make_zeros<std::int32_t>(size, exec); });
  samplers::in_parts(params, num_samples, vertices_at_once, [&](std::int64_t first, std::int64_t size) {
    gpu::count_subgraphs(saint_sample(graph, params, size, exec, first_sample + first), out, exec.stream);
  });
  gpu::finish_coefficients(graph.view(), out, exec);
  return out;
}

}  // namespace tendril
