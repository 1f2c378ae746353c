// Dynamic walks of all ranks. Their structs read the edges of the walker's own vertex alone, so a walker steps where that
// vertex is, and waits for nobody: all keep step.

#include <array>

#include "cpu/walks/part_steps.hpp"
#include "dist/lockstep.hpp"

namespace tendril::dist {
namespace {

class dynamic_walks final : public walks_in_lockstep<walker_dynamic> {
 public:
  dynamic_walks(walk_setting const& setting, cpu::part_steps const& steps, bool repeats, superstep_counts& counts,
                cpu_exec const& exec)
      : walks_in_lockstep(setting, counts, exec), steps_(steps), repeats_(repeats)
  {
  }

 private:
  using walkers_out = record_writer<walker_dynamic>;
  using visits_out = record_writer<visit_in_step>;
  using ends_out = record_writer<walk_end>;

  void start_here(std::span<vertex_id const> starts) override
  {
    step_ = 0;
    begin_messages(std::ssize(starts), records_a_chunk<walker_dynamic>);
    write_records<walker_dynamic>(
        std::ssize(starts), 1 << 14, [&](std::int64_t begin, std::int64_t end, auto& walkers) {
          std::int64_t alive = 0, moved = 0;
          for (std::int64_t i = begin; i < end; ++i) {
            vertex_id const start = starts[static_cast<std::size_t>(i)];
            send_walker({walk_name::of(rank(), i), start, start, no_vertex}, walkers, alive, moved);
          }
          add_counts(alive, moved);
        });
  }

  void send_walker(walker_dynamic const& walker, walkers_out& walkers, std::int64_t& alive, std::int64_t& moved) const
  {
    int const to = setting_.here.owner(walker.vertex);
    walkers.write(to, walker);
    count_walker(to, alive, moved);
  }

  void step_here() override
  {
    // A step makes a walker and a visit.
    begin_messages(2 * std::ssize(walkers_) * records_a_chunk<walker_dynamic>, records_a_chunk<walker_dynamic>);
    write_records<walker_dynamic, visit_in_step, walk_end>(
        std::ssize(walkers_), 4, [&](std::int64_t begin, std::int64_t end, auto&... out) {
          for (std::int64_t k = begin; k < end; ++k) {
            step_of(walkers_[static_cast<std::size_t>(k)].records<walker_dynamic>(), out...);
          }
        });
    ++step_;
  }

  void step_of(std::span<walker_dynamic const> arrived, walkers_out& walkers, visits_out& visits, ends_out& ends)
  {
    std::array<engine::part_walker, records_a_chunk<walker_dynamic>> before;
    std::array<engine::decided_step, records_a_chunk<walker_dynamic>> made;
    std::array<walker_dynamic, records_a_chunk<walker_dynamic>> going;
    std::size_t n = 0;
    for (walker_dynamic const& w : arrived) {
      note_visit(w.vertex);
      if (step_ == setting_.length) {  // it came to be counted
        note_end(w.vertex);
        continue;
      }
      before[n] = {id(w.walk), step_, w.start, w.vertex, w.previous};
      going[n++] = w;
    }
    steps_.decide({before.data(), made.data(), static_cast<std::int64_t>(n)});
    std::int64_t alive = 0, moved = 0, taken = 0;
    for (std::size_t i = 0; i < n; ++i) {
      walker_dynamic const& w = going[i];
      bool const restarts = made[i].turn == engine::part_turn::restarts;
      if (restarts || made[i].turn == engine::part_turn::moved) {
        vertex_id const next = restarts ? w.start : made[i].next;
        ++taken;
        if (keeps_rows()) { visits.write(w.walk.home(), {w.walk, next}); }
        if (goes_on(step_ + 1)) {
          send_walker({w.walk, w.start, next, restarts ? no_vertex : w.vertex}, walkers, alive, moved);
        }
        continue;
      }
      note_end(w.vertex);
      if (keeps_rows()) {
        ends.write(w.walk.home(), {w.walk, step_, made[i].turn == engine::part_turn::dead && repeats_ ? 1U : 0U});
      }
    }
    add_counts(alive, moved);
    counts_.steps.fetch_add(taken, std::memory_order_relaxed);
  }

  cpu::part_steps const& steps_;
  bool repeats_;
};

}  // namespace

std::unique_ptr<walk_batch_of_ranks> make_dynamic_walks(walk_setting const& setting, cpu::part_steps const& steps,
                                                        bool repeats, superstep_counts& counts, cpu_exec const& exec)
{
  return std::make_unique<dynamic_walks>(setting, steps, repeats, counts, exec);
}

}  // namespace tendril::dist
