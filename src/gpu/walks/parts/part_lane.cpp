#include "gpu/walks/parts/part_lane.hpp"

#include <type_traits>

namespace tendril::gpu {

template <class Walker>
part_lane<Walker>::part_lane(part_setting const& setting, part_counts& counts) : walk_lane(setting, counts, 2)
{
  for (auto* box : {&arrived_, &coming_}) { *box = buffer<Walker>(all_walks(), memory()); }
  walkers_ = this->template room_for_boxes<Walker>();
  if (setting.keeps_rows()) {
    vertices_ = this->template room_for_boxes<moved_vertex>();
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
  part_step<Walker> const at = step_here(false);
  return {record_kind::of(true, at.walkers, coming_), record_kind::of(false, at.vertices, told_)};
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
  at.decided = decided_.data();
  at.dead = dead_ends();
  at.walkers = boxes_in(walkers_, coming_.data());
  at.vertices = boxes_in<moved_vertex>(vertices_, nullptr);
  at.counts = this->template counts<typename part_step<Walker>::tally>();
  return at;
}

template <class Walker>
void part_lane<Walker>::launch(bool begins)
{
  std::swap(arrived_, coming_);
  part_step<Walker> at = step_here(begins);
  at.counters = counters();
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
