// The walkers that one thread interleaves. Arrays of one field each; lanes [0, active) hold a walk, and a lane whose
// walk is over takes the next one, so that uneven lengths leave no lane idle until the work runs out.

#pragma once

#include <cstdint>

#include "cpu/picks/philox_lanes.hpp"
#include "cpu/walks/job.hpp"
#include "cpu/walks/row.hpp"
#include "cpu/walks/source.hpp"

namespace tendril::cpu {

/// @tparam Ends      Walks may stop or restart before their length.
/// @tparam Previous  `previous` is kept, for second-order rules.
/// @tparam Trials    A step can take several trials; else draws.draw stays 0.
template <bool Ends, bool Previous, bool Trials>
class walk_lanes {
 public:
  walk_lanes(walk_job const& job, walk_batch const& batch, walk_source& source)
      : job_(job), batch_(batch), source_(source), length_(job.length())
  {
  }

  // Per lane. `draws` holds the walk's id, its step and the trial, and after draw() the random words.
  draw_lanes draws;
  vertex_id vertex[draw_lanes::max_lanes];
  vertex_id previous[draw_lanes::max_lanes];  ///< no_vertex before the first edge and after a restart

  [[nodiscard]] int active() const { return active_; }

  /// Fills up to `width` lanes. `arrive(lane)` is called for each, as whenever a lane comes to stand on a vertex that it
  /// will leave by an edge.
  template <class Arrive>
  void fill(int width, Arrive arrive)
  {
    while (active_ < width && load(active_) && enter(active_, arrive)) { ++active_; }
  }

  /// Draws, for the lanes in [first, first + count), the block of the trial and the decisions that the lane will ask
  /// for if it moves.
  void draw(int first, int count)
  {
    philox_lanes(draws, first, count, job_.step_key);
    if constexpr (Ends) {
      for (int i = first; i < first + count; ++i) {
        ends_.item[i] = draws.item[i];
        ends_.step[i] = draws.step[i] + 1;
      }
      philox_lanes(ends_, first, count, job_.ends.key);
    }
  }

  /// The lane follows an edge to `next`; if that ends its walk, it takes the next one. False if there is none: the lane
  /// holds nothing any more.
  template <class Arrive>
  [[nodiscard]] bool move(int lane, vertex_id next, Arrive arrive)
  {
    if constexpr (Previous) { previous[lane] = vertex[lane]; }
    record(lane, next);
    if constexpr (!Ends) {
      if (static_cast<std::int32_t>(draws.step[lane]) != length_) [[likely]] {
        arrive(lane);
        return true;
      }
    }
    return enter(lane, arrive);
  }

  /// The lane's walk can't go on. Returns as move.
  template <class Arrive>
  [[nodiscard]] bool finish_dead(int lane, Arrive arrive)
  {
    close(lane, true);
    return load(lane) && enter(lane, arrive);
  }

  /// Closes the gap that a lane without a walk leaves: the last lane takes its index. Returns that lane's old index.
  int remove(int lane)
  {
    copy_lane(--active_, lane);
    return active_;
  }

  [[nodiscard]] walker_position position(int lane) const
  {
    return {draws.item[lane], static_cast<std::int32_t>(draws.step[lane]), vertex[lane], previous[lane]};
  }

 private:
  void record(int lane, vertex_id next)
  {
    vertex[lane] = next;
    std::uint32_t const step = draws.step[lane] + 1;
    draws.step[lane] = step;
    row_[lane][step - static_cast<std::uint32_t>(batch_.first_step)] = next;
    if constexpr (Trials) { draws.draw[lane] = 0; }
  }

  /// Goes on until the lane needs an edge: ends walks, takes new ones, jumps back to starts. False if work ran out.
  template <class Arrive>
  [[gnu::always_inline]] bool enter(int lane, Arrive arrive)
  {
    for (;;) {
      if (static_cast<std::int32_t>(draws.step[lane]) == length_) {
        close(lane, false);
        if (!load(lane)) { return false; }
      } else if constexpr (!Ends) {
        break;
      } else {
        std::uint32_t const step = draws.step[lane];
        // Not foreseen: at a walk's start and after a restart.
        bool const foreseen = step > 0 && ends_.step[lane] == step && ends_.item[lane] == draws.item[lane];
        auto const turn = foreseen ? job_.ends.turn(ends_.low[lane], ends_.high[lane])
                                   : job_.ends.turn(draws.item[lane], static_cast<std::int32_t>(step));
        if (turn == core::walk_turn::choose) { break; }
        if (turn == core::walk_turn::stop) {
          close(lane, false);
          if (!load(lane)) { return false; }
        } else {
          record(lane, row_[lane][0]);
          previous[lane] = no_vertex;
        }
      }
    }
    arrive(lane);
    return true;
  }

  void close(int lane, bool dead)
  {
    auto const steps = static_cast<std::int32_t>(draws.step[lane]);
    close_row(job_, batch_, row_[lane], steps, dead);
    if (batch_.lengths != nullptr) { batch_.lengths[index_[lane]] = steps; }
  }

  /// Puts the next walk of the source into a lane; false if there is none.
  bool load(int lane)
  {
    for (;;) {
      std::int64_t const i = source_.next();
      if (i < 0) { return false; }
      vertex_id const start = batch_.starts[static_cast<std::size_t>(i)];
      index_[lane] = i;
      row_[lane] = batch_.vertices + i * (length_ - batch_.first_step + std::int64_t{1});
      row_[lane][0] = start;
      draws.item[lane] = batch_.id(i);
      draws.step[lane] = static_cast<std::uint32_t>(batch_.first_step);
      draws.draw[lane] = 0;
      vertex[lane] = start;
      previous[lane] = no_vertex;
      if (batch_.first_step > 0 || job_.may_start_at(start)) { return true; }
      close(lane, true);
    }
  }

  void copy_lane(int from, int to)
  {
    if (from == to) { return; }
    draws.item[to] = draws.item[from];
    draws.low[to] = draws.low[from];
    draws.high[to] = draws.high[from];
    draws.step[to] = draws.step[from];
    draws.draw[to] = draws.draw[from];
    if constexpr (Ends) {
      ends_.item[to] = ends_.item[from];
      ends_.step[to] = ends_.step[from];
      ends_.low[to] = ends_.low[from];
      ends_.high[to] = ends_.high[from];
    }
    vertex[to] = vertex[from];
    previous[to] = previous[from];
    row_[to] = row_[from];
    index_[to] = index_[from];
  }

  walk_job const& job_;
  walk_batch const& batch_;
  walk_source& source_;
  draw_lanes ends_ = {};  // decisions of the step after this one, never of step 0; draw is 0 throughout
  std::int32_t length_;
  int active_ = 0;
  vertex_id* row_[draw_lanes::max_lanes];
  std::int64_t index_[draw_lanes::max_lanes];
};

}  // namespace tendril::cpu
