// Walkers on a part that keep step.

#pragma once

#include <memory>

#include "gpu/walks/parts/lane.hpp"

namespace tendril::gpu {

/// @tparam Walker  As part_step's.
template <class Walker>
class part_lane final : public walk_lane {
 public:
  /// As walk_lane's. A walker's steps are taken by the rule, if that is a moved_vertex; or by what the setting's decider decides.
  part_lane(part_setting const& setting, part_counts& counts);
  ~part_lane() override;
  part_lane(part_lane const&) = delete;
  part_lane& operator=(part_lane const&) = delete;

  /// That a walker that moves takes.
  static constexpr std::int64_t walker_bytes = sizeof(Walker);
  /// GPU memory of a walk of each rank. @param decides  Whether there is a decider.
  [[nodiscard]] static std::int64_t bytes_each(std::int64_t length, std::int64_t num_ranks, bool decides,
                                               bool keeps_rows)
  {
    std::int64_t const boxes = box_places::rooms(num_ranks);
    std::int64_t const vertex = keeps_rows ? sizeof(moved_vertex) : 0;
    std::int64_t const decision = decides ? sizeof(engine::part_walker) + sizeof(engine::decided_step) : 0;
    std::int64_t const records = (2 + boxes) * walker_bytes + boxes * vertex + decision;
    return row_bytes_each(length, num_ranks, keeps_rows) + num_ranks * records + vertex + 1;
  }

 private:
  [[nodiscard]] part_step<Walker> step_here(bool begins);
  void launch(bool begins) override;
  void check_step() override;
  void deliver_rest() override;
  [[nodiscard]] std::vector<record_kind> kinds() override;

  buffer<Walker> arrived_, coming_, walkers_;
  buffer<moved_vertex> vertices_, told_;
  std::unique_ptr<step_decider> decider_;
  buffer<engine::part_walker> described_;
  buffer<engine::decided_step> decided_;
};

extern template class part_lane<moved_vertex>;
extern template class part_lane<trailing_walker>;

}  // namespace tendril::gpu
