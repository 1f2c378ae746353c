// The front of the CPU's walks: checks arguments, plans, builds tables, picks the executor.

#include <tendril/walk.hpp>

#include <atomic>

#include "core/random.hpp"
#include "cpu/arguments.hpp"
#include "cpu/lane_walk.hpp"
#include "cpu/scalar_walk.hpp"
#include "cpu/walk_job.hpp"
#include "plan/planner.hpp"
#include "store/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {
namespace {

void check_probability(char const* name, double p)
{
  TENDRIL_EXPECTS(p >= 0 && p <= 1, "{}: {}, expected a probability in [0, 1]", name, p);
}

void check_bias(char const* name, double value)
{
  TENDRIL_EXPECTS(value >= 1e-9 && value <= 1e9, "{}: {}, expected a number from 1e-9 to 1e9", name, value);
}

void check_metapath(graph const& graph, walk_params const& params, cpu_exec const& exec)
{
  if (params.metapath.empty()) { return; }
  bool const of_edges = params.metapath_of == metapath_kind::edge_labels;
  TENDRIL_EXPECTS(params.p == 1 && params.q == 1 && !params.second_order,
                  "metapath: can't be combined with p and q, expected one of the two");
  TENDRIL_EXPECTS(of_edges ? graph.has_edge_labels() : graph.has_node_types(),
                  "metapath: the graph has no {}, expected one {}", of_edges ? "edge labels" : "vertex types",
                  of_edges ? "an edge" : "a vertex");
  auto const in_use = plan::labels_of(graph, plan::metapath_grouping(params), exec);
  for (std::size_t i = 0; i < params.metapath.size(); ++i) {
    label_id const label = params.metapath[i];
    TENDRIL_EXPECTS(label < in_use->size() && (*in_use)[label] != 0, "metapath: no {} has {} {} (entry {})",
                    of_edges ? "edge" : "vertex", of_edges ? "label" : "type", label, i);
  }
}

void check(graph const& graph, walk_params const& params, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(params.length >= 1 && params.length <= 0x7ffffffe, "length: {}, expected 1 to 2147483646 steps",
                  params.length);
  check_bias("p", params.p);
  check_bias("q", params.q);
  check_probability("stop_prob", params.stop_prob);
  check_probability("restart_prob", params.restart_prob);
  cpu::check_weighted(params.weighted, graph);
  check_metapath(graph, params, exec);
}

core::domain domain_of(walk_params const& params)
{
  if (!params.metapath.empty()) { return core::domain::metapath_walk; }
  return plan::is_second_order(params) ? core::domain::second_order_walk : core::domain::first_order_walk;
}

}  // namespace

namespace cpu {

bool can_interleave(walk_job const& job)
{
  switch (job.plan->rule) {
    case sampling_rule::uniform:
    case sampling_rule::reject: return job.plan->layout != table_layout::online;
    case sampling_rule::alias: return job.plan->layout == table_layout::table;
    default: return false;
  }
}

}  // namespace cpu

struct walker::state {
  graph input;
  walk_params params;
  sampling_plan plan;
  plan::walk_tables tables;
  cpu::walk_job job;
};

walker::walker(graph const& graph, walk_params const& params, std::int64_t expected_walks, cpu_exec const& exec)
    : state_(std::make_unique<state>())
{
  check(graph, params, exec);
  auto& s = *state_;
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
           core::make_key(params.seed, domain_of(params)),
           core::make_key(params.seed, core::domain::walk_end),
           core::probability::of(params.stop_prob),
           core::probability::of(params.restart_prob)};
}

walker::~walker() = default;
walker::walker(walker&&) noexcept = default;
walker& walker::operator=(walker&&) noexcept = default;

sampling_plan const& walker::plan() const noexcept { return state_->plan; }
walk_params const& walker::params() const noexcept { return state_->params; }

walks walker::run(std::span<vertex_id const> starts, std::int64_t first_walk, cpu_exec const& exec) const
{
  auto const n = static_cast<std::int64_t>(starts.size());
  std::int64_t const length = state_->params.length;
  walks out{buffer<vertex_id>(n * (length + 1), *exec.memory), buffer<std::int32_t>(n, *exec.memory), n, length};
  run_into(starts, first_walk, out.vertices.data(), out.lengths.data(), exec);
  return out;
}

void walker::run_into(std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices,
                      std::int32_t* lengths, cpu_exec const& exec) const
{
  auto const& job = state_->job;
  TENDRIL_EXPECTS(first_walk >= 0, "first_walk: {}, expected 0 or more", first_walk);
  cpu::check_vertices("start", starts, job.graph);
  cpu::walk_batch const batch{starts, first_walk, vertices, lengths};
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

sampling_plan plan_walk(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                        cpu_exec const& exec)
{
  check(graph, params, exec);
  return plan::make_walk_plan(graph, plan::without_idle_weights(graph, params), expected_walks, exec);
}

walks random_walk(graph const& graph, std::span<vertex_id const> starts, walk_params const& params,
                  cpu_exec const& exec, std::int64_t first_walk)
{
  return walker(graph, params, static_cast<std::int64_t>(starts.size()), exec).run(starts, first_walk, exec);
}

}  // namespace tendril
