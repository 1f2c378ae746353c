// Walks made on the CPU and consumed at once: while the sink has one batch, the next is made; or counted. GPU twin:
// src/gpu/walks/stream.cpp.

#include <tendril/walk_stream.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <numeric>
#include <optional>
#include <utility>

#include <tendril/checked.hpp>

#include "base/thread_limit.hpp"  // aside
#include "cpu/walks/counts.hpp"
#include "cpu/walks/ragged.hpp"
#include "cpu/walks/region_walk.hpp"
#include "samplers/walks/ragged_stream.hpp"
#include "samplers/walks/stream_checks.hpp"
#include "samplers/walks/walk_checks.hpp"

namespace tendril {
namespace {

constexpr std::int64_t num_slots = 2;                              // one is made, one is in the sink
constexpr std::int64_t most_batch_bytes = std::int64_t{64} << 20;  // of vertices: large against any per-batch cost

using samplers::stopwatch;

void tell(walk_stream_job const& job, cpu_exec const& exec, std::int64_t done)
{
  progress const report{"walking", done, job.num_walks};
  if (job.on_progress) { job.on_progress(report); }
  if (exec.on_progress) { exec.on_progress(report); }
}

/// Consecutive walks.
struct slot {
  buffer<vertex_id> vertices;    ///< [batch, row]
  buffer<std::int32_t> lengths;  ///< [batch]
};

/// Makes walks from starts, into `out` or in its place. @param first  Logical id of the first walk.
using batch_maker =
    std::function<void(std::int64_t first, std::span<vertex_id const> starts, slot& out, cpu_exec const& exec)>;

/// Everything but what a walk is.
class walk_line {
 public:
  walk_line(walk_stream_job const& job, samplers::stream_footprint const& walk, batch_maker make, cpu_exec const& exec)
      : job_(job),
        walk_(walk),
        make_(std::move(make)),
        exec_(exec),
        bytes_a_walk_(num_slots * 4 * (walk.row + 1) + 4 * walk.starts + walk.more_bytes),
        batch_(choose_batch())
  {
  }

  walk_stream_report run()
  {
    stopwatch const whole;
    buffer<vertex_id> starts(checked_product("starts of a batch", batch_, walk_.starts), *exec_.memory);
    std::array<slot, num_slots> slots;
    walk_stream_report report;
    std::future<void> pending;  // its destructor waits for the sink, also when a walk throws
    for (std::int64_t first = 0; first < job_.num_walks; first += batch_) {
      std::int64_t const size = std::min(batch_, job_.num_walks - first);
      auto const from = starts.span().first(static_cast<std::size_t>(size * walk_.starts));
      stopwatch const starting;
      job_.starts(first, from);
      samplers::check_stream_starts(from, first, walk_);
      report.starts_seconds += starting.seconds();

      auto& made = slots[static_cast<std::size_t>(job_.sink ? report.num_batches % num_slots : 0)];
      stopwatch const walking;
      make_(job_.first_walk + first, from, made, reporting(first, size));
      walk_rows const rows = rows_of(made, first, size);
      if (job_.counts) { cpu::count_rows(rows.vertices, rows.lengths, walk_.row, *job_.counts, exec_); }
      report.walk_seconds += walking.seconds();
      report.steps = std::accumulate(rows.lengths.begin(), rows.lengths.end(), report.steps);
      ++report.num_batches;
      tell(job_, exec_, first + size);

      if (!job_.sink) { continue; }
      if (pending.valid()) { pending.get(); }
      pending = std::async(base::aside, [this, rows, &report] {
        stopwatch const sinking;
        job_.sink(rows);
        report.sink_seconds += sinking.seconds();
      });
    }
    if (pending.valid()) { pending.get(); }
    report.num_walks = job_.num_walks;
    report.batch_walks = batch_;
    report.batch_bytes = batch_ * bytes_a_walk_;
    report.seconds = whole.seconds();
    return report;
  }

 private:
  [[nodiscard]] walk_rows rows_of(slot const& made, std::int64_t first, std::int64_t size) const
  {
    return {first, std::span(made.vertices.data(), static_cast<std::size_t>(size * walk_.row)),
            std::span(made.lengths.data(), static_cast<std::size_t>(size))};
  }

  [[nodiscard]] std::int64_t choose_batch() const
  {
    samplers::check_batch_bytes(job_, num_slots, bytes_a_walk_);
    std::int64_t const wanted = most_batch_bytes / 4 / walk_.row;
    std::int64_t const most = job_.batch_bytes > 0 ? job_.batch_bytes / bytes_a_walk_ : wanted;
    return std::clamp<std::int64_t>(std::min(wanted, most), 1, job_.num_walks);
  }

  /// What makes the walks [first, first + size) of the job: it reports how many of all walks are made.
  [[nodiscard]] cpu_exec reporting(std::int64_t first, std::int64_t size) const
  {
    cpu_exec out = exec_;
    out.on_progress = {};
    if (job_.on_progress || exec_.on_progress) {
      out.on_progress = [this, first, size](progress const& report) {
        double const share =
            report.total > 0 ? static_cast<double>(report.done) / static_cast<double>(report.total) : 0;
        tell(job_, exec_, first + static_cast<std::int64_t>(share * static_cast<double>(size)));
      };
    }
    return out;
  }

  walk_stream_job const& job_;
  samplers::stream_footprint walk_;
  batch_maker make_;
  cpu_exec exec_;
  std::int64_t bytes_a_walk_;  // of all slots, and of the one buffer of starts
  std::int64_t batch_;
};

walk_stream_report run(walk_stream_job const& job, samplers::stream_footprint const& walk, batch_maker make,
                       cpu_exec const& exec)
{
  samplers::check_stream(job);
  if (job.num_walks == 0) { return {}; }
  return walk_line(job, walk, std::move(make), exec).run();
}

/// The CPU as a place of ragged streams.
class ragged_place {
 public:
  static constexpr std::launch aside = std::launch::deferred;  // starts come from the calling thread

