#include "gpu/walks/parts/part_lane.hpp"

#include "gpu/walks/moving/columns.hpp"

namespace tendril::gpu {

part_lane::part_lane(part_setting const& setting, part_counts& counts) : walk_lane(setting, counts, 2)
{
  for (auto* box : {&arrived_, &stepped_, &walkers_, &vertices_}) {
    *box = buffer<moved_vertex>(all_walks(), memory());
  }
  told_ = buffer<moved_vertex>(setting.rounds.batch, memory());
}

part_lane::~part_lane() { settle(); }

std::vector<record_kind> part_lane::kinds()
{
  return {record_kind::of(true, walkers_, arrived_), record_kind::of(false, vertices_, told_)};
}

void part_lane::launch(bool begins)
{
  part_step at{};
  static_cast<part_ranks&>(at) = describe(begins);
  at.step = static_cast<std::int32_t>(supersteps());
  at.arrived = arrived_.data();
  at.num_arrived = num_here(0);
  at.told = told_.data();
  at.num_told = num_here(1);
  at.stepped = stepped_.data();
  at.staying = arrived_.data();
  at.walkers = walkers_.data();
  at.vertices = vertices_.data();
  count_in(at.counts, at.cursors);
  take_step(&at, nullptr);
  sort_by_rank(at, begins ? num_walks() : num_here(0), setting().device, stream());
}

void part_lane::deliver_rest()
{
  auto const first = static_cast<std::uint32_t>(rank() * setting().rounds.batch);
  deliver_vertices(told_.data(), num_here(1), column(supersteps()), first, gpu_exec(setting().device, stream()));
}

}  // namespace tendril::gpu
