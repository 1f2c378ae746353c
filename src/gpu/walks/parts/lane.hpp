// A batch of walks of all ranks under way, as the GPU of one rank has it.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/partition.hpp>
#include <tendril/transport.hpp>

#include "gpu/device/side_stream.hpp"
#include "gpu/device/step_event.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/walks/job.hpp"
#include "gpu/walks/parts/part_step.hpp"
#include "samplers/two_batches.hpp"

namespace tendril::gpu {

/// Enqueues one step of `job` in the shape given.
using part_launch = void (*)(walk_job const& job, walk_batch const& batch, walk_shape const& shape);

/// What both lanes of a call share.
struct part_setting {
  transport& ranks;
  gpu_messages& messages;
  walk_job const& job;
  partition_info const& whole;
  samplers::rank_rounds const& rounds;
  part_launch launch;
  int device;
  std::int32_t length;
  bool may_stop, may_restart, may_die, repeat_dead_ends;
};

/// What a rank did.
struct part_counts {
  std::int64_t steps = 0, moved = 0;
};

/// start, then finish and step in turn until nobody is alive. All members but write_rows are calls of all ranks.
class part_lane {
 public:
  /// With the GPU current. @throws memory_error; device_error.
  part_lane(part_setting const& setting, part_counts& counts);
  ~part_lane();
  part_lane(part_lane const&) = delete;
  part_lane& operator=(part_lane const&) = delete;

  /// @param starts  Of this rank's walks of the round, in memory of the host or of the GPU, where they are after `ready`.
  void start(std::int64_t round, std::span<vertex_id const> starts);
  [[nodiscard]] bool finish();
  void step();

  [[nodiscard]] std::int64_t round() const { return round_; }
  [[nodiscard]] std::int64_t supersteps() const { return supersteps_; }
  [[nodiscard]] double done_share() const
  {
    return static_cast<double>(supersteps_) / static_cast<double>(std::max(setting_.length, 1));
  }

  /// Enqueues the rows of a batch that has ended. @param lengths  May be null.
  void write_rows(vertex_id* rows, std::int32_t* lengths);
  [[nodiscard]] std::int64_t num_walks() const { return num_walks_; }
  [[nodiscard]] cuda_stream stream() const { return stream_.get(); }

  /// GPU memory of a walk of each rank.
  [[nodiscard]] static std::int64_t bytes_each(std::int64_t length, std::int64_t num_ranks)
  {
    return (4 * 8 + 4) * num_ranks + 8 + 4 + 4 * (length + 1);
  }

 private:
  [[nodiscard]] part_step step_here();
  void launch(part_step const& at, std::int64_t size);
  void share_starts();
  [[nodiscard]] int num_ranks() const { return setting_.ranks.size(); }
  [[nodiscard]] int rank() const { return setting_.ranks.rank(); }

  part_setting const& setting_;
  part_counts& counts_;
  side_stream stream_;
  step_event counted_;
  buffer<vertex_id> starts_, all_starts_, columns_;
  buffer<moved_vertex> arrived_, stepped_, walkers_, vertices_, told_;
  buffer<std::byte> tallies_;       // a count and the cursors, in the GPU's memory
  buffer<part_step::count> count_;  // what the host is told, page-locked
  std::int64_t num_walks_ = 0, num_arrived_ = 0, num_told_ = 0;
  std::int64_t round_ = 0, supersteps_ = 0;
};

}  // namespace tendril::gpu
