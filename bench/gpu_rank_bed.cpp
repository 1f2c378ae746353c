#include "bench/gpu_rank_bed.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/starts.hpp>
#include <tendril/transport.hpp>

#include "bench/measure.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t many_walks = std::int64_t{1} << 40U;  // tables pay

/// Vertices that have edges, at random.
std::vector<vertex_id> starts_on(graph const& g, std::uint64_t seed)
{
  std::vector<vertex_id> out;
  graph_view const view = g.view();
  for (; std::ssize(out) < most_walkers; seed += 1000) {
    for (vertex_id const v : random_vertices(g.num_vertices(), most_walkers, seed)) {
      if (view.edges().first_edges.degree(v) > 0 && std::ssize(out) < most_walkers) { out.push_back(v); }
    }
  }
  return out;
}

}  // namespace

std::shared_ptr<rank_bed const> rank_bed_on(options const& o, graph const& g, int num_gpus)
{
  auto const on = std::make_shared<rank_bed>();
  std::vector<int> devices;
  for (int r = 0; r < num_gpus; ++r) {
    devices.push_back(o.gpus[r]);
    on->parts.push_back(part_of(g, {.num_parts = num_gpus}, r, o.exec));
    on->starts.push_back(starts_on(g, static_cast<std::uint64_t>(r) + 1));
  }
  on->gpus = gpu_set(devices);
  return on;
}

std::string plan_on(rank_bed const& on, walk_params const& params)
{
  std::string out;
  run_ranks(on.gpus.size(), [&](transport& ranks) {
    auto const at = static_cast<std::size_t>(ranks.rank());
    sharded_walker const walk(on.parts[at], params, many_walks, ranks, gpu_exec(on.gpus[ranks.rank()]));
    if (ranks.rank() == 0) { out = fmt::format("{}; {}", to_string(walk.plan().rule), walk.plan().reasons.back()); }
  });
  return out;
}

rank_walks walk_on(rank_bed const& on, walk_params const& params, std::int64_t walkers_each, int calls)
{
  rank_walks out;
  run_ranks(on.gpus.size(), [&](transport& ranks) {
    auto const at = static_cast<std::size_t>(ranks.rank());
    gpu_exec const exec(on.gpus[ranks.rank()]);
    sharded_walker walk(on.parts[at], params, many_walks, ranks, exec);
    auto const from = copy_to_gpu(std::span(on.starts[at]).first(static_cast<std::size_t>(walkers_each)), exec);
    std::int64_t const first = ranks.rank() * walkers_each;
    walks made = walk.run(from.span().first(static_cast<std::size_t>((walkers_each + 7) / 8)), first, exec);
    made = {};  // the pool has its memory then
    std::int64_t sent = -ranks.report().sent_bytes;
    ranks.barrier("all ranks have planned");
    double const seconds = seconds_of([&] {
      for (int call = 0; call < calls; ++call) {
        made = {};
        made = walk.run(from.span(), call * ranks.size() * walkers_each + first, exec);
      }
      ranks.barrier("all ranks have walked");
    });
    sent = ranks.all_reduce("bytes", sent + ranks.report().sent_bytes, reduction::sum);
    std::vector<std::int32_t> lengths(static_cast<std::size_t>(walkers_each));  // of the last call, as of the others
    copy_to_host(made.lengths.data(), lengths.data(), std::span(lengths).size_bytes(), exec);
    std::int64_t steps = calls * std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    steps = ranks.all_reduce("steps", steps, reduction::sum);
    if (ranks.rank() == 0) { out = {steps, sent, seconds}; }
  });
  return out;
}

rank_walks count_on(rank_bed const& on, walk_params const& params, walk_count what, int rounds)
{
  rank_walks out;
  run_ranks(on.gpus.size(), [&](transport& ranks) {
    auto const at = static_cast<std::size_t>(ranks.rank());
    std::vector<vertex_id> const& starts = on.starts[at];
    sharded_walker walk(on.parts[at], params, many_walks, ranks, gpu_exec(on.gpus[ranks.rank()]));
    std::vector<std::int64_t> counts(static_cast<std::size_t>(on.parts[at].num_vertices()));
    walk_stream_job job;
    job.starts = [&](std::int64_t first, std::span<vertex_id> into) {
      while (!into.empty()) {
        auto const from = static_cast<std::size_t>(first) % starts.size();
        auto const size = std::min(into.size(), starts.size() - from);
        std::copy_n(starts.data() + from, size, into.data());
        into = into.subspan(size);
        first += static_cast<std::int64_t>(size);
      }
    };
    job.counts = counts_of(what, counts);
    auto const stream = [&](std::int64_t num_walks) {
      job.num_walks = num_walks;
      job.first_walk = ranks.rank() * num_walks;
      return walk.stream(job);
    };
    (void)stream(std::ssize(starts) / 2);  // the pool has its memory then
    ranks.barrier("all ranks have planned");
    sharded_walk_report made;
    double const seconds = seconds_of([&] {
      made = stream(rounds * std::ssize(starts));
      ranks.barrier("all ranks have walked");
    });
    std::int64_t const steps = ranks.all_reduce("steps", made.steps, reduction::sum);
    std::int64_t const sent = ranks.all_reduce("bytes", made.sent_bytes, reduction::sum);
    if (ranks.rank() == 0) { out = {steps, sent, seconds}; }
  });
  return out;
}

}  // namespace tendril::bench
