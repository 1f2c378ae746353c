#include "gpu/walks/planned_job.hpp"

#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/walks/plan.hpp"

namespace tendril::gpu {
namespace {

metapath_view metapath_view_of(walk_params const& params, buffer<label_id> const& schema)
{
  if (params.metapath.empty()) { return {}; }
  return {schema.data(), static_cast<std::int32_t>(schema.size()), params.metapath_of == metapath_kind::vertex_types,
          params.metapath[0]};
}

}  // namespace

buffer<label_id> schema_on_gpu(walk_params const& params, gpu_exec const& exec)
{
  auto const size = static_cast<std::int64_t>(params.metapath.size());
  buffer<label_id> schema(size, memory_of(exec));
  if (size > 0) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(schema.data(), params.metapath.data(), params.metapath.size() * sizeof(label_id),
                                     cudaMemcpyHostToDevice, exec.stream));
  }
  return schema;
}

walk_job job_of(graph const& graph, walk_tables const& tables, sampling_plan const& plan, walk_params const& params,
                buffer<label_id> const& schema, gpu_exec const& exec)
{
  return {graph.view(),
          &tables,
          plan.rule,
          params.weighted,
          plan::is_second_order(params),
          neighbors_are_cached(graph, exec),
          core::node2vec_bias::of(params.p, params.q),
          metapath_view_of(params, schema),
          core::make_key(params.seed, plan::domain_of(params)),
          core::walk_ends::of(params.seed, params.stop_prob, params.restart_prob)};
}

bool reads_labels(sampling_plan const& plan, walk_params const& params)
{
  return !params.metapath.empty() && !plan.grouped_by_label;
}

void launch_by_rule(walk_job const& job, walk_batch const& batch, walk_shape const& shape)
{
  if (job.second_order) {
    node2vec_walk(job, batch, shape);
    return;
  }
  switch (job.rule) {
    case sampling_rule::automatic:
    case sampling_rule::scan:
    case sampling_rule::uniform: uniform_walk(job, batch, shape); break;
    case sampling_rule::alias: alias_walk(job, batch, shape); break;
    case sampling_rule::its: its_walk(job, batch, shape); break;
    case sampling_rule::reject: reject_walk(job, batch, shape); break;
  }
}

}  // namespace tendril::gpu
