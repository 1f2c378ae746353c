// The front of the CPU's walks: checks arguments, plans, builds tables, picks the executor.

#include <tendril/walk.hpp>

#include <tendril/checked.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "core/random.hpp"
#include "cpu/arguments.hpp"
#include "cpu/walks/job.hpp"
#include "cpu/walks/lane_walk.hpp"
#include "cpu/walks/ragged.hpp"
#include "cpu/walks/scalar_walk.hpp"
#include "cpu/walks/trials.hpp"
#include "plan/planner.hpp"
#include "samplers/walks/walk_checks.hpp"
#include "samplers/walks/walker_state.hpp"

namespace tendril {
namespace {

void check(graph const& graph, walk_params const& params, cpu_exec const& exec)
{
  cpu::check_in_host_memory(graph);
  samplers::check_walk_params(graph, params,
                              [&] { return plan::labels_of(graph, plan::metapath_grouping(params), exec); });
}

/// What the CPU keeps of a planned walk.
struct cpu_walker final : walker::state {
  plan::walk_tables tables;
  cpu::walk_job job;
};

cpu_walker const& on_cpu(walker::state const& state)
{
  TENDRIL_EXPECTS(state.device < 0, "walker: it was made for GPU {}, expected a gpu_exec", state.device);
  return static_cast<cpu_walker const&>(state);
}

void check_batch(cpu::walk_job const& job, std::span<vertex_id const> starts, std::int64_t first_walk)
{
  TENDRIL_EXPECTS(first_walk >= 0, "first_walk: {}, expected 0 or more", first_walk);
  cpu::check_vertices("start", starts, job.graph);
}

/// Walks a batch that is checked.
void walk_as_planned(cpu::walk_job const& job, cpu::walk_batch const& batch, cpu_exec const& exec)
{
  cpu::run_walks(batch.size(), exec, [&](cpu::walk_source& source) {
    if (!cpu::can_interleave(job)) {
      cpu::scalar_walk(job, batch, source);
    } else if (job.second_order) {
      cpu::second_order_walk(job, batch, source);
    } else {
      cpu::first_order_walk(job, batch, source);
    }
  });
}

}  // namespace

namespace cpu {

bool can_interleave(walk_job const& job)
{
  switch (job.plan->rule) {
    case sampling_rule::uniform:
    case sampling_rule::reject: return job.plan->layout != table_layout::online;
    case sampling_rule::alias:
      // Where the bias folds, each step needs the sum of its weights.
      return job.plan->layout == table_layout::table && (job.tables->sums || !job.second_order || !job.bias.folds());
    case sampling_rule::its: return job.plan->layout == table_layout::table && !job.second_order;
    default: return false;
  }
}

walk_job const& job_of(walker const& planned, std::span<vertex_id const> starts, std::int64_t first_walk)
{
  auto const& job = on_cpu(planned.data()).job;
  check_batch(job, starts, first_walk);
  return job;
}

row_maker rows_of(walker const& planned, std::span<vertex_id const> starts, std::int64_t first_walk)
{
  auto const& state = on_cpu(planned.data());
  check_batch(state.job, starts, first_walk);
  samplers::check_ragged(state.params.dead_ends);
  return
      [&whole = state.job, params = state.params, starts, first_walk](
          samplers::walk_slice const& slice, vertex_id* vertices, std::int32_t* lengths, cpu_exec const& exec) mutable {
        params.length = slice.length;
        walk_job job = whole;
        job.params = &params;
        auto const from = starts.subspan(static_cast<std::size_t>(slice.first), static_cast<std::size_t>(slice.size));
        walk_as_planned(job, {from, first_walk + slice.first, vertices, lengths, false}, exec);
      };
}

}  // namespace cpu

walker::walker(graph const& graph, walk_params const& params, std::int64_t expected_walks, cpu_exec const& exec)
{
  check(graph, params, exec);
  auto made = std::make_unique<cpu_walker>();
  auto& s = *made;
  s.input = graph;
  s.params = plan::without_idle_weights(graph, params);
  s.plan = plan::make_walk_plan(graph, s.params, expected_walks, exec);
  s.tables = plan::make_walk_tables(graph, s.params, s.plan, exec);
  s.job = {s.input.view(),
           &s.params,
           &s.plan,
           &s.tables,
           plan::is_second_order(params),
           core::node2vec_bias::of(params.p, params.q),
           core::make_key(params.seed, plan::domain_of(params)),
           core::walk_ends::of(params.seed, params.stop_prob, params.restart_prob)};
  state_ = std::move(made);
}

walks walker::run(std::span<vertex_id const> starts, std::int64_t first_walk, cpu_exec const& exec) const
{
  auto const n = static_cast<std::int64_t>(starts.size());
  std::int64_t const length = state_->params.length;
  walks out{buffer<vertex_id>(checked_product("walks", n, length + 1), *exec.memory),
            buffer<std::int32_t>(n, *exec.memory), n, length};
  run_into(starts, first_walk, out.vertices.data(), out.lengths.data(), exec);
  return out;
}

void walker::run_into(std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices,
                      std::int32_t* lengths, cpu_exec const& exec) const
{
  auto const& job = on_cpu(*state_).job;
  check_batch(job, starts, first_walk);
  walk_as_planned(job, {starts, first_walk, vertices, lengths}, exec);
}

ragged_walks walker::run_ragged(std::span<vertex_id const> starts, std::int64_t first_walk, cpu_exec const& exec) const
{
  auto const make = cpu::rows_of(*this, starts, first_walk);
  return cpu::make_ragged({static_cast<std::int64_t>(starts.size()), state_->params.length, state_->params.stop_prob},
                          make, exec);
}

sampling_plan plan_walk(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                        cpu_exec const& exec)
{
  check(graph, params, exec);
  walk_params const used = plan::without_idle_weights(graph, params);
  sampling_plan plan = plan::make_walk_plan(graph, used, expected_walks, exec);
  if (plan::takes_trials(plan, used)) { plan.expected_trials = cpu::estimate_trials(graph, used, plan, exec); }
  return plan;
}

walks random_walk(graph const& graph, std::span<vertex_id const> starts, walk_params const& params,
                  cpu_exec const& exec, std::int64_t first_walk)
{
  return walker(graph, params, static_cast<std::int64_t>(starts.size()), exec).run(starts, first_walk, exec);
}

}  // namespace tendril
