// Many batches of placed graphs, of which the GPU makes some and the CPU the others.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <tendril/minibatch.hpp>

namespace tendril::gpu {

/// Seeds of many batches, in device memory.
struct many_seeds {
  std::int32_t vertex_type;
  std::span<vertex_id const> seeds;
  std::span<std::int64_t const> times;
  std::int64_t batch_size;
  batch_numbers numbers;

  [[nodiscard]] std::int64_t num_batches() const { return (std::ssize(seeds) + batch_size - 1) / batch_size; }
};

/// Makes batches on the GPU, and waits for them.
using batches_maker = std::function<std::vector<minibatch>(many_seeds const& some)>;

/// The CPU's half of a sampler. It keeps the scratch memory of its threads.
class host_batches {
 public:
  /// Null where the CPU may not make batches of this graph: where edges lie on the GPU alone, or have times.
  [[nodiscard]] static std::unique_ptr<host_batches> of(hetero_graph const& graph, minibatch_params const& params);

  /// Makes all batches, by `on_gpu` and by the CPU. @throws argument_error for a seed out of range; as either side.
  [[nodiscard]] std::vector<minibatch> share(many_seeds const& all, batches_maker const& on_gpu, gpu_exec const& exec);

 private:
  host_batches(hetero_graph graph, hetero_graph on_host, minibatch_params params);

  [[nodiscard]] minibatch_sampler& sampler_of(int thread);

  hetero_graph graph_, on_host_;
  minibatch_params params_;
  std::vector<std::unique_ptr<minibatch_sampler>> samplers_;  // of each thread
};

}  // namespace tendril::gpu
