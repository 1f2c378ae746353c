#include "gpu/walks/parts/scan_on_part.hpp"

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

/// What a walk's length and its end at dead ends are, whoever takes the steps knows.
engine::dynamic_terms terms_of(walk_job const& job)
{
  engine::dynamic_terms terms;
  terms.step_key = job.step_key;
  terms.step_keys = core::key_schedule::of(job.step_key);
  terms.ends = job.ends;
  terms.may_end = true;
  return terms;
}

template <class Setup>
class scanning final : public step_decider {
 public:
  scanning(walk_job const& job, Setup const& setup, int device) : job_(job), setup_(setup), device_(device) {}

  void enqueue(engine::part_batch const& batch, cuda_stream stream) override
  {
    gpu_exec const exec{device_, stream, nullptr};
    if (job_.rule == sampling_rule::scan) {
      scan_steps(job_, setup_, batch, exec);
    } else {
      label_steps(job_, setup_, batch, exec);
    }
  }

 private:
  walk_job const& job_;
  Setup setup_;
  int device_;
};

}  // namespace

part_edges::part_edges(graph const& rows, graph_part const& part, gpu_exec const& exec)
    : rows_(rows.view()),
      first_vertex_(static_cast<vertex_id>(part.first_vertex())),
      first_edge_(part.first_edge()),
      num_targets_(part.info.num_vertices),
      types_(part.node_types.view())
{
  device_guard const guard(exec.device);
  std::int64_t const bytes = checked_product("bytes of types", num_targets_, types_.bytes_per_label);
  node_types_ = buffer<std::byte>(bytes, memory_of(exec));
  if (bytes > 0) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(node_types_.data(), types_.data, node_types_.span().size_bytes(),
                                     cudaMemcpyHostToDevice, exec.stream));
    types_.data = node_types_.data();
  }
}

std::unique_ptr<step_decider> decide_by_scans(walk_job const& job, part_edges const& edges, int device)
{
  return edges.with_setup(terms_of(job), [&]<class Setup>(Setup const& setup) -> std::unique_ptr<step_decider> {
    return std::make_unique<scanning<Setup>>(job, setup, device);
  });
}

}  // namespace tendril::gpu
