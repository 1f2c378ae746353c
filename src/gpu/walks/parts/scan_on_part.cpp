#include "gpu/walks/parts/scan_on_part.hpp"

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

class scanning final : public step_decider {
 public:
  scanning(walk_job const& job, edges_of_part const& edges, int device)
      : job_(job), setup_(engine::setup_with(terms_of(job), edges.graph)), device_(device)
  {
    setup_.rows = edges.rows;
  }

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
  /// What a walk's length and its end at dead ends are, whoever takes the steps knows.
  static engine::dynamic_terms terms_of(walk_job const& job)
  {
    engine::dynamic_terms terms;
    terms.step_key = job.step_key;
    terms.step_keys = core::key_schedule::of(job.step_key);
    terms.ends = job.ends;
    terms.may_end = true;
    return terms;
  }

  walk_job const& job_;
  engine::dynamic_setup<transit_view> setup_;
  int device_;
};

}  // namespace

part_edges::part_edges(graph const& rows, graph_part const& part, gpu_exec const& exec)
{
  device_guard const guard(exec.device);
  view_.rows = {rows.view().as<csr_view>(), static_cast<vertex_id>(part.first_vertex()), part.first_edge()};
  label_view types = part.node_types.view();
  std::int64_t const bytes = checked_product("bytes of types", part.info.num_vertices, types.bytes_per_label);
  node_types_ = buffer<std::byte>(bytes, memory_of(exec));
  if (bytes > 0) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(node_types_.data(), types.data, node_types_.span().size_bytes(),
                                     cudaMemcpyHostToDevice, exec.stream));
    types.data = node_types_.data();
  }
  view_.graph = {part.info.num_vertices, types};
}

std::unique_ptr<step_decider> decide_by_scans(walk_job const& job, edges_of_part const& edges, int device)
{
  return std::make_unique<scanning>(job, edges, device);
}

}  // namespace tendril::gpu
