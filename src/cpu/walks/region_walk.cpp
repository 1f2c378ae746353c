#include "cpu/walks/region_walk.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/walks/row.hpp"
#include "cpu/walks/scalar_advance.hpp"

namespace tendril::cpu {
namespace {

constexpr std::int64_t walkers_a_task = 1024;

}  // namespace

region_walk::region_walk(graph const& input, std::int64_t graph_bytes)
    : pair_(input, graph_bytes), waiting_(static_cast<std::size_t>(pair_.regions().size()))
{
}

void region_walk::let_in(walk_job const& job, walk_batch const& batch)
{
  done_ = 0;
  at_.resize(static_cast<std::size_t>(batch.size()));
  std::int64_t const stride = job.length() + std::int64_t{1};
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    vertex_id const start = batch.starts[static_cast<std::size_t>(i)];
    batch.vertices[i * stride] = start;
    at_[static_cast<std::size_t>(i)] = {static_cast<std::uint64_t>(batch.first_walk + i), 0, start, no_vertex};
    wait_at(pair_.regions().region_of(start), static_cast<std::uint32_t>(i));
  }
}

std::int64_t region_walk::busiest_but(std::int64_t region) const
{
  std::int64_t best = nowhere;
  std::size_t most = 0;
  for (std::int64_t r = 0; r < pair_.regions().size(); ++r) {
    std::size_t const here = waiting_[static_cast<std::size_t>(r)].size();
    if (r == region || here <= most) { continue; }
    most = here;
    best = r;
  }
  return best;
}

std::vector<vertex_id> region_walk::vertices_at(std::int64_t region) const
{
  std::vector<vertex_id> out;
  for (std::uint32_t const walker : waiting_[static_cast<std::size_t>(region)]) { out.push_back(at_[walker].vertex); }
  return out;
}

/// Every walker who waits at a region goes on until it leaves the region, or ends.
void region_walk::go_on(walk_job const& job, graph_view const& graph, walk_batch const& batch, std::int64_t region,
                        cpu_exec const& exec)
{
  std::vector<std::uint32_t> const here = std::exchange(waiting_at(region), {});
  std::int64_t const first = pair_.regions().begin(region);
  std::int64_t const end = pair_.regions().end(region);
  std::int64_t const stride = job.length() + std::int64_t{1};
  std::mutex leaving;
  cpu_exec walking = exec;
  walking.on_progress = {};
  graph.visit([&](auto const& view) {
    base::parallel_ranges(walking, std::ssize(here), walkers_a_task, [&](std::int64_t from, std::int64_t to) {
      scalar_stepper next_of(job, view);
      std::vector<std::uint32_t> away;
      for (std::int64_t k = from; k < to; ++k) {
        std::uint32_t const i = here[static_cast<std::size_t>(k)];
        walker_position& at = at_[i];
        vertex_id* const row = batch.vertices + i * stride;
        auto const stands = at.step == 0 && !job.may_start_at(at.vertex)
                                ? standstill::at_dead_end
                                : advance(job, next_of, at, row, [&](vertex_id v) { return v >= first && v < end; });
        if (stands == standstill::away) {
          away.push_back(i);
          continue;
        }
        close_row(job, batch, row, at.step, stands == standstill::at_dead_end);
        if (batch.lengths != nullptr) { batch.lengths[i] = at.step; }
      }
      std::lock_guard const lock(leaving);
      for (std::uint32_t const i : away) { wait_at(pair_.regions().region_of(at_[i].vertex), i); }
      done_ += to - from - std::ssize(away);
    });
  });
  if (exec.on_progress) { exec.on_progress({"walking", done_, batch.size()}); }
}

void region_walk::run(walk_job const& job, walk_batch const& batch, cpu_exec const& exec)
{
  let_in(job, batch);
  auto const begin_reading = [&](std::int64_t region) {
    if (region != nowhere) { pair_.begin_reading(region, std::ssize(waiting_at(region))); }
  };
  std::int64_t region = busiest_but(nowhere);
  begin_reading(region);
  while (region != nowhere) {
    graph_view const& view = pair_.turn_to(region, vertices_at(region));
    std::int64_t next = busiest_but(region);
    begin_reading(next);
    go_on(job, view, batch, region, exec);
    if (next == nowhere) { next = busiest_but(region); }
    region = next;
  }
}

}  // namespace tendril::cpu
