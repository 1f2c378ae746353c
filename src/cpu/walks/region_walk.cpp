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

region_walk::region_walk(walk_job const& job, graph_regions const& regions, cpu_exec const& exec)
    : job_(job), regions_(regions), exec_(exec), waiting_(static_cast<std::size_t>(regions.size()))
{
}

void region_walk::let_in(walk_batch const& batch)
{
  done_ = 0;
  at_.resize(static_cast<std::size_t>(batch.size()));
  std::int64_t const stride = job_.length() + std::int64_t{1};
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

/// Every walker who waits at a region goes on until it leaves the region, or ends.
void region_walk::go_on(walk_batch const& batch, std::int64_t region)
{
  std::vector<std::uint32_t> const here = std::exchange(waiting_at(region), {});
  std::int64_t const first = regions_.begin(region);
  std::int64_t const end = regions_.end(region);
  std::int64_t const stride = job_.length() + std::int64_t{1};
  std::mutex leaving;
  cpu_exec walking = exec_;
  walking.on_progress = {};
  job_.graph.visit([&](auto const& graph) {
    base::parallel_ranges(walking, std::ssize(here), walkers_a_task, [&](std::int64_t from, std::int64_t to) {
      scalar_stepper next_of(job_, graph);
      std::vector<std::uint32_t> away;
      for (std::int64_t k = from; k < to; ++k) {
        std::uint32_t const i = here[static_cast<std::size_t>(k)];
        walker_position& at = at_[i];
        vertex_id* const row = batch.vertices + i * stride;
        auto const stands = at.step == 0 && !job_.may_start_at(at.vertex)
                                ? standstill::at_dead_end
                                : advance(job_, next_of, at, row, [&](vertex_id v) { return v >= first && v < end; });
        if (stands == standstill::away) {
          away.push_back(i);
          continue;
        }
        close_row(job_, batch, row, at.step, stands == standstill::at_dead_end);
        if (batch.lengths != nullptr) { batch.lengths[i] = at.step; }
      }
      std::lock_guard const lock(leaving);
      for (std::uint32_t const i : away) { wait_at(regions_.region_of(at_[i].vertex), i); }
      done_ += to - from - std::ssize(away);
    });
  });
  if (exec_.on_progress) { exec_.on_progress({"walking", done_, batch.size()}); }
}

void region_walk::run(walk_batch const& batch)
{
  let_in(batch);
  std::future<void> reading;  // waits, if anything throws
  auto const read = [&](std::int64_t region) {
    if (region == nowhere || !pays_to_read(region)) { return; }
    read_bytes_ += regions_.num_bytes(region);
    reading = std::async(std::launch::async, [this, region] { regions_.read(region); });
  };
  std::int64_t region = busiest_but(nowhere);
  read(region);
  while (region != nowhere) {
    if (reading.valid()) { reading.get(); }
    std::int64_t next = busiest_but(region);
    read(next);
    go_on(batch, region);
    if (next == nowhere) { next = busiest_but(region); }
    if (next != nowhere) { regions_.give_back(region); }
    region = next;
  }
}

}  // namespace tendril::cpu
