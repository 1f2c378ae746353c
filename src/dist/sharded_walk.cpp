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

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // num_threads
#include "cpu/walks/lane_walk.hpp"
#include "cpu/walks/part_steps.hpp"
#include "dist/agreement.hpp"
#include "dist/shard.hpp"
#include "dist/superstep.hpp"
#include "plan/whole_graph.hpp"
#include "samplers/two_batches.hpp"
#include "samplers/walks/gpu_ranks.hpp"
#include "samplers/walks/stream_checks.hpp"

namespace tendril {

namespace dist {
namespace {

constexpr std::int64_t usual_batch_bytes = 128L << 20;

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

/// The same for dynamic walks. @param walk  What its struct is.
void expect_same_walks(transport& ranks, partition_info const& whole, std::string const& walk,
                       dynamic_walk_params const& p)
{
  std::array<job_line, 3> const lines{
      wire_line(), graph_line("walks on", whole),
      job_line{"makes",
               fmt::format("walks of {} steps by {}, stop {}, restart {}, at dead ends {}, rule {}, seed {}", p.length,
                           walk, p.stop_prob, p.restart_prob, to_string(p.dead_ends), to_string(p.rule), p.seed)}};
  expect_same(ranks, "what is walked", lines);
}

}  // namespace
}  // namespace dist

struct sharded_walker::state {
  state(graph_part part, transport& all) : ranks(all), here(std::move(part)) {}

  /// Whether the executors of walks that keep step know this walk.
  [[nodiscard]] bool keeps_step(cpu::walk_job const& job) const
  {
    return !job.second_order && job.params->restart_prob == 0 && cpu::can_interleave(job);
  }

  /// A job that has passed its checks, on the GPU or on CPUs.
  sharded_walk_report stream(walk_stream_job const& job, cpu_exec const& exec);

