// Walks of all ranks whose walkers go their own ways: node2vec, whose step may depend on edges of a vertex that another rank
// has, walks that restart, walks that read whole neighbourhoods.
//
// A step is a function of what it reads. So a walker that needs to know an edge takes its step by a guess, asks, and takes
// the step again when the answers are there; a step that asked for nothing new is the step.

#include <deque>
#include <mutex>

#include "cpu/walks/scalar_step.hpp"
#include "dist/asking_view.hpp"
#include "dist/superstep.hpp"

namespace tendril::dist {
namespace {

/// A walker whose questions other ranks have not all answered.
struct waiting_walker {
  std::uint32_t number = 0;
  walker_alone walker{};
  known_edges known = {};
  std::uint32_t missing = 0;  ///< Answers.
};

/// @tparam View  Of the part's rows.
template <class View>
class walks_alone final : public walk_batch_of_ranks {
 public:
  walks_alone(walk_setting const& setting, cpu::walk_job const& job, View const& rows, superstep_counts& counts,
              cpu_exec const& exec)
      : walk_batch_of_ranks(setting, counts, exec), job_(job), rows_here_(rows)
  {
  }

 private:
  using walkers_out = record_writer<walker_alone>;
  using visits_out = record_writer<visit_alone>;
  using questions_out = record_writer<question>;
  using ends_out = record_writer<walk_end>;

  [[nodiscard]] bool may_start_at(vertex_id v) const
  {
    walk_params const& params = *job_.params;
    return params.metapath.empty() || params.metapath_of == metapath_kind::edge_labels ||
           setting_.here.node_types[v] == params.metapath[0];
  }

  void start_here(std::span<vertex_id const> starts) override
  {
    begin_messages(std::ssize(starts), records_a_chunk<walker_alone>);
    write_records<walker_alone>(std::ssize(starts), 1 << 14, [&](std::int64_t begin, std::int64_t end, auto& walkers) {
      std::int64_t alive = 0, moved = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        vertex_id const start = starts[static_cast<std::size_t>(i)];
        if (keeps_rows() && !may_start_at(start)) {
          rows_.end(static_cast<std::uint32_t>(i), 0, repeats());
          continue;
        }
        send_walker({walk_name::of(rank(), i), 0, start, no_vertex}, walkers, alive, moved);
      }
      add_counts(alive, moved);
    });
  }

  [[nodiscard]] bool repeats() const { return job_.params->dead_ends == dead_end::repeat; }

  void send_walker(walker_alone const& walker, walkers_out& walkers, std::int64_t& alive, std::int64_t& moved) const
  {
    int const to = walker.vertex == no_vertex ? walker.walk.home() : setting_.here.owner(walker.vertex);
    walkers.write(to, walker);
    count_walker(to, alive, moved);
  }

