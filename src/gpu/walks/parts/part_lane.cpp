#include "gpu/walks/parts/part_lane.hpp"

#include <type_traits>

namespace tendril::gpu {

template <class Walker>
part_lane<Walker>::part_lane(part_setting const& setting, part_counts& counts) : walk_lane(setting, counts, 2)
{
  for (auto* box : {&arrived_, &stepped_, &walkers_}) { *box = buffer<Walker>(all_walks(), memory()); }
  if (setting.keeps_rows()) {
    vertices_ = buffer<moved_vertex>(all_walks(), memory());
    told_ = buffer<moved_vertex>(setting.rounds.batch, memory());
  }
  if (setting.decider) {
    decider_ = setting.decider();
    described_ = buffer<engine::part_walker>(all_walks(), memory());
    decided_ = buffer<engine::decided_step>(all_walks(), memory());
  }
}

template <class Walker>
part_lane<Walker>::~part_lane()
{
  settle();
}

template <class Walker>
std::vector<record_kind> part_lane<Walker>::kinds()
{
  return {record_kind::of(true, walkers_, arrived_), record_kind::of(false, vertices_, told_)};
}

template <class Walker>
part_step<Walker> part_lane<Walker>::step_here(bool begins)
{
  part_step<Walker> at{};
  static_cast<part_ranks&>(at) = describe(begins);
  at.step = static_cast<std::int32_t>(supersteps());
  at.arrived = arrived_.data();
  at.num_arrived = num_here(0);
  at.told = told_.data();
  at.num_told = num_here(1);
  at.stepped = stepped_.data();
  at.decided = decided_.data();
  at.dead = dead_ends();
  at.staying = arrived_.data();
  at.walkers = walkers_.data();
  at.vertices = vertices_.data();
  count_in(at.counts, at.cursors);
  return at;
}

template <class Walker>
void part_lane<Walker>::launch(bool begins)
{
  part_step<Walker> at = step_here(begins);
  at.counters = counters_for(at.num_arrived);
  clear_counts();
  if (decider_) {
    if (!begins && at.num_arrived > 0 && at.step < at.length) {
      describe_walkers(at, described_.data(), stream());
      decider_->enqueue({described_.data(), decided_.data(), at.num_arrived}, stream());
    }
    take_decided_steps(at, starts(), num_walks(), setting().device, stream());
  } else if constexpr (std::is_same_v<Walker, moved_vertex>) {
    walk_shape how = shape();
    how.on_part = &at;
    setting().launch(starts_batch(), how);
  }
  tell_counts();
  sort_by_rank(at, begins ? num_walks() : at.num_arrived, setting().device, stream());
}

template <class Walker>
void part_lane<Walker>::check_step()
{
  if (decider_) { decider_->check(); }
}

template <class Walker>
void part_lane<Walker>::deliver_rest()
{
  deliver_vertices(step_here(false), stream());
}

template class part_lane<moved_vertex>;
template class part_lane<trailing_walker>;

}  // namespace tendril::gpu
