// One batch of walks of all ranks, superstep by superstep: what walks that keep step and walks that go alone have in common. The
// vertices of walks go home, into rows; or they are counted where they are, so that walkers go to the rank of their vertex after
// their last step, too.

#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/transport.hpp>

#include "base/parallel.hpp"
#include "cpu/walks/counts.hpp"
#include "cpu/walks/job.hpp"
#include "cpu/walks/part_steps.hpp"
#include "dist/home_rows.hpp"
#include "dist/records.hpp"
#include "dist/shard.hpp"

namespace tendril::dist {

/// Walks of a rank in one batch, at most. A step's records of 2^13 walkers stay in a core's cache; with many ranks each thread still
/// fills a few chunks for each of them.
/// @param walking  Mean share of a batch's walkers that have not ended yet. 0: not known; then batches are as large as they get, since
///                 one with few walkers left takes as many supersteps as a full one.
[[nodiscard]] constexpr std::int64_t most_batch_walks(int threads, std::int64_t ranks, double walking)
{
  constexpr std::int64_t in_cache = std::int64_t{1} << 13, in_chunks = std::int64_t{1} << 11,
                         most = std::int64_t{1} << 17;  // a step's vertices of as many stay in the cache of all cores
  static_assert(most <= walk_name::max_index);
  auto const walkers = static_cast<double>(threads * std::max(in_cache, in_chunks * std::min(ranks, most)));
  return walkers < static_cast<double>(most) * walking ? static_cast<std::int64_t>(walkers / walking) : most;
}

/// That share of walks of so many steps, where nothing but chance may end them.
[[nodiscard]] inline double walking_share(std::int64_t length, double stop_prob)
{
  if (stop_prob == 0 || length == 0) { return 1; }
  auto const steps = static_cast<double>(length);
  double const ended = -std::expm1(steps * std::log1p(-stop_prob));  // before the last step
  return (1 - stop_prob) * ended / (stop_prob * steps);
}

/// What both batches of a stream share.
struct walk_setting {
  shard const& here;
  transport& ranks;
  std::int32_t length;                  ///< Steps of a whole walk.
  std::int64_t batch_walks;             ///< Of each rank, at most.
  std::vector<std::int64_t> first_ids;  ///< [ranks]: the logical id of each rank's first walk.
  std::optional<walk_counts> counts;    ///< Of this rank's vertices; or none: walks have rows.
};

/// What a rank did in all supersteps.
struct superstep_counts {
  std::atomic<std::int64_t> steps{0}, moved{0}, questions{0};
};

/// A batch of up to `batch_walks` walks of each rank. start, then finish and step in turn until nobody is alive.
class walk_batch_of_ranks {
 public:
  walk_batch_of_ranks(walk_setting const& setting, superstep_counts& counts, cpu_exec const& exec)
      : setting_(setting),
        counts_(counts),
        exec_(exec),
        rows_(setting.batch_walks, setting.counts ? 0 : setting.length, *exec.memory),
        visit_counts_(setting.counts ? setting.counts->visits : std::span<std::int64_t>(), base::num_threads(exec) > 1),
        end_counts_(setting.counts ? setting.counts->ends : std::span<std::int64_t>(), base::num_threads(exec) > 1),
        rank_(setting.ranks.rank()),
        messages_(static_cast<std::size_t>(setting.ranks.size()))
  {
  }
  virtual ~walk_batch_of_ranks() = default;

  /// Sends walkers to the ranks that have their starts. @param starts  Of this rank's walks of the round.
  void start(std::int64_t round, std::span<vertex_id const> starts);

  /// Waits for what others sent. @return whether any walker of any rank is alive.
  [[nodiscard]] bool finish();

  /// Lets all walkers that are here take a step, and sends them on.
  void step();

  [[nodiscard]] std::int64_t round() const { return round_; }
  [[nodiscard]] std::int64_t supersteps() const { return supersteps_; }  ///< Of this round.
  /// A guess at how much of the round is done.
  [[nodiscard]] double done_share() const
  {
    return std::min(1.0, static_cast<double>(supersteps_) / static_cast<double>(setting_.length));
  }
  [[nodiscard]] home_rows& rows() { return rows_; }  ///< Of walks that are counted, starts alone.

 protected:
  virtual void start_here(std::span<vertex_id const> starts) = 0;
  /// Takes in what came: `chunks` lie in messages that live until `step_here` has returned.
  virtual void take_in(std::span<chunk const> chunks) = 0;
  virtual void step_here() = 0;
  /// Walkers at this rank that are in no message.
  [[nodiscard]] virtual std::int64_t waiting() const { return 0; }

