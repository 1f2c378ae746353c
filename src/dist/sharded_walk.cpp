#include <tendril/sharded_walk.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tendril/checked.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "cpu/walks/custom_steps.hpp"
#include "cpu/walks/lane_walk.hpp"
#include "dist/agreement.hpp"
#include "dist/shard.hpp"
#include "dist/superstep.hpp"

namespace tendril {

namespace dist {
namespace {

constexpr std::int64_t usual_batch_bytes = 128L << 20;
constexpr std::int64_t most_batch_walks = std::int64_t{1}
                                          << 17;  // a step's vertices of as many walks stay in the cache
static_assert(most_batch_walks <= walk_name::max_index);

/// @throws rank_error naming the first rank that differs from rank 0.
void expect_same_walks(transport& ranks, partition_info const& whole, walk_params const& p)
{
  std::array<job_line, 3> const lines{
      wire_line(), graph_line("walks on", whole),
      job_line{"makes", fmt::format("walks of {} steps, weighted {}, stop {}, restart {}, p {}, q {}, second order {}, "
                                    "metapath [{}] of {}, at dead ends {}, rule {}, seed {}",
                                    p.length, p.weighted, p.stop_prob, p.restart_prob, p.p, p.q, p.second_order,
                                    fmt::join(p.metapath, " "), to_string(p.metapath_of), to_string(p.dead_ends),
                                    to_string(p.rule), p.seed)}};
  expect_same(ranks, "what is walked", lines);
}

/// The same for walks that came as text.
void expect_same_walks(transport& ranks, partition_info const& whole, cpu::custom_steps const& steps,
                       dynamic_walk_params const& p)
{
  std::array<job_line, 3> const lines{
      wire_line(), graph_line("walks on", whole),
      job_line{"makes", fmt::format("walks of {} steps by {}, stop {}, restart {}, at dead ends {}, rule {}, seed {}",
                                    p.length, steps.identity(), p.stop_prob, p.restart_prob, to_string(p.dead_ends),
                                    to_string(p.rule), p.seed)}};
  expect_same(ranks, "what is walked", lines);
}

/// Tables of edges are never cut by the types of targets here: a part's own rows don't tell them.
walk_params planned_params(walk_params params)
{
  if (!params.metapath.empty() && params.metapath_of == metapath_kind::vertex_types) { params.table_bytes = 0; }
  return params;
}

/// The two batches of a stream, in turn.
class two_batches {
 public:
  using deliver = std::function<void(std::int64_t round, home_rows& rows)>;
  using starts_of = std::function<std::span<vertex_id const>(std::int64_t round)>;

  two_batches(std::array<std::unique_ptr<walk_batch_of_ranks>, 2> batches, std::int64_t num_rounds)
      : batches_(std::move(batches)), num_rounds_(num_rounds)
  {
  }

  /// @return supersteps of all rounds.
  std::int64_t run(starts_of const& starts, deliver const& give, std::function<void(double rounds)> const& on_step)
  {
    for (std::size_t b = 0; b < 2; ++b) { begin_next(b, starts); }
    while (delivered_ < num_rounds_) {
      for (std::size_t b = 0; b < 2; ++b) {
        if (!is_going_[b]) { continue; }
        walk_batch_of_ranks& batch = *batches_[b];
        if (batch.finish()) {
          batch.step();
          on_step(static_cast<double>(delivered_) + done_share());
          continue;
        }
        supersteps_ += batch.supersteps();
        is_going_[b] = false;
        is_done_[b] = true;
        give_in_order(give, starts);
      }
    }
    return supersteps_;
  }

 private:
  void begin_next(std::size_t b, starts_of const& starts)
  {
    if (next_ >= num_rounds_) { return; }
    batches_[b]->start(next_, starts(next_));
    ++next_;
    is_going_[b] = true;
  }

  /// Batches that end before an earlier one wait for it.
  void give_in_order(deliver const& give, starts_of const& starts)
  {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t b = 0; b < 2; ++b) {
        if (!is_done_[b] || batches_[b]->round() != delivered_) { continue; }
        give(delivered_, batches_[b]->rows());
        ++delivered_;
        is_done_[b] = false;
        begin_next(b, starts);
        again = true;
      }
    }
  }

  [[nodiscard]] double done_share() const
  {
    double out = 0;
    for (std::size_t b = 0; b < 2; ++b) {
      if (is_going_[b]) { out += batches_[b]->done_share(); }
      if (is_done_[b]) { out += 1; }
    }
    return out;
  }

