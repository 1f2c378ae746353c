#include "gpu/walks/parts/alone_lane.hpp"

namespace tendril::gpu {

alone_lane::alone_lane(part_setting const& setting, part_counts& counts) : walk_lane(setting, counts, 3)
{
  for (auto* box : {&arrived_, &walkers_}) { *box = buffer<walker_alone>(all_walks(), memory()); }
  for (auto* box : {&asking_, &stepped_, &leaving_}) { *box = buffer<asking_walker>(all_walks(), memory()); }
  if (setting.keeps_rows()) {
    vertices_ = buffer<vertex_alone>(all_walks(), memory());
    told_ = buffer<vertex_alone>(setting.rounds.batch, memory());
  }
}

alone_lane::~alone_lane() { settle(); }

std::vector<record_kind> alone_lane::kinds()
{
  return {record_kind::of(true, walkers_, arrived_), record_kind::of(true, leaving_, asking_),
          record_kind::of(false, vertices_, told_)};
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
  at.stepped = stepped_.data();
  at.staying = arrived_.data();
  at.walkers = walkers_.data();
  at.leaving = leaving_.data();
  at.vertices = vertices_.data();
  count_in(at.counts, at.cursors);
  return at;
}

void alone_lane::launch(bool begins)
{
  alone_step at = step_here(begins);
  at.counters = counters_for(at.num_arrived + at.num_asking);
  clear_counts();
  walk_shape how = shape();
  how.alone = &at;
  setting().launch(starts_batch(), how);
  tell_counts();
  sort_by_rank(at, begins ? num_walks() : num_here(0) + num_here(1), setting().device, stream());
}

void alone_lane::deliver_rest() { gpu::deliver_vertices(step_here(false), stream()); }

}  // namespace tendril::gpu
