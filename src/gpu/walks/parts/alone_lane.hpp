// Walkers on a part that go alone.

#pragma once

#include "gpu/walks/parts/lane.hpp"

namespace tendril::gpu {

class alone_lane final : public walk_lane {
 public:
  /// As walk_lane's.
  alone_lane(part_setting const& setting, part_counts& counts);
  ~alone_lane() override;
  alone_lane(alone_lane const&) = delete;
  alone_lane& operator=(alone_lane const&) = delete;

  /// That a walker that moves takes.
  static constexpr std::int64_t walker_bytes = sizeof(walker_alone);
  /// GPU memory of a walk of each rank.
  [[nodiscard]] static std::int64_t bytes_each(std::int64_t length, std::int64_t num_ranks, bool keeps_rows)
  {
    std::int64_t const vertex = keeps_rows ? sizeof(vertex_alone) : 0;
    std::int64_t const boxes = box_places::rooms(num_ranks);
    std::int64_t const records =
        (2 + boxes) * sizeof(walker_alone) + (1 + boxes) * sizeof(asking_walker) + boxes * vertex;
    return row_bytes_each(length, num_ranks, keeps_rows) + num_ranks * records + vertex;
  }

 private:
  [[nodiscard]] alone_step step_here(bool begins);
  void launch(bool begins) override;
  void deliver_rest() override;
  [[nodiscard]] std::vector<record_kind> kinds() override;

  buffer<walker_alone> arrived_, coming_, walkers_;
  buffer<asking_walker> asking_, leaving_;
  buffer<vertex_alone> vertices_, told_;
};

}  // namespace tendril::gpu