  std::array<std::unique_ptr<walk_batch_of_ranks>, 2> batches_;
  std::array<bool, 2> is_going_{}, is_done_{};
  std::int64_t num_rounds_, next_ = 0, delivered_ = 0, supersteps_ = 0;
};

}  // namespace
}  // namespace dist

struct sharded_walker::state {
  state(graph_part part, transport& all) : ranks(all), here(std::move(part)) {}

  /// Whether the executors of walks that keep step know this walk.
  [[nodiscard]] bool keeps_step(cpu::walk_job const& job) const
  {
    return !job.second_order && job.params->restart_prob == 0 && cpu::can_interleave(job);
  }

  transport& ranks;
  dist::shard here;
  sampling_plan plan;
  std::int32_t length = 0;
  // One of both:
  std::optional<walker> planned;
  std::unique_ptr<cpu::custom_steps> custom;
  bool repeats_dead_ends = false;
};

namespace {

/// A part's rows by the numbers of the whole graph.
engine::part_rows rows_of(dist::shard const& here)
{
  graph_arrays const& rows = here.part.rows;
  engine::part_rows out{rows.indptr.data(),      rows.indices.data(), rows.weights.data(),
                        rows.edge_labels.view(), here.first(),        here.first_edge()};
  if (!out.edge_labels.empty()) {
    auto const* const labels = static_cast<std::byte const*>(out.edge_labels.data);
    out.edge_labels.data = labels - out.first_edge * out.edge_labels.bytes_per_label;
  }
  return out;
}

/// With it, a rank that plans for long is not taken for silent.
cpu_exec beating(cpu_exec const& exec, transport& ranks)
{
  cpu_exec out = exec;
  out.on_progress = [&](progress const& report) {
    if (exec.on_progress) { exec.on_progress(report); }
    ranks.beat();
  };
  return out;
}

}  // namespace

sharded_walker::sharded_walker(graph_part part, walk_params const& params, std::int64_t expected_walks,
                               transport& ranks, cpu_exec const& exec)
{
  dist::expect_own_part(ranks.rank(), ranks.size(), part);
  dist::expect_same_walks(ranks, part.info, params);
  state_ = std::make_unique<state>(std::move(part), ranks);
  state_->planned.emplace(state_->here.rows, dist::planned_params(params), expected_walks / ranks.size(),
                          beating(exec, ranks));
  state_->plan = state_->planned->plan();
  state_->length = static_cast<std::int32_t>(params.length);
}

sharded_walker::sharded_walker(graph_part part, custom_walk const& walk, dynamic_walk_params const& params,
                               transport& ranks, cpu_exec const& exec)
{
  dist::expect_own_part(ranks.rank(), ranks.size(), part);
  state_ = std::make_unique<state>(std::move(part), ranks);
  dist::shard const& here = state_->here;
  state_->custom = std::make_unique<cpu::custom_steps>(walk, params, here.rows, rows_of(here),
                                                       transit_view{here.part.info.num_vertices, here.node_types},
                                                       beating(exec, ranks));
  dist::expect_same_walks(ranks, here.part.info, *state_->custom, params);
  state_->plan.rule = state_->custom->rule();
  state_->length = static_cast<std::int32_t>(params.length);
  state_->repeats_dead_ends = params.dead_ends == dead_end::repeat;
}

sharded_walker::~sharded_walker() = default;
sharded_walker::sharded_walker(sharded_walker&&) noexcept = default;
sharded_walker& sharded_walker::operator=(sharded_walker&&) noexcept = default;

sampling_plan const& sharded_walker::plan() const noexcept { return state_->plan; }

