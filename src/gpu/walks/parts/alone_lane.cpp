#include "gpu/walks/parts/alone_lane.hpp"

#include <utility>

namespace tendril::gpu {

alone_lane::alone_lane(part_setting const& setting, part_counts& counts) : walk_lane(setting, counts, 3)
{
  for (auto* box : {&arrived_, &coming_}) { *box = buffer<walker_alone>(all_walks(), memory()); }
  asking_ = buffer<asking_walker>(all_walks(), memory());
  walkers_ = room_for_boxes<walker_alone>();
  leaving_ = room_for_boxes<asking_walker>();
  if (setting.keeps_rows()) {
    vertices_ = room_for_boxes<vertex_alone>();
    told_ = buffer<vertex_alone>(setting.rounds.batch, memory());
  }
}

alone_lane::~alone_lane() { settle(); }

std::vector<record_kind> alone_lane::kinds()
{
  alone_step const at = step_here(false);
  return {record_kind::of(true, at.walkers, coming_), record_kind::of(true, at.leaving, asking_),
          record_kind::of(false, at.vertices, told_)};
}

alone_step alone_lane::step_here(bool begins)
{
  alone_step at{};
  static_cast<part_ranks&>(at) = describe(begins);
  at.arrived = arrived_.data();
  at.num_arrived = num_here(0);
  at.asking = asking_.data();
  at.num_asking = num_here(1);
  at.told = told_.data();
  at.num_told = num_here(2);
  at.walkers = boxes_in(walkers_, coming_.data());
  at.leaving = boxes_in<asking_walker>(leaving_, nullptr);
  at.vertices = boxes_in<vertex_alone>(vertices_, nullptr);
  at.counts = counts<alone_step::tally>();
  return at;
}

void alone_lane::launch(bool begins)
{
  std::swap(arrived_, coming_);
  alone_step at = step_here(begins);
  at.counters = counters();
  clear_counts();
  walk_shape how = shape();
  how.alone = &at;
  setting().launch(starts_batch(), how);
  tell_counts();
}

void alone_lane::deliver_rest() { gpu::deliver_vertices(step_here(false), stream()); }

}  // namespace tendril::gpu
