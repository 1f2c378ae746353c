#include "bench/host_plan.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "dist/partition_bounds.hpp"

namespace tendril::bench {

void expect_plan(options const& o)
{
  for (std::int64_t const hosts : o.hosts) {
    if (hosts < 1 || hosts > max_num_parts) {
      throw argument_error(fmt::format("--simulate: {}, expected numbers of hosts from 1 to {}", hosts, max_num_parts));
    }
  }
  if (!(o.bandwidth > 0) || !std::isfinite(o.bandwidth)) {
    throw argument_error(fmt::format("--bandwidth: {}, expected GB/s above 0", o.bandwidth));
  }
  if (!(o.latency >= 0) || !std::isfinite(o.latency)) {
    throw argument_error(fmt::format("--latency: {}, expected microseconds, 0 or more", o.latency));
  }
}

host_cut cut_for(graph const& whole, std::optional<partition_info> const& folder, std::int64_t hosts,
                 cpu_exec const& exec)
{
  csr_arrays const g = whole.csr();
  std::vector<std::int64_t> const bounds =
      folder && folder->num_parts() == hosts
          ? folder->bounds
          : dist::even_work_bounds(g.num_vertices, hosts, [&](std::int64_t v) { return v + g.first_edge(v); });
  std::int64_t most = 0;
  for (std::size_t p = 0; p + 1 < bounds.size(); ++p) {
    most = std::max(most, g.first_edge(bounds[p + 1]) - g.first_edge(bounds[p]));
  }
  std::atomic<std::int64_t> crossing{0};
  base::parallel_ranges(exec, hosts, 1, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t here = 0;
    for (std::int64_t p = begin; p < end; ++p) {
      std::int64_t const first = bounds[static_cast<std::size_t>(p)], last = bounds[static_cast<std::size_t>(p) + 1];
      for (edge_id e = g.first_edge(first); e < g.first_edge(last); ++e) {
        here += g.indices[e] < first || g.indices[e] >= last ? 1 : 0;
      }
    }
    crossing += here;
  });
  auto const edges = static_cast<double>(g.num_edges);
  return {hosts, static_cast<double>(crossing) / edges, static_cast<double>(most) * static_cast<double>(hosts) / edges};
}

void append_plan(std::vector<row>& rows, std::string const& graph_name, std::vector<planned_walk> const& walks,
                 std::vector<host_cut> const& cuts, std::string const& host, options const& o)
{
  network const given{o.bandwidth * 1e9, o.latency * 1e-6};
  for (planned_walk const& walk : walks) {
    for (host_cut const& cut : cuts) {
      walk_costs const costs = walk.costs(cut.hosts);
      host_plan const p = plan_hosts(costs, given, cut);
      auto const n = static_cast<double>(cut.hosts);
      double const ideal = n * costs.steps_per_second;
      rows.push_back({fmt::format("{}, planned, {} {}{}", walk.name, cut.hosts, host, cut.hosts == 1 ? "" : "s"),
                      graph_name,
                      fmt::format("{:.1f} M steps/s a {}, limited by {}; {:.1f} % of edges cross, busiest {:.2f}, "
                                  "{:.0f} us a superstep, {:.1f} B a step; {} GB/s, {} us",
                                  p.steps_per_second / n / 1e6, host, p.limit, 100 * cut.crossing, cut.busiest,
                                  p.superstep_seconds * 1e6, p.bytes_a_step, o.bandwidth, o.latency),
                      p.steps_per_second, "steps/s", fmt::format("{}s times the rate of one", host), ideal,
                      p.steps_per_second / ideal, o.repeats, p.steps_per_second, p.steps_per_second});
    }
  }
}

row checked_row(std::string job, std::string const& graph_name, double model, double measured, char const* unit,
                int repeats)
{
  double const ratio = model / measured;
  std::string params =
      fmt::format("model {:.1f} {}, measured {:.1f}, error {:+.0f} %", model, unit, measured, 100 * (ratio - 1));
  return {std::move(job), graph_name, std::move(params), ratio, "ratio", "measured", 1, ratio, repeats, ratio, ratio};
}

}  // namespace tendril::bench
