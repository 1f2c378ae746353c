// A batch of moving walks under way on all ranks: each rank has a stream, and they wait for each other between steps.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/gpu_array.hpp>  // gpu_event
#include <tendril/walk.hpp>

#include "gpu/device/side_stream.hpp"
#include "gpu/walks/moving/columns.hpp"
#include "gpu/walks/moving/moving_walk.hpp"

namespace tendril::gpu {

/// What all lanes of a walk have in common.
struct moving_plan {
  gpu_set devices;
  std::vector<int> ranks;      ///< The GPU of each.
  std::vector<walk_job> jobs;  ///< Of each rank.
  std::int32_t length = 0;
  bool may_stop = false, may_restart = false, may_die = false, repeat_dead_ends = false;
  superstep_launch launch = nullptr;
};

/// A part of a call's walks.
struct moving_batch {
  std::span<vertex_id const> starts;
  std::uint64_t first_walk;
  vertex_id* rows;        ///< [n, length + 1]
  std::int32_t* lengths;  ///< [n] or null.
};

class moving_lane {
 public:
  /// @param walks_each  Most walks of a rank in a batch. @throws memory_error; device_error.
  moving_lane(moving_plan const& plan, std::int64_t walks_each);
  ~moving_lane();
  moving_lane(moving_lane const&) = delete;
  moving_lane& operator=(moving_lane const&) = delete;

  // Each enqueues its work on all ranks.

  /// Waits for `ready`, and sends the walkers to the ranks of their starts. @param device  Of the starts, rows and lengths.
  void begin(moving_batch const& batch, int device, gpu_event const& ready);
  /// Every walker that has taken `step` steps takes one more.
  void take_step(std::int32_t step);
  /// The rows of a batch whose walkers have taken so many steps, or have ended.
  void finish(std::int32_t steps);

  /// Whether no walker has come anywhere by this step. Synchronises.
  [[nodiscard]] bool is_over(std::int32_t step) const;
  void synchronize() const;

  /// GPU memory of a walk on its home, while `num_ranks` may send theirs there.
  [[nodiscard]] static std::int64_t bytes_each(std::int64_t length, std::int64_t num_ranks)
  {
    return 2 * 16 * num_ranks + 2 * 8 + 4 + 2 * 4 * (length + 1) + 4;
  }

 private:
  struct rank_state;
  void launch(int rank, bool begins, std::int32_t step);
  void wait_for_all();
  void make_rows(int rank, vertex_id* rows, std::int32_t* lengths);
  void send_rows(int rank);
  [[nodiscard]] std::int64_t first_of(int rank) const;  ///< The first walk in the batch whose home it is.
  [[nodiscard]] std::int64_t num_walks_of(int rank) const;
  [[nodiscard]] std::int64_t row() const { return plan_.length + std::int64_t{1}; }
  [[nodiscard]] int num_ranks() const { return static_cast<int>(plan_.ranks.size()); }

  moving_plan const& plan_;
  std::vector<std::unique_ptr<rank_state>> ranks_;
  moving_batch batch_{};
  int device_ = 0;
  std::int64_t walks_each_ = 0;
};

}  // namespace tendril::gpu
