// Walkers on a part that keep step.

#pragma once

#include "gpu/walks/parts/lane.hpp"

namespace tendril::gpu {

class part_lane final : public walk_lane {
 public:
  /// As walk_lane's.
  part_lane(part_setting const& setting, part_counts& counts);
  ~part_lane() override;
  part_lane(part_lane const&) = delete;
  part_lane& operator=(part_lane const&) = delete;

  /// That a walker that moves takes.
  static constexpr std::int64_t walker_bytes = sizeof(moved_vertex);
  /// GPU memory of a walk of each rank.
  [[nodiscard]] static std::int64_t bytes_each(std::int64_t length, std::int64_t num_ranks)
  {
    return row_bytes_each(length, num_ranks) + (4 * num_ranks + 1) * walker_bytes;
  }

 private:
  void launch(bool begins) override;
  void deliver_rest() override;
  [[nodiscard]] std::vector<record_kind> kinds() override;

  buffer<moved_vertex> arrived_, stepped_, walkers_, vertices_, told_;
};

}  // namespace tendril::gpu
