// Planned walks of ranks whose parts lie on GPUs. CPU twin: src/dist/sharded_walk.cpp.

#include <memory>
#include <utility>

#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/tables/plan_context.hpp"  // labels_of
#include "gpu/walks/parts/scan_on_part.hpp"
#include "gpu/walks/parts/walk_on_part.hpp"
#include "gpu/walks/plan.hpp"
#include "gpu/walks/planned_job.hpp"
#include "plan/whole_graph.hpp"
#include "samplers/walks/walk_checks.hpp"

namespace tendril::gpu {
namespace {

class part_walk final : public walk_on_part {
 public:
  part_walk(graph_part const& part, graph const& host_rows, walk_params const& params, std::int64_t expected_walks,
            transport& ranks, gpu_exec const& exec)
      : walk_on_part(part, host_rows, ranks, exec)
  {
    device_guard const guard(exec.device);
    samplers::check_walk_params(rows(), params,
                                [&] { return labels_of(rows(), plan::metapath_grouping(params), exec); });
    params_ = plan::walk_on_parts(plan::without_idle_weights(rows(), params));
    layout_ = make_walk_plan(rows(), params_, expected_walks / ranks.size(), exec, graph_scope::part);
    tables_ = make_walk_tables(rows(), params_, layout_, exec);
    schema_ = schema_on_gpu(params_, exec);
    job_ = job_of(rows(), tables_, layout_.shared, params_, schema_, exec);

    part_terms terms;
    terms.ends = job_.ends;
    terms.length = static_cast<std::int32_t>(params_.length);
    terms.may_stop = params_.stop_prob > 0;
    terms.may_restart = params_.restart_prob > 0;
    terms.repeat_dead_ends = params_.dead_ends == dead_end::repeat;
    if (job_.second_order) { terms.kind = walkers_go::alone; }
    if (!job_.second_order && (job_.rule == sampling_rule::scan || reads_labels(layout_.shared, params_))) {
      edges_ = std::make_unique<part_edges>(rows(), part, exec);
      terms.decider = [this, device = exec.device] { return decide_by_scans(job_, *edges_, device); };
    } else {
      terms.launch = [this](walk_batch const& batch, walk_shape const& shape) { launch_by_rule(job_, batch, shape); };
    }
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
    take_up(std::move(terms), layout_.shared, may_die(rows(), params_, exec));
  }

 private:
  walk_params params_;
  walk_plan layout_;
  walk_tables tables_;
  buffer<label_id> schema_;
  std::unique_ptr<part_edges> edges_;  // of steps that others decide
  walk_job job_;
};

}  // namespace
}  // namespace tendril::gpu

std::unique_ptr<tendril::samplers::walk_on_gpu_ranks> tendril::samplers::make_walk_on_gpu_ranks(
    graph_part const& part, graph const& rows, walk_params const& params, std::int64_t expected_walks, transport& ranks,
    gpu_exec const& exec)
{
  return std::make_unique<gpu::part_walk>(part, rows, params, expected_walks, ranks, exec);
}
