// First-order walks of all ranks, whose walkers keep step: the executors of src/cpu/walks take one step of many at a time.

#include <algorithm>

#include <tendril/checked.hpp>

#include "cpu/walks/lane_walk.hpp"
#include "dist/lockstep.hpp"

namespace tendril::dist {
namespace {

constexpr std::int64_t chunks_a_task = 8;  // about 4,000 walkers: enough to interleave, and few enough for the cache

/// Memory of one task.
struct task_room {
  static constexpr auto most =
      static_cast<std::size_t>(checked_product("walkers of a task", chunks_a_task, records_a_chunk<walker_in_step>));

  std::vector<vertex_id> at = std::vector<vertex_id>(most);  ///< Rows of the part.
  std::vector<std::uint64_t> ids = std::vector<std::uint64_t>(most);
  std::vector<walk_name> walks = std::vector<walk_name>(most);
  std::vector<vertex_id> rows = std::vector<vertex_id>(2 * most);
  std::vector<std::int32_t> lengths = std::vector<std::int32_t>(most);
};

class walks_in_step final : public walks_in_lockstep<walker_in_step> {
 public:
  walks_in_step(walk_setting const& setting, cpu::walk_job const& job, superstep_counts& counts, cpu_exec const& exec)
      : walks_in_lockstep(setting, counts, exec), job_(job)
  {
  }

 private:
  void start_here(std::span<vertex_id const> starts) override
  {
    step_ = 0;
    begin_messages(std::ssize(starts), records_a_chunk<walker_in_step>);
    write_records<walker_in_step>(std::ssize(starts), 1 << 14,
                                  [&](std::int64_t begin, std::int64_t end, auto& walkers) {
                                    std::int64_t alive = 0, moved = 0;
                                    for (std::int64_t i = begin; i < end; ++i) {
                                      vertex_id const start = starts[static_cast<std::size_t>(i)];
                                      int const to = setting_.here.owner(start);
                                      walkers.write(to, {walk_name::of(rank(), i), start});
                                      count_walker(to, alive, moved);
                                    }
                                    add_counts(alive, moved);
                                  });
  }

  void step_here() override
  {
    walk_params one_step = *job_.params;
    one_step.length = step_ + 1;
    cpu::walk_job job = job_;
    job.params = &one_step;
    std::int64_t const num_chunks = std::ssize(walkers_);
    begin_messages(2 * num_chunks * records_a_chunk<walker_in_step>, records_a_chunk<walker_in_step>);
    write_records<walker_in_step, visit_in_step, walk_end>(
        num_chunks, chunks_a_task, [&](std::int64_t begin, std::int64_t end, auto& walkers, auto& visits, auto& ends) {
          thread_local task_room room;
          step_of(job,
                  std::span(walkers_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
                  room, walkers, visits, ends);
        });
    ++step_;
  }

  void step_of(cpu::walk_job const& job, std::span<chunk const> chunks, task_room& room,
               record_writer<walker_in_step>& walkers, record_writer<visit_in_step>& visits,
               record_writer<walk_end>& ends)
  {
    std::size_t n = 0;
    vertex_id const first = setting_.here.first();
    for (chunk const& c : chunks) {
      for (walker_in_step const& w : c.records<walker_in_step>()) {
        room.at[n] = w.vertex - first;
        room.walks[n] = w.walk;
        room.ids[n] = id(w.walk);
        ++n;
      }
    }
    visit_counts_.add_each(std::span(room.at).first(n));
    if (step_ == setting_.length) {  // they came to be counted
      end_counts_.add_each(std::span(room.at).first(n));
      return;
    }
    cpu::walk_source::shared_state all;
    all.size = all.run_length = static_cast<std::int64_t>(n);
    cpu::walk_source source(all, exec_, false);
    cpu::walk_batch const batch{.starts = std::span(room.at).first(n),
                                .vertices = room.rows.data(),
                                .lengths = room.lengths.data(),
                                .first_step = step_,
                                .ids = room.ids.data()};
    cpu::first_order_walk(job, batch, source);
    if (keeps_rows()) {
      send_on<true>(n, room, walkers, visits, ends);
    } else {
      send_on<false>(n, room, walkers, visits, ends);
    }
  }

  /// Sends walkers where their steps have led.
  /// @tparam Rows  Whether their homes are told; else walks are counted.
  template <bool Rows>
  void send_on(std::size_t n, task_room const& room, record_writer<walker_in_step>& walkers,
               record_writer<visit_in_step>& visits, record_writer<walk_end>& ends)
  {
    bool const more = goes_on(step_ + 1);
    bool const repeats = job_.params->dead_ends == dead_end::repeat;
    std::int64_t alive = 0, moved = 0, steps = 0;
    for (std::size_t i = 0; i < n; ++i) {
      walk_name const walk = room.walks[i];
      vertex_id const next = room.rows[2 * i + 1];
      if (room.lengths[i] == step_) {  // told to stop, or at a dead end, which repeats its own vertex
        if constexpr (!Rows) {
          end_counts_.add(room.at[i]);
        } else {
          ends.write(walk.home(), {walk, step_, repeats && next != no_vertex ? 1U : 0U});
        }
        continue;
      }
      ++steps;
      if constexpr (Rows) { visits.write(walk.home(), {walk, next}); }
      if (!more) { continue; }
      int const to = setting_.here.owner(next);
      walkers.write(to, {walk, next});
      count_walker(to, alive, moved);
    }
    add_counts(alive, moved);
    counts_.steps.fetch_add(steps, std::memory_order_relaxed);
  }

  cpu::walk_job const& job_;
};

}  // namespace

std::unique_ptr<walk_batch_of_ranks> make_walks_in_step(walk_setting const& setting, cpu::walk_job const& job,
                                                        superstep_counts& counts, cpu_exec const& exec)
{
  return std::make_unique<walks_in_step>(setting, job, counts, exec);
}

}  // namespace tendril::dist
