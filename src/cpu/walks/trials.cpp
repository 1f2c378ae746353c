#include "cpu/walks/trials.hpp"

#include <vector>

#include "base/parallel.hpp"
#include "cpu/walks/scalar_advance.hpp"

namespace tendril::cpu {
namespace {

/// Moves a walker up to its walk's end, or where `length` steps are taken. @param row  [length + 1] Of the walk.
template <class View>
trial_count advance_counting(walk_job const& job, std::int32_t length, scalar_stepper<View>& next_of,
                             walker_position& at, std::vector<vertex_id>& row)
{
  walk_params params = *job.params;
  params.length = length;
  walk_job part = job;
  part.params = &params;
  std::int32_t const from = at.step;
  std::int64_t const before = next_of.num_trials();
  (void)advance(part, next_of, at, row.data(), [](vertex_id) { return true; });
  return {next_of.num_trials() - before, at.step - from};
}

constexpr std::int64_t sampled_edges = 1024;  // a mean of 16,384 steps has an error of some 1 to 2 %
constexpr std::int32_t steps_before = 16;     // until walks are where they stay
constexpr std::int32_t steps_counted = 16;
constexpr rng_key estimate_key{};  // estimates are no samples: all have one seed

/// The vertex that edge e leads from.
std::int64_t source_of(edge_offsets const& first_edges, std::int64_t num_vertices, edge_id e)
{
  std::int64_t low = 0;
  std::int64_t high = num_vertices - 1;
  while (low < high) {  // the last vertex whose edges begin at e or before
    std::int64_t const middle = low + (high - low + 1) / 2;
    bool const begins = first_edges[middle] <= e;
    low = begins ? middle : low;
    high = begins ? high : middle - 1;
  }
  return low;
}

template <class View>
trial_count count_from_edges(walk_job const& job, View const& graph, std::int64_t begin, std::int64_t end)
{
  trial_count out;
  scalar_stepper next_of(job, graph);
  auto const edges = graph.edges();
  std::vector<vertex_id> row(steps_before + steps_counted + 2);
  for (std::int64_t i = begin; i < end; ++i) {
    auto const bits = core::draw_block(estimate_key, static_cast<std::uint64_t>(i), 0, 0).low();
    auto const e = static_cast<edge_id>(core::bounded64(bits, static_cast<std::uint64_t>(edges.num_edges)));
    std::int64_t const u = source_of(edges.first_edges, edges.num_vertices, e);
    row[0] = static_cast<vertex_id>(u);
    row[1] = graph.row(u).neighbor(static_cast<std::uint32_t>(e - edges.first_edges[u]));
    walker_position at{static_cast<std::uint64_t>(i), 1, row[1], row[0]};
    (void)advance_counting(job, 1 + steps_before, next_of, at, row);
    trial_count const counted = advance_counting(job, 1 + steps_before + steps_counted, next_of, at, row);
    out.trials += counted.trials;
    out.steps += counted.steps;
  }
  return out;
}

}  // namespace

trial_count count_trials(walker const& planned, std::span<vertex_id const> starts, std::int64_t first_walk)
{
  walk_job const& job = job_of(planned, starts, first_walk);
  trial_count out;
  std::vector<vertex_id> row(static_cast<std::size_t>(job.length()) + 1);
  job.graph.visit([&](auto const& graph) {
    scalar_stepper next_of(job, graph);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (!job.may_start_at(starts[i])) { continue; }
      row[0] = starts[i];
      walker_position at{static_cast<std::uint64_t>(first_walk) + i, 0, starts[i], no_vertex};
      trial_count const counted = advance_counting(job, job.length(), next_of, at, row);
      out.trials += counted.trials;
      out.steps += counted.steps;
    }
  });
  return out;
}

double estimate_trials(graph const& graph, walk_params const& params, sampling_plan const& plan, cpu_exec const& exec)
{
  if (graph.num_edges() == 0) { return 1; }
  walk_params sampled = params;
  sampled.stop_prob = 0;
  sampling_plan by_sums = plan;
  by_sums.layout = table_layout::online;
  bool const second_order = plan::is_second_order(params);
  plan::walk_tables tables;
  if (params.weighted) {
    tables.statistics = plan::statistics_of(graph, exec);
    if (second_order) {
      tables.sums =
          graph.derived().get(plan::weight_sums_table(), [&] { return plan::make_weight_sums(graph.view(), exec); });
    }
  }
  walk_job const job{graph.view(), &sampled,
                     &by_sums,     &tables,
                     second_order, core::node2vec_bias::of(params.p, params.q),
                     estimate_key, core::walk_ends::of(0, 0, params.restart_prob)};
  std::vector<trial_count> parts(sampled_edges);
  cpu_exec quiet = exec;
  quiet.on_progress = {};
  job.graph.visit([&](auto const& view) {
    base::parallel_ranges(quiet, sampled_edges, 64, [&](std::int64_t begin, std::int64_t end) {
      parts[static_cast<std::size_t>(begin)] = count_from_edges(job, view, begin, end);
    });
  });
  trial_count all;
  for (auto const& part : parts) {
    all.trials += part.trials;
    all.steps += part.steps;
  }
  return all.mean();
}

}  // namespace tendril::cpu
