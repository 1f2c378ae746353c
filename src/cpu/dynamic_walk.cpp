// What dynamic walks on the CPU have in the library; the walking itself is engine/dynamic_walk_cpu.hpp.

#include <tendril/engine/dynamic_support.hpp>

#include "cpu/arguments.hpp"    // check_vertices
#include "cpu/walk_source.hpp"  // run_walks
#include "plan/planner.hpp"     // statistics_of
#include "store/expects.hpp"    // TENDRIL_EXPECTS

namespace tendril::engine {

void check_starts(graph_view const& graph, std::span<vertex_id const> starts, std::int64_t first_walk)
{
  TENDRIL_EXPECTS(first_walk >= 0, "first_walk: {}, expected 0 or more", first_walk);
  cpu::check_vertices("start", starts, graph);
}

std::shared_ptr<buffer<float> const> largest_weights(graph const& graph, cpu_exec const& exec)
{
  if (!graph.has_weights()) { return nullptr; }
  auto const statistics = plan::statistics_of(graph, exec);
  return {statistics, &statistics->largest};
}

void for_each_run(std::int64_t size, cpu_exec const& exec, std::function<void(std::int64_t, std::int64_t)> const& work)
{
  cpu::run_walks(size, exec, [&](cpu::walk_source& source) {
    for (std::int64_t i = source.next(); i >= 0; i = source.next()) { work(i, i + 1); }
  });
}

}  // namespace tendril::engine