  [[nodiscard]] std::uint64_t id(walk_name walk) const
  {
    return static_cast<std::uint64_t>(first_ids_[static_cast<std::size_t>(walk.home())] + walk.index());
  }
  [[nodiscard]] int rank() const { return rank_; }

  /// Prepares messages for so many records of all kinds, of which a chunk holds `a_chunk`.
  void begin_messages(std::int64_t num_records, std::int64_t a_chunk);

  /// Calls f(begin, end, writers…) for ranges that cover [0, size), on the threads of exec, each with writers of its own.
  template <class... Records, class F>
  void write_records(std::int64_t size, std::int64_t grain, F f)
  {
    std::int64_t const ranges = (size + grain - 1) / grain;
    int const threads = static_cast<int>(std::clamp<std::int64_t>(ranges, 1, base::num_threads(exec_)));
    std::atomic<std::int64_t> next{0};
    base::exception_keeper keeper;
    base::run_team(threads, [&](int) {
      keeper.run([&] {
        std::tuple<record_writer<Records>...> writers(outgoing_of<Records>()...);
        while (!keeper.failed()) {
          std::int64_t const begin = next.fetch_add(grain, std::memory_order_relaxed);
          if (begin >= size) { return; }
          base::check_cancel(exec_);
          f(begin, std::min(begin + grain, size), std::get<record_writer<Records>>(writers)...);
        }
      });
    });
    keeper.rethrow();
  }

  [[nodiscard]] bool keeps_rows() const { return !setting_.counts; }
  /// Whether a walker goes to the rank of its vertex after so many steps.
  [[nodiscard]] bool goes_on(std::int32_t steps) const { return steps < setting_.length || !keeps_rows(); }
  /// A walker has come to this rank's vertex v, or its walk has ended there: that counts, where walks are counted.
  void note_visit(vertex_id v) const { visit_counts_.add(v - setting_.here.first()); }
  void note_end(vertex_id v) const { end_counts_.add(v - setting_.here.first()); }

  /// A walker goes to rank `to`, or stays.
  void count_walker(int to, std::int64_t& alive, std::int64_t& moved) const
  {
    ++alive;
    moved += to != rank() ? 1 : 0;
  }
  void add_counts(std::int64_t alive, std::int64_t moved)
  {
    alive_.fetch_add(alive, std::memory_order_relaxed);
    counts_.moved.fetch_add(moved, std::memory_order_relaxed);
  }

  /// Takes in ends of walks of this rank.
  void take_ends(std::span<walk_end const> ends);

  walk_setting const& setting_;
  superstep_counts& counts_;
  cpu_exec const& exec_;
  home_rows rows_;
  cpu::vertex_counter visit_counts_, end_counts_;  // by rows of the part; of nothing where walks have rows

 private:
  template <class>
  [[nodiscard]] std::span<outgoing> outgoing_of()
  {
    return messages_;
  }
  void send();

  int rank_;
  std::vector<std::int64_t> first_ids_;  // [ranks]: of this round
  std::vector<outgoing> messages_;       // [ranks]
  std::vector<message> arrived_;
  std::vector<chunk> chunks_;
  transport::call_number call_ = 0;
  std::int64_t round_ = 0, supersteps_ = 0;
  std::atomic<std::int64_t> alive_{0};  // walkers that this superstep wrote
};

/// First-order walks: all walkers have taken as many steps, so that a walker is 8 bytes, and the interleaved executors of
/// src/cpu/walks take the steps.
[[nodiscard]] std::unique_ptr<walk_batch_of_ranks> make_walks_in_step(walk_setting const& setting,
                                                                      cpu::walk_job const& job,
                                                                      superstep_counts& counts, cpu_exec const& exec);

/// Every walk of walk_params: walkers that wait for answers of other ranks fall behind.
[[nodiscard]] std::unique_ptr<walk_batch_of_ranks> make_walks_alone(walk_setting const& setting,
                                                                    cpu::walk_job const& job, superstep_counts& counts,
                                                                    cpu_exec const& exec);

/// Dynamic walks. @param repeats  Rows repeat the vertex of a dead end.
[[nodiscard]] std::unique_ptr<walk_batch_of_ranks> make_dynamic_walks(walk_setting const& setting,
                                                                      cpu::part_steps const& steps, bool repeats,
                                                                      superstep_counts& counts, cpu_exec const& exec);

}  // namespace tendril::dist
