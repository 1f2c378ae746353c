// The front of the GPU's GraphSAINT: checks arguments, tables, allocates, enqueues. CPU twin: src/cpu/subgraphs/saint.cpp.

#include "gpu/subgraphs/saint.hpp"
#include "gpu/tables/derived_table.hpp"

#include <memory>
#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/layers/layer_tables.hpp"
#include "gpu/subgraphs/subgraph.hpp"
#include "graph/places.hpp"
#include "samplers/layers/layer_spec.hpp"  // layer_table_key
#include "samplers/subgraphs/saint_checks.hpp"

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

/// What draws read beside the graph.
struct saint_tables {
  std::shared_ptr<samplers::vertex_table const> columns;
  std::shared_ptr<buffer<vertex_id> const> sources;
};

saint_tables tables_of(graph const& graph, saint_params const& params, gpu_exec const& exec)
{
  saint_tables out;
  if (params.sampler == saint_sampler::node) {
    out.columns = gpu::derived_table<samplers::vertex_table>(
        graph, samplers::layer_table_key("layer-columns", params.matrix), exec, [&] {
          auto const norms = gpu::make_column_norms(graph.view(), params.matrix, exec);
          return gpu::make_vertex_table(graph.num_vertices(), norms.data(), exec);
        });
  } else if (params.sampler == saint_sampler::edge) {
    out.sources = gpu::derived_table<buffer<vertex_id>>(graph, "saint-sources", exec,
                                                        [&] { return gpu::make_sources(graph.view(), exec); });
  }
  return out;
}

}  // namespace

subgraphs saint_sample(graph const& graph, saint_params const& params, std::int64_t num_samples, gpu_exec const& exec,
                       std::int64_t first_sample)
{
  validation::expect_on_gpu(graph, exec);
  samplers::check_saint(graph, params, num_samples, first_sample);
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
  saint_tables const tables = tables_of(graph, params, exec);
  core::saint_kind const kind = samplers::kind_of(params.sampler);
  gpu::saint_draws const draws{graph.view(),
                               kind,
                               core::saint_key(params.seed, kind),
                               static_cast<std::uint32_t>(params.length),
                               tables.columns ? tables.columns->records.data() : nullptr,
                               tables.sources ? tables.sources->data() : nullptr,
                               tables.sources ? static_cast<std::uint32_t>(tables.sources->size()) : 0};
  auto drawn = gpu::draw_samples(draws, static_cast<std::uint32_t>(params.budget),
                                 static_cast<std::uint64_t>(first_sample), num_samples, exec);
  return gpu::induce(graph, std::move(drawn.nodes), std::move(drawn.offsets), drawn.max_size, true, exec);
}

saint_coefficients saint_normalization(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                       gpu_exec const& exec, std::int64_t first_sample)
{
  samplers::check_saint_count(num_samples);
  validation::expect_on_gpu(graph, exec);
  samplers::check_saint(graph, params, num_samples, first_sample);
  gpu::device_guard const guard(exec.device);
  saint_coefficients out;
  out.num_samples = num_samples;
  out.node_counts = make_zeros<std::int32_t>(graph.num_vertices(), exec);
  out.edge_counts = make_zeros<std::int32_t>(graph.num_edges(), exec);
  out.loss = buffer<float>(graph.num_vertices(), memory_of(exec));
  out.aggregator = buffer<float>(graph.num_edges(), memory_of(exec));
  samplers::in_parts(params, num_samples, vertices_at_once, [&](std::int64_t first, std::int64_t size) {
    gpu::count_subgraphs(saint_sample(graph, params, size, exec, first_sample + first), out, exec.stream);
  });
  gpu::finish_coefficients(graph.view(), out, exec);
  return out;
}

}  // namespace tendril