sharded_walk_report sharded_walker::stream(walk_stream_job const& job, cpu_exec const& exec)
{
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  TENDRIL_EXPECTS(job.num_walks >= 0 && job.first_walk >= 0, "{} walks from id {} on, expected neither to be negative",
                  job.num_walks, job.first_walk);
  TENDRIL_EXPECTS(!job.ragged_sink, "ragged walks, expected rows of a graph in parts");
  transport& ranks = state_->ranks;
  transport_report const before = ranks.report();

  std::int64_t const bytes = job.batch_bytes > 0 ? job.batch_bytes : dist::usual_batch_bytes;
  std::int64_t const bytes_a_walk = 8 * (state_->length + std::int64_t{1}) + 8;  // by steps and by walks
  std::int64_t const room = std::clamp<std::int64_t>(bytes / 2 / bytes_a_walk, 1, dist::most_batch_walks);
  std::int64_t const most = ranks.all_reduce("walks of a rank", job.num_walks, reduction::max);
  std::int64_t const batch =
      ranks.all_reduce("walks of a batch", std::clamp<std::int64_t>((most + 1) / 2, 1, room), reduction::min);
  dist::walk_setting setting{state_->here, ranks, state_->length, batch, {}};
  std::string const id(reinterpret_cast<char const*>(&job.first_walk), sizeof job.first_walk);
  for (std::string const& theirs : ranks.all_gather("ids of walks", id)) {
    std::memcpy(&setting.first_ids.emplace_back(), theirs.data(), sizeof(std::int64_t));
  }

  dist::superstep_counts counts;
  std::size_t walker_bytes = sizeof(dist::walker_custom);
  std::function<std::unique_ptr<dist::walk_batch_of_ranks>()> make = [&] {
    return dist::make_custom_walks(setting, *state_->custom, state_->repeats_dead_ends, counts, exec);
  };
  if (state_->planned) {
    cpu::walk_job const& walk = cpu::job_of(*state_->planned, {}, 0);
    // Tables, and so executors, may differ between ranks; records must not.
    std::int64_t const keeps_step = state_->keeps_step(walk) ? 1 : 0;
    bool const in_step = ranks.all_reduce("walks that keep step", keeps_step, reduction::min) != 0;
    walker_bytes = in_step ? sizeof(dist::walker_in_step) : sizeof(dist::walker_alone);
    make = [&setting, &walk, &counts, &exec, in_step] {
      return in_step ? dist::make_walks_in_step(setting, walk, counts, exec)
                     : dist::make_walks_alone(setting, walk, counts, exec);
    };
  }
  std::int64_t const num_rounds = (most + batch - 1) / batch;
  dist::two_batches batches({make(), make()}, num_rounds);
  buffer<vertex_id> starts(batch);
  sharded_walk_report out;
  auto const size_of = [&](std::int64_t round) {
    return std::clamp<std::int64_t>(job.num_walks - round * batch, 0, batch);
  };
  out.supersteps = batches.run(
      [&](std::int64_t round) {
        auto const of_round = starts.span().first(static_cast<std::size_t>(size_of(round)));
        if (!of_round.empty()) { job.starts(round * batch, of_round); }
        for (vertex_id const v : of_round) {
          TENDRIL_EXPECTS(v < state_->here.part.info.num_vertices, "start {}, expected a vertex below {}", v,
                          state_->here.part.info.num_vertices);
        }
        return std::span<vertex_id const>(of_round);
      },
      [&](std::int64_t round, dist::home_rows& rows) {
        auto const vertices = rows.rows(exec);
        for (std::int32_t const steps : rows.lengths()) { out.steps += steps; }
        if (job.sink) { job.sink({round * batch, vertices, rows.lengths()}); }
      },
      [&](double rounds) {
        ranks.beat();
        if (!job.on_progress) { return; }
        double const share = std::min(rounds / static_cast<double>(num_rounds), 1.0);
        job.on_progress(
            {"walking", static_cast<std::int64_t>(share * static_cast<double>(job.num_walks)), job.num_walks});
      });
  out.num_walks = job.num_walks;
  out.steps_here = counts.steps;
  out.moved = counts.moved;
  out.moved_bytes = counts.moved * static_cast<std::int64_t>(walker_bytes);
  out.questions = counts.questions;
  out.sent_bytes = ranks.report().sent_bytes - before.sent_bytes;
  out.waited_seconds = ranks.report().waited_seconds - before.waited_seconds;
  out.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return out;
}

walks sharded_walker::run(std::span<vertex_id const> starts, std::int64_t first_walk, cpu_exec const& exec)
{
  auto const n = static_cast<std::int64_t>(starts.size());
  std::int64_t const width = state_->length + std::int64_t{1};
  walks out{buffer<vertex_id>(checked_product("walks", n, width), *exec.memory), buffer<std::int32_t>(n, *exec.memory),
            n, width - 1};
  walk_stream_job job;
  job.num_walks = n;
  job.first_walk = first_walk;
  job.starts = [&](std::int64_t first, std::span<vertex_id> into) {
    std::copy_n(starts.begin() + first, into.size(), into.begin());
  };
  job.sink = [&](walk_rows const& rows) {
    if (rows.lengths.empty()) { return; }
    std::copy(rows.vertices.begin(), rows.vertices.end(), out.vertices.data() + rows.first * width);
    std::copy(rows.lengths.begin(), rows.lengths.end(), out.lengths.data() + rows.first);
  };
  (void)stream(job, exec);
  return out;
}

}  // namespace tendril
