// What every executor of mini-batches keeps; each adds its own.

#pragma once

#include <tendril/minibatch.hpp>

namespace tendril {

/// Arguments have been checked (samplers/batches/checks.hpp), but for what lies in a GPU's memory.
struct minibatch_sampler::state {
  state(hetero_graph the_input, minibatch_params the_params)
      : input(std::move(the_input)), params(std::move(the_params))
  {
  }
  state(state const&) = delete;
  state& operator=(state const&) = delete;
  virtual ~state() = default;

  [[nodiscard]] virtual minibatch sample(batch_seeds const& seeds, std::uint64_t batch) = 0;
  [[nodiscard]] virtual std::vector<minibatch> sample_batches(std::int32_t vertex_type,
                                                              std::span<vertex_id const> seeds, std::int64_t batch_size,
                                                              batch_numbers numbers,
                                                              std::span<std::int64_t const> times) = 0;

  hetero_graph input;
  minibatch_params params;
};

}  // namespace tendril
