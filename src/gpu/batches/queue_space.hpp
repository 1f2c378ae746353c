// What the persistent executor of mini-batches keeps from call to call: the edge types as its kernel reads them, and the
// queue's memory.

#pragma once

#include <cstdint>
#include <vector>

#include <tendril/exec.hpp>

#include "gpu/batches/queue.hpp"
#include "gpu/batches/stamped_table.hpp"

namespace tendril::gpu {

struct batch_plan;

class queue_space {
 public:
  /// @throws argument_error where a queue's task can't make the picks of the plan; device_error.
  queue_space(batch_plan const& plan, gpu_exec const& exec);

  /// Room for so many tasks at once. True if anything has moved. @throws memory_error.
  bool grow(std::int64_t tasks);

  /// Stamps for the tasks of as many groups, and a serial number.
  void begin_call(std::int64_t num_groups);
  [[nodiscard]] std::uint32_t first_stamp() const { return first_stamp_; }
  [[nodiscard]] std::uint32_t serial() const { return serial_; }

  /// All of a job but what lies in the call's block: view, groups, seeds, first_stamp, serial and the counters.
  [[nodiscard]] queue_job job();

 private:
  gpu_exec exec_;
  queue_job fixed_;
  std::int64_t stamps_a_group_ = 1;
  buffer<std::byte> descriptions_;  ///< Edge types, then fan-outs.
  stamped_table table_;
  buffer<queue_task> tasks_;
  buffer<edge_id> results_;
  std::uint32_t first_stamp_ = 0, serial_ = 0;
};

}  // namespace tendril::gpu