  ragged_place(walker const& walk, cpu_exec const& exec) : walk_(walk), exec_(exec), slices_(*exec.memory)
  {
    exec_.on_progress = {};
  }

  /// The row, its length and its start; in each slot its vertices and its offset.
  [[nodiscard]] std::int64_t one_bytes(std::int64_t room) const
  {
    return 4 * (room + 1) + 4 + 4 + num_slots * (4 * (room + 1) + 8);
  }

  [[nodiscard]] std::int64_t slice_of(std::int64_t room) const { return cpu::row_slices::size_for(room); }

  /// One batch: the next starts are made when its walks are.
  [[nodiscard]] std::span<vertex_id> starts_of(int, std::int64_t size)
  {
    samplers::make_room(starts_, size, size, *exec_.memory);
    return starts_.span().first(static_cast<std::size_t>(size));
  }

  void upload(int, std::int64_t) {}

  [[nodiscard]] bool make(int, samplers::walk_slice const& slice, std::int64_t first_walk, int k)
  {
    auto& to = slots_[static_cast<std::size_t>(k)];
    samplers::walk_slice const own{0, slice.size, slice.length};
    auto const starts =
        starts_.span().subspan(static_cast<std::size_t>(slice.first), static_cast<std::size_t>(slice.size));
    auto const rows = cpu::rows_of(walk_, starts, first_walk + slice.first);
    samplers::make_room(to.offsets, slice.size + 1, slice.size + 1, *exec_.memory);
    if (!slices_.make(rows, own, walk_.params().length, to.offsets.data(), 0, exec_)) { return false; }
    to.num_walks = slice.size;
    samplers::make_room(to.vertices, to.offsets[slice.size], slice.size * (slice.length + 1), *exec_.memory);
    slices_.cut(own, to.offsets.data(), to.vertices.data(), exec_);
    return true;
  }

  [[nodiscard]] std::pair<std::span<std::int64_t const>, std::span<vertex_id const>> fetch(int k) const
  {
    auto const& from = slots_[static_cast<std::size_t>(k)];
    return {from.offsets.span().first(static_cast<std::size_t>(from.num_walks + 1)),
            from.vertices.span().first(static_cast<std::size_t>(from.offsets[from.num_walks]))};
  }

 private:
  struct ragged_slot {
    buffer<std::int64_t> offsets;
    buffer<vertex_id> vertices;
    std::int64_t num_walks = 0;
  };

  walker const& walk_;
  cpu_exec exec_;
  cpu::row_slices slices_;
  buffer<vertex_id> starts_;
  std::array<ragged_slot, num_slots> slots_;
};

walk_stream_report run_ragged(walker const& walk, walk_stream_job const& job, cpu_exec const& exec)
{
  samplers::check_stream(job);
  samplers::check_ragged(walk.params().dead_ends);
  if (job.num_walks == 0) { return {}; }
  ragged_place place(walk, exec);
  return samplers::stream_ragged(job, {job.num_walks, walk.params().length, walk.params().stop_prob},
                                 {"start", walk.input().num_vertices(), 1, walk.params().length + 1}, {}, place,
                                 [&](std::int64_t done) { tell(job, exec, done); });
}

}  // namespace

walk_stream_report stream_walks(walker const& walk, walk_stream_job const& job, cpu_exec const& exec)
{
  if (job.ragged_sink) { return run_ragged(walk, job, exec); }
  if (job.counts) { samplers::check_counts(*job.counts, walk.input().num_vertices()); }
  std::int64_t const row = walk.params().length + 1;
  std::optional<cpu::region_walk> by_regions;
  if (job.graph_bytes > 0) { by_regions.emplace(walk.input(), job.graph_bytes); }
  auto const make = [&](std::int64_t first, std::span<vertex_id const> starts, slot& out, cpu_exec const& walking) {
    if (out.lengths.empty()) {  // the first batch of a slot is as large as any that follows
      auto const size = static_cast<std::int64_t>(starts.size());
      out.vertices = buffer<vertex_id>(checked_product("walks of a batch", size, row), *exec.memory);
      out.lengths = buffer<std::int32_t>(size, *exec.memory);
    }
    if (!by_regions) { return walk.run_into(starts, first, out.vertices.data(), out.lengths.data(), walking); }
    by_regions->run(cpu::job_of(walk, starts, first), {starts, first, out.vertices.data(), out.lengths.data()},
                    walking);
  };
  auto report =
      run(job, {"start", walk.input().num_vertices(), 1, row, by_regions ? cpu::region_walk::waiting_bytes : 0}, make,
          exec);
  if (by_regions) { report.read_bytes = by_regions->read_bytes(); }
  return report;
}

walk_stream_report stream_multidim_walks(graph const& graph, std::int64_t num_roots, multidim_params const& params,
                                         walk_stream_job const& job, cpu_exec const& exec)
{
  samplers::check_rows_only(job);
  (void)multidim_walk(graph, {}, num_roots, params, exec, 0);  // checks the parameters before sizes are made of them
  auto const make = [&](std::int64_t first, std::span<vertex_id const> starts, slot& out, cpu_exec const& walking) {
    auto made = multidim_walk(graph, starts, num_roots, params, walking, first);
    out = {std::move(made.vertices), std::move(made.lengths)};
  };
  samplers::stream_footprint const walk{"root", graph.num_vertices(), num_roots, num_roots + params.length,
                                        4 * params.length};
  return run(job, walk, make, exec);
}

}  // namespace tendril