  transport& ranks;
  dist::shard here;
  sampling_plan plan;
  std::int32_t length = 0;
  // One of these:
  std::optional<walker> planned;
  std::unique_ptr<cpu::part_steps> dynamic;
  std::unique_ptr<samplers::walk_on_gpu_ranks> on_gpu;
  bool repeats_dead_ends = false;
  double walking = 0;  ///< As of dist::most_batch_walks.
};

namespace {

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
  ranks.or_refuse([&] { dist::expect_own_part(ranks.rank(), ranks.size(), part); });
  dist::expect_same_walks(ranks, part.info, params);
  state_ = std::make_unique<state>(std::move(part), ranks);
  state_->planned.emplace(state_->here.rows, plan::walk_on_parts(params), expected_walks / ranks.size(),
                          beating(exec, ranks));
  state_->plan = state_->planned->plan();
  // Walks of a symmetric graph that have begun find no dead end.
  if (state_->here.part.info.symmetric && params.metapath.empty()) {
    state_->walking = dist::walking_share(params.length, params.stop_prob);
  }
  state_->length = static_cast<std::int32_t>(params.length);
}

sharded_walker::sharded_walker(graph_part part, walk_params const& params, std::int64_t expected_walks,
                               transport& ranks, gpu_exec const& exec)
{
  ranks.or_refuse([&] { dist::expect_own_part(ranks.rank(), ranks.size(), part); });
  dist::expect_same_walks(ranks, part.info, params);
  state_ = std::make_unique<state>(std::move(part), ranks);
  state_->on_gpu =
      samplers::make_walk_on_gpu_ranks(state_->here.part, state_->here.rows, params, expected_walks, ranks, exec);
  state_->plan = state_->on_gpu->plan();
  state_->length = static_cast<std::int32_t>(params.length);
}

std::unique_ptr<sharded_walker::state> sharded_walker::dynamic_state(
    graph_part part, std::function<part_walk(graph_form)> const& walk_of, dynamic_walk_params const& params,
    transport& ranks, cpu_exec const& exec)
{
  std::unique_ptr<state> out;
  std::string identity;
  ranks.or_refuse([&] {
    dist::expect_own_part(ranks.rank(), ranks.size(), part);
    out = std::make_unique<state>(std::move(part), ranks);
    dist::shard const& here = out->here;
    part_walk walk = walk_of(here.rows.form());
    identity = walk.identity;
    out->dynamic = std::make_unique<cpu::part_steps>(
        std::move(walk), params, here.rows, cpu::part_begin{here.first(), here.first_edge()},
        transit_view{here.part.info.num_vertices, here.node_types}, beating(exec, ranks));
  });
  dist::expect_same_walks(ranks, out->here.part.info, identity, params);
  out->plan.rule = out->dynamic->rule();
  out->length = static_cast<std::int32_t>(params.length);
  out->repeats_dead_ends = params.dead_ends == dead_end::repeat;
  return out;
}

sharded_walker::sharded_walker(graph_part part, custom_walk const& walk, dynamic_walk_params const& params,
                               transport& ranks, cpu_exec const& exec)
    : state_(dynamic_state(
          std::move(part), [&](graph_form form) { return cpu::part_walk_of_text(walk, form); }, params, ranks, exec))
{
}

sharded_walker::sharded_walker(graph_part part, part_walk walk, dynamic_walk_params const& params, transport& ranks,
                               cpu_exec const& exec)
    : state_(dynamic_state(
          std::move(part), [&](graph_form) { return std::move(walk); }, params, ranks, exec))
{
}

sharded_walker::sharded_walker(graph_part part, custom_walk const& walk, dynamic_walk_params const& params,
                               transport& ranks, gpu_exec const& exec)
{
  ranks.or_refuse([&] {
    dist::expect_own_part(ranks.rank(), ranks.size(), part);
    validate(params);
  });
  dist::expect_same_walks(ranks, part.info, cpu::identity_of(walk), params);
  state_ = std::make_unique<state>(std::move(part), ranks);
  state_->on_gpu = samplers::make_walk_on_gpu_ranks(state_->here.part, state_->here.rows, walk, params, ranks, exec);
  state_->plan = state_->on_gpu->plan();
  state_->length = static_cast<std::int32_t>(params.length);
}

sharded_walker::~sharded_walker() = default;
sharded_walker::sharded_walker(sharded_walker&&) noexcept = default;
sharded_walker& sharded_walker::operator=(sharded_walker&&) noexcept = default;

sampling_plan const& sharded_walker::plan() const noexcept { return state_->plan; }

sharded_walk_report sharded_walker::state::stream(walk_stream_job const& job, cpu_exec const& exec)
{
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  std::array<dist::job_line, 1> const keeps{{{"keeps", job.counts ? "counts of walks" : "rows of walks"}}};
  dist::expect_same(ranks, "what is kept of walks", keeps);
  if (on_gpu) { return on_gpu->stream(job); }
  transport_report const before = ranks.report();

  std::int64_t const bytes = job.batch_bytes > 0 ? job.batch_bytes : dist::usual_batch_bytes;
  std::int64_t const kept = job.counts ? 0 : length;
  std::int64_t const bytes_a_walk = 8 * (kept + 1) + 8;  // by steps and by walks
  std::int64_t const room = std::clamp<std::int64_t>(
      bytes / 2 / bytes_a_walk, 1, dist::most_batch_walks(base::num_threads(exec), ranks.size(), walking));
  samplers::rank_rounds const rounds = samplers::agree_on_rounds(ranks, job.num_walks, job.first_walk, room);
  dist::walk_setting const setting{here, ranks, length, rounds.batch, rounds.first_ids, job.counts};

  dist::superstep_counts counts;
  std::size_t walker_bytes = sizeof(dist::walker_dynamic);
  std::function<std::unique_ptr<dist::walk_batch_of_ranks>()> make = [&] {
    return dist::make_dynamic_walks(setting, *dynamic, repeats_dead_ends, counts, exec);
  };
  if (planned) {
    cpu::walk_job const& walk = cpu::job_of(*planned, {}, 0);
    // Tables, and so executors, may differ between ranks; records must not.
    bool const in_step = ranks.all_reduce("walks that keep step", keeps_step(walk) ? 1 : 0, reduction::min) != 0;
    walker_bytes = in_step ? sizeof(dist::walker_in_step) : sizeof(dist::walker_alone);
    make = [&setting, &walk, &counts, &exec, in_step] {
      return in_step ? dist::make_walks_in_step(setting, walk, counts, exec)
                     : dist::make_walks_alone(setting, walk, counts, exec);
    };
  }
  std::array const two{make(), make()};
  samplers::two_batches<dist::walk_batch_of_ranks> batches({two[0].get(), two[1].get()}, rounds.num_rounds);
  buffer<vertex_id> starts(rounds.batch);
  sharded_walk_report out;
  out.supersteps = batches.run(
      [&](dist::walk_batch_of_ranks& batch, std::int64_t round) {
        auto const of_round = starts.span().first(static_cast<std::size_t>(rounds.size_of(round)));
        if (!of_round.empty()) { job.starts(round * rounds.batch, of_round); }
        dist::expect_vertices("start", of_round, here.part.info, round * rounds.batch);
        batch.start(round, of_round);
      },
      [&](dist::walk_batch_of_ranks& batch) {
        if (job.counts) { return; }
        dist::home_rows& rows = batch.rows();
        auto const vertices = rows.rows(exec);
        for (std::int32_t const steps : rows.lengths()) { out.steps += steps; }
        if (job.sink) { job.sink({batch.round() * rounds.batch, vertices, rows.lengths()}); }
      },
      samplers::tell_progress(ranks, rounds, job.on_progress));
  out.num_walks = job.num_walks;
  out.steps_here = counts.steps;
  if (job.counts) { out.steps = counts.steps; }
  out.moved = counts.moved;
  out.moved_bytes = counts.moved * static_cast<std::int64_t>(walker_bytes);
  out.questions = counts.questions;
  out.sent_bytes = ranks.report().sent_bytes - before.sent_bytes;
  out.waited_seconds = ranks.report().waited_seconds - before.waited_seconds;
  out.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return out;
}

namespace {

void expect_ids(std::int64_t num_walks, std::int64_t first_walk)
{
  TENDRIL_EXPECTS(num_walks >= 0 && first_walk >= 0, "{} walks from id {} on, expected neither to be negative",
                  num_walks, first_walk);
}

}  // namespace

sharded_walk_report sharded_walker::stream(walk_stream_job const& job, cpu_exec const& exec)
{
  return dist::checked_call(
      &state_->ranks,
      [&] {
        expect_ids(job.num_walks, job.first_walk);
        TENDRIL_EXPECTS(!job.ragged_sink, "ragged walks, expected rows of a graph in parts");
        TENDRIL_EXPECTS(!job.sink || !job.counts, "walk_stream_job: sink and counts, expected one of them");
        if (job.counts) { samplers::check_counts(*job.counts, state_->here.part.num_vertices()); }
      },
      [&] { return state_->stream(job, exec); });
}

walks sharded_walker::run(std::span<vertex_id const> starts, std::int64_t first_walk, cpu_exec const& exec)
{
  auto const n = std::ssize(starts);
  std::int64_t const width = state_->length + std::int64_t{1};
  walks out;
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
  return dist::checked_call(
      &state_->ranks,
      [&] {
        TENDRIL_EXPECTS(!state_->on_gpu, "sharded_walker: it was made for a GPU, expected a gpu_exec");
        expect_ids(n, first_walk);
        dist::expect_vertices("start", starts, state_->here.part.info);
        out = {buffer<vertex_id>(checked_product("walks", n, width), *exec.memory),
               buffer<std::int32_t>(n, *exec.memory), n, width - 1};
      },
      [&] {
        (void)state_->stream(job, exec);
        return std::move(out);
      });
}

walks sharded_walker::run(std::span<vertex_id const> starts, std::int64_t first_walk, gpu_exec const& exec)
{
  return dist::checked_call(
      &state_->ranks,
      [&] {
        TENDRIL_EXPECTS(state_->on_gpu, "sharded_walker: it was made for the CPU, expected a cpu_exec");
        TENDRIL_EXPECTS(first_walk >= 0, "first_walk: {}, expected 0 or more", first_walk);
      },
      [&] { return state_->on_gpu->run(starts, first_walk, exec); });
}

}  // namespace tendril
