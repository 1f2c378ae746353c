// Walks that came as text, of ranks whose parts lie on GPUs. CPU twin: src/cpu/walks/part_steps.cpp.

#include <functional>
#include <memory>
#include <utility>

#include <tendril/engine/walks/launch.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/custom_module.hpp"
#include "gpu/walks/parts/scan_on_part.hpp"
#include "gpu/walks/parts/walk_on_part.hpp"
#include "jit/custom_walk_state.hpp"

namespace tendril::gpu {
namespace {

/// What all batches of a walk share.
struct custom_steps {
  std::shared_ptr<custom_module const> module;
  std::shared_ptr<buffer<float> const> largest;
  std::int64_t num_targets = 0;
  std::function<engine::dynamic_workspace(engine::part_batch const&, gpu_exec const&)> enqueue;
};

class deciding_struct final : public step_decider {
 public:
  deciding_struct(custom_steps const& steps, int device) : steps_(steps), device_(device), report_(1, pinned_memory())
  {
    *report_.data() = {};
  }

  void enqueue(engine::part_batch const& batch, cuda_stream stream) override
  {
    gpu_exec const exec{device_, stream, nullptr};
    engine::dynamic_workspace const space = steps_.enqueue(batch, exec);
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(report_.data(), &space.desk()->report, sizeof(engine::dynamic_report),
                                     cudaMemcpyDeviceToHost, stream));
  }

  void check() override
  {
    engine::dynamic_report const& report = *report_.data();
    if (report.what != engine::dynamic_problem::none) { engine::throw_problem(report, steps_.num_targets); }
  }

 private:
  custom_steps const& steps_;
  int device_;
  buffer<engine::dynamic_report> report_;  // page-locked
};

class custom_part_walk final : public walk_on_part {
 public:
  custom_part_walk(graph_part const& part, graph const& host_rows, custom_walk const& walk,
                   dynamic_walk_params const& params, transport& ranks, gpu_exec const& exec)
      : walk_on_part(part, host_rows, ranks, exec), edges_(rows(), part, exec), walk_(walk)
  {
    device_guard const guard(exec.device);
    auto setup = engine::make_setup(rows().view(), params);
    steps_.num_targets = part.info.num_vertices;
    steps_.module = jit::for_parts([&] { return module_of(walk_.data(), jit::part_of(rows().form()), exec); });
    bool const has_bound = steps_.module->flags != 0;
    bool const rejecting = engine::rejects(params, has_bound);
    if (has_bound) { steps_.largest = engine::largest_weights(rows(), exec); }
    if (steps_.largest) { setup.largest = steps_.largest->data(); }
    edges_.with_setup(setup, [&](auto const& own) {
      steps_.enqueue = [own, rejecting, module = steps_.module](engine::part_batch const& batch, gpu_exec const& on) {
        engine::dynamic_kernels const kernels{module->kernels[0], module->kernels[1]};
        return engine::enqueue_steps(kernels, module->bytes.data(), &own, rejecting, batch, {}, on);
      };
    });
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));

    part_terms terms;
    terms.kind = walkers_go::trailing;
    terms.decider = [this, device = exec.device] { return std::make_unique<deciding_struct>(steps_, device); };
    terms.ends = setup.ends;
    terms.length = static_cast<std::int32_t>(params.length);
    terms.may_stop = params.stop_prob > 0;
    terms.may_restart = params.restart_prob > 0;
    terms.repeat_dead_ends = params.dead_ends == dead_end::repeat;
    terms.knows_starts = true;
    sampling_plan plan;
    plan.rule = rejecting ? sampling_rule::reject : sampling_rule::scan;
    take_up(std::move(terms), std::move(plan), true);
  }

 private:
  part_edges edges_;
  custom_walk walk_;
  custom_steps steps_;
};

}  // namespace
}  // namespace tendril::gpu

std::unique_ptr<tendril::samplers::walk_on_gpu_ranks> tendril::samplers::make_walk_on_gpu_ranks(
    graph_part const& part, graph const& rows, custom_walk const& walk, dynamic_walk_params const& params,
    transport& ranks, gpu_exec const& exec)
{
  return std::make_unique<gpu::custom_part_walk>(part, rows, walk, params, ranks, exec);
}