  void take_in(std::span<chunk const> chunks) override
  {
    walkers_.clear();
    visits_.clear();
    questions_.clear();
    ready_.clear();
    for (chunk const& c : chunks) {
      switch (c.kind()) {
        case walker_alone::kind: walkers_.push_back(c); break;
        case visit_alone::kind: visits_.push_back(c); break;
        case question::kind: questions_.push_back(c); break;
        case walk_end::kind: take_ends(c.records<walk_end>()); break;
        default: take_answers(c.records<answer>()); break;
      }
    }
    base::parallel_ranges(exec_, std::ssize(visits_), 32, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        for (visit_alone const& v : visits_[static_cast<std::size_t>(k)].records<visit_alone>()) {
          rows_.put(v.walk.index(), v.step, v.vertex);
        }
      }
    });
  }

  void take_answers(std::span<answer const> answers)
  {
    for (answer const& a : answers) {
      std::uint32_t const number = a.waiting_and_yes & ~answer::yes;
      waiting_walker& there = waiting_[number];
      there.known.emplace_back(a.candidate, (a.waiting_and_yes & answer::yes) != 0);
      if (--there.missing == 0) { ready_.push_back(number); }
    }
  }

  void step_here() override
  {
    std::int64_t num_walkers = std::ssize(ready_);
    for (chunk const& c : walkers_) { num_walkers += std::ssize(c.records<walker_alone>()); }
    std::int64_t num_questions = 0;
    for (chunk const& c : questions_) { num_questions += std::ssize(c.records<question>()); }
    // A step makes a walker and a visit, or questions, mostly one.
    begin_messages(2 * num_walkers + num_questions, records_a_chunk<walker_alone>);
    write_records<walker_alone, visit_alone, walk_end, question>(
        std::ssize(walkers_), 4, [&](std::int64_t begin, std::int64_t end, auto&... out) {
          stepper step(*this, {out...});
          for (std::int64_t k = begin; k < end; ++k) {
            for (walker_alone const& w : walkers_[static_cast<std::size_t>(k)].records<walker_alone>()) {
              step.arrive(w);
            }
          }
        });
    write_records<walker_alone, visit_alone, walk_end, question>(
        std::ssize(ready_), 256, [&](std::int64_t begin, std::int64_t end, auto&... out) {
          stepper step(*this, {out...});
          for (std::int64_t k = begin; k < end; ++k) { step.go_on(ready_[static_cast<std::size_t>(k)]); }
        });
    write_records<answer>(std::ssize(questions_), 8, [&](std::int64_t begin, std::int64_t end, auto& answers) {
      for (std::int64_t k = begin; k < end; ++k) {
        for (question const& q : questions_[static_cast<std::size_t>(k)].records<question>()) {
          bool const yes = rows_here_.has_edge(q.previous - setting_.here.first(), q.candidate);
          answers.write(questions_[static_cast<std::size_t>(k)].from(),
                        {q.waiting | (yes ? answer::yes : 0U), q.candidate});
        }
      }
    });
  }

  /// What one task writes.
  struct writers {
    walkers_out& walkers;
    visits_out& visits;
    ends_out& ends;
    questions_out& questions;
  };

  /// Takes the steps of one task's walkers.
  class stepper {
   public:
    stepper(walks_alone& all, writers const& out)
        : all_(all),
          job_(all.job_),
          out_(out),
          next_of_(job_, asking_view<View>(all.setting_.here, all.rows_here_, asked_))
    {
      // Whichever answer is the likelier to settle the step.
      asked_.guess = job_.params->q >= 1;
    }
    ~stepper()
    {
      all_.add_counts(alive_, moved_);
      all_.counts_.steps.fetch_add(steps_, std::memory_order_relaxed);
      all_.counts_.questions.fetch_add(num_questions_, std::memory_order_relaxed);
    }
    stepper(stepper const&) = delete;
    stepper& operator=(stepper const&) = delete;

    /// A walker has come.
    void arrive(walker_alone const& w)
    {
      if (w.vertex == no_vertex) {
        restart(w);
        return;
      }
      all_.note_visit(w.vertex);
      if (w.step == job_.length() || (w.step == 0 && !all_.may_start_at(w.vertex))) {
        all_.note_end(w.vertex);  // it came to be counted
        return;
      }
      if (job_.may_end()) {
        auto const turn = job_.ends.turn(all_.id(w.walk), w.step);
        if (turn == core::walk_turn::stop) {
          end(w, false);
          return;
        }
        if (turn == core::walk_turn::restart) {
          all_.send_walker({w.walk, w.step + 1, no_vertex, no_vertex}, out_.walkers, alive_, moved_);
          return;
        }
      }
      asked_.known = nullptr;
      if (!settle(w)) { ask(all_.add_waiting(w)); }
    }

    /// All that a walker asked is answered.
    void go_on(std::uint32_t number)
    {
      waiting_walker& there = all_.waiting_[number];
      asked_.known = &there.known;
      if (settle(there.walker)) {
        all_.remove_waiting(there);
      } else {
        ask(there);
      }
    }

   private:
    /// A walk of this rank jumps back to its start.
    void restart(walker_alone const& w)
    {
      vertex_id const start = all_.rows_.start(w.walk.index());
      if (all_.keeps_rows()) { all_.rows_.put(w.walk.index(), w.step, start); }
      ++steps_;
      if (all_.goes_on(w.step)) { all_.send_walker({w.walk, w.step, start, no_vertex}, out_.walkers, alive_, moved_); }
    }

    /// Takes the walker's step. @return false if it depends on what is not known: then nothing is sent.
    bool settle(walker_alone const& w)
    {
      asked_.open.clear();
      vertex_id const next = next_of_({all_.id(w.walk), w.step, w.vertex - all_.setting_.here.first(), w.previous});
      if (!asked_.open.empty()) { return false; }
      if (next == no_vertex) {
        end(w, all_.repeats());
        return true;
      }
      ++steps_;
      if (all_.keeps_rows()) { out_.visits.write(w.walk.home(), {w.walk, w.step + 1, next}); }
      if (all_.goes_on(w.step + 1)) {
        all_.send_walker({w.walk, w.step + 1, next, w.vertex}, out_.walkers, alive_, moved_);
      }
      return true;
    }

    /// A walk ends where its walker is.
    void end(walker_alone const& w, bool repeats)
    {
      all_.note_end(w.vertex);
      if (all_.keeps_rows()) { out_.ends.write(w.walk.home(), {w.walk, w.step, repeats ? 1U : 0U}); }
    }

    void ask(waiting_walker& there)
    {
      there.missing = static_cast<std::uint32_t>(asked_.open.size());
      int const to = all_.setting_.here.owner(there.walker.previous);
      for (vertex_id const candidate : asked_.open) {
        out_.questions.write(to, {there.number, there.walker.previous, candidate});
      }
      num_questions_ += std::ssize(asked_.open);
    }

    walks_alone& all_;
    cpu::walk_job const& job_;
    writers out_;
    step_questions asked_;
    cpu::scalar_stepper<asking_view<View>> next_of_;
    std::int64_t alive_ = 0, moved_ = 0, steps_ = 0, num_questions_ = 0;
  };

  [[nodiscard]] std::int64_t waiting() const override { return std::ssize(waiting_) - std::ssize(free_); }

  waiting_walker& add_waiting(walker_alone const& walker)
  {
    std::lock_guard const lock(waiting_lock_);
    if (free_.empty()) {
      auto const number = static_cast<std::uint32_t>(waiting_.size());
      waiting_.push_back({.number = number});
      free_.push_back(number);
    }
    waiting_walker& out = waiting_[free_.back()];
    free_.pop_back();
    out.walker = walker;
    out.known.clear();
    return out;
  }
  void remove_waiting(waiting_walker const& there)
  {
    std::lock_guard const lock(waiting_lock_);
    free_.push_back(there.number);
  }

  cpu::walk_job const& job_;
  View rows_here_;
  std::vector<chunk> walkers_, visits_, questions_;
  std::mutex waiting_lock_;
  std::deque<waiting_walker> waiting_;       // a walker keeps its place: others refer to it by its number
  std::vector<std::uint32_t> free_, ready_;  // numbers
};

}  // namespace

std::unique_ptr<walk_batch_of_ranks> make_walks_alone(walk_setting const& setting, cpu::walk_job const& job,
                                                      superstep_counts& counts, cpu_exec const& exec)
{
  return setting.here.rows.view().visit([&]<class View>(View const& rows) -> std::unique_ptr<walk_batch_of_ranks> {
    return std::make_unique<walks_alone<View>>(setting, job, rows, counts, exec);
  });
}

}  // namespace tendril::dist
