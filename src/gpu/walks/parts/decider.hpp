// Who decides the steps of walkers on a part, where no rule's kernel takes them: scans of whole rows, and structs of users.

#pragma once

#include <functional>
#include <memory>

#include <tendril/engine/walks/part_walker.hpp>
#include <tendril/exec.hpp>  // cuda_stream

namespace tendril::gpu {

/// Of one batch of walks under way.
class step_decider {
 public:
  virtual ~step_decider() = default;

  /// Enqueues the decisions. `walkers` and `steps` are memory of the GPU.
  virtual void enqueue(engine::part_batch const& batch, cuda_stream stream) = 0;

  /// After that has been done: what was wrong. @throws argument_error.
  virtual void check() {}
};

using make_decider = std::function<std::unique_ptr<step_decider>()>;

}  // namespace tendril::gpu
