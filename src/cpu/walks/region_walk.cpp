#include "cpu/walks/region_walk.hpp"

#include <algorithm>
#include <future>
#include <mutex>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/walks/row.hpp"
#include "cpu/walks/scalar_advance.hpp"

namespace tendril::cpu {
namespace {

constexpr std::int64_t walkers_a_task = 1024;
// What the system reads around a page that is missing, and about what a disk reads in order in the time of such a read.
constexpr std::int64_t bytes_a_missing_page = std::int64_t{64} << 10U;

}  // namespace

region_walk::region_walk(graph const& input, std::int64_t graph_bytes)
    : regions_(input, graph_bytes / 2),
      memory_{region_memory(regions_), region_memory(regions_)},
      waiting_(static_cast<std::size_t>(regions_.size()))
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
    wait_at(regions_.region_of(start), static_cast<std::uint32_t>(i));
  }
}

std::int64_t region_walk::busiest_but(std::int64_t region) const
{
  std::int64_t best = nowhere;
  std::size_t most = 0;
  for (std::int64_t r = 0; r < regions_.size(); ++r) {
    std::size_t const here = waiting_[static_cast<std::size_t>(r)].size();
    if (r == region || here <= most) { continue; }
    most = here;
    best = r;
  }
  return best;
}

bool region_walk::pays_to_read(std::int64_t region) const
{
  auto const walkers = static_cast<std::int64_t>(waiting_[static_cast<std::size_t>(region)].size());
  return walkers * bytes_a_missing_page >= regions_.num_bytes(region);
}

void region_walk::ask_for_walkers(std::int64_t region)
{
  std::vector<vertex_id> vertices;
  for (std::uint32_t const walker : waiting_at(region)) { vertices.push_back(at_[walker].vertex); }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  memory_[0].ask_for(vertices);
}

/// Every walker who waits at a region goes on until it leaves the region, or ends.
void region_walk::go_on(walk_job const& job, graph_view const& graph, walk_batch const& batch, std::int64_t region,
                        cpu_exec const& exec)
{
  std::vector<std::uint32_t> const here = std::exchange(waiting_at(region), {});
  std::int64_t const first = regions_.begin(region);
  std::int64_t const end = regions_.end(region);
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
      for (std::uint32_t const i : away) { wait_at(regions_.region_of(at_[i].vertex), i); }
      done_ += to - from - std::ssize(away);
    });
  });
  if (exec.on_progress) { exec.on_progress({"walking", done_, batch.size()}); }
}

void region_walk::run(walk_job const& job, walk_batch const& batch, cpu_exec const& exec)
{
  let_in(job, batch);
  std::future<std::int64_t> reading;  // waits, if anything throws
  std::size_t here = 0;               // the memory of the region where walkers go on; the other one is read into
  auto const read = [&](std::int64_t region) {
    if (region == nowhere || memory_[here].has(region) || !pays_to_read(region)) { return; }
    reading = std::async(std::launch::async, [&memory = memory_[1 - here], region] { return memory.read(region); });
  };
  std::int64_t region = busiest_but(nowhere);
  read(region);
  while (region != nowhere) {
    if (reading.valid()) { read_bytes_ += reading.get(); }
    if (memory_[1 - here].has(region)) { here = 1 - here; }
    std::int64_t next = busiest_but(region);
    read(next);
    if (!memory_[here].has(region)) { ask_for_walkers(region); }
    go_on(job, memory_[here].view(), batch, region, exec);
    if (next == nowhere) { next = busiest_but(region); }
    region = next;
  }
}

}  // namespace tendril::cpu
