#include "bench/gpu_placed.hpp"

#include <functional>
#include <memory>

#include <fmt/format.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/place.hpp>
#include <tendril/sample.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

#include "bench/placed_shares.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t walk_length = 80;
constexpr std::int64_t most_walkers = 10'000'000;
constexpr std::int64_t walkers_alone = 1'000'000;  // of the CPU, whose rate does not depend on their number
constexpr std::int64_t num_roots = 40'000;
constexpr std::int64_t batch_size = 1024;
constexpr std::int64_t num_batches = 64;

constexpr char walks_alone[] = "walks, CPU alone";
constexpr char trees_alone[] = "k-hop (25,10), CPU alone";
constexpr char batches_alone[] = "mini-batches (15,10,5), CPU alone";

/// A graph in host memory, without weights and labels, and what jobs on it start from.
struct bed {
  gpu_exec gpu;
  cpu_exec cpu;
  graph g;
  list_bytes bytes;
  buffer<vertex_id> starts, starts_there, rows, rows_there;
  walk_params walk{.length = walk_length};
  khop_params khop{.fanouts = {25, 10}, .replace = true};
  minibatch_params batch{.num_neighbors = {15, 10, 5}};

  bed(std::string const& name, options const& o)
      : gpu(*o.gpu), cpu(o.exec), g(bare_graph(name, gpu)), bytes(in_lists(g, cpu).arrays().compressed)
  {
    starts = random_vertices(g.num_vertices(), most_walkers, 1, cpu);
    starts_there = copy_to_gpu(starts.span(), gpu);
    rows = buffer<vertex_id>(walkers_alone * (walk_length + 1));
    rows_there = buffer<vertex_id>(most_walkers * (walk_length + 1), memory_of(gpu));
  }

  [[nodiscard]] graph placed(double share, placement_policy policy, placement_job const& job, work_share who) const
  {
    place_params params;
    params.share = who;
    params.gpu_bytes = bytes.with_share(share);
    params.policy = policy;
    params.job = job;
    return place_graph(g, params, gpu);
  }
};

/// Every walker of these graphs makes all its steps but where it meets a dead end, which the share of starts without
/// neighbours bounds: steps are counted once.
double steps_a_walk(bed const& b)
{
  constexpr std::int64_t sample = 100'000;
  walk_params const params = b.walk;
  auto const made = random_walk(b.g, b.starts.span().first(sample), params, b.cpu);
  double steps = 0;
  for (auto const length : made.lengths) { steps += length; }
  return steps / static_cast<double>(sample);
}

void add_alone(session& s, std::shared_ptr<bed> const& b, double steps)
{
  auto const w = std::make_shared<walker>(b->g, b->walk, most_walkers, b->cpu);
  s.add(walks_alone, "10^6 walkers", "steps/s", "", [b, w, steps] {
    auto const starts = b->starts.span().first(static_cast<std::size_t>(walkers_alone));
    double const seconds = seconds_of([&] { w->run_into(starts, 0, b->rows.data(), nullptr, b->cpu); });
    return steps * static_cast<double>(walkers_alone) / seconds;
  });
  s.add(trees_alone, "40,000 roots", "trees/s", "", [b] {
    auto const roots = b->starts.span().first(static_cast<std::size_t>(num_roots));
    return static_cast<double>(num_roots) / seconds_of([&] { (void)khop_sample(b->g, roots, b->khop, b->cpu); });
  });
  auto const sampler = std::make_shared<minibatch_sampler>(hetero_graph(b->g), b->batch, b->cpu);
  s.add(batches_alone, "1,024 seeds, 64 batches a call", "batches/s", "", [b, sampler] {
    auto const seeds = b->starts.span().first(static_cast<std::size_t>(num_batches * batch_size));
    return static_cast<double>(num_batches) / seconds_of([&] { (void)sampler->sample_batches(0, seeds, batch_size); });
  });
}

/// A placed graph, and who samples it.
struct subject {
  graph there;
  double share;
  placement_policy policy;
  work_share who = work_share::gpu;

  /// The same placement, sampled by others.
  [[nodiscard]] subject sampled_by(work_share others) const
  {
    graph_arrays arrays = there.arrays();
    auto placed = std::make_shared<placed_lists>(*arrays.placed);
    placed->share = others;
    arrays.placed = std::move(placed);
    return {graph(std::move(arrays), there.content()), share, policy, others};
  }

  /// Adds a job on it. Where the way is chosen by measurement, makes the calls before that try each way.
  void add_to(session& s, std::string const& job, std::string const& size, std::string const& unit,
              std::string const& alone, std::function<double()> const& run) const
  {
    constexpr int trials = 6;
    for (int i = 0; who == work_share::automatic && i < trials; ++i) { (void)run(); }
    s.add(job + how(), fmt::format("{}, {}", size, describe()), unit, alone, run);
  }

 private:
  [[nodiscard]] std::string how() const
  {
    switch (who) {
      case work_share::automatic: return ", as measured best";
      case work_share::gpu: return ", GPU alone";
      case work_share::cpu: return ", CPU alone, result on the GPU";
      case work_share::both: return ", GPU and CPU at once";
    }
    return "";
  }
  [[nodiscard]] std::string describe() const
  {
    return fmt::format("{:.0f} % of the lists on the GPU by {}, {:.1f} % of the reads", 100 * share, to_string(policy),
                       100 * there.placed()->visits_on_gpu);
  }
};

void add_walks(session& s, std::shared_ptr<bed> const& b, subject const& on, double steps)
{
  auto const w = std::make_shared<walker>(on.there, b->walk, most_walkers, b->gpu);
  for (std::int64_t const n : {walkers_alone, most_walkers}) {
    on.add_to(
        s, "walks", fmt::format("10^{} walkers", n == most_walkers ? 7 : 6), "steps/s", walks_alone, [b, w, n, steps] {
          auto const starts = b->starts_there.span().first(static_cast<std::size_t>(n));
          synchronize(b->gpu);
          double const seconds = seconds_of([&] { w->run_into(starts, 0, b->rows_there.data(), nullptr, b->gpu); });
          return steps * static_cast<double>(n) / seconds;
        });
  }
}

void add_trees(session& s, std::shared_ptr<bed> const& b, subject const& on)
{
  on.add_to(s, "k-hop (25,10)", "40,000 roots", "trees/s", trees_alone, [b, there = on.there] {
    auto const roots = b->starts_there.span().first(static_cast<std::size_t>(num_roots));
    synchronize(b->gpu);
    return static_cast<double>(num_roots) / seconds_of([&] { (void)khop_sample(there, roots, b->khop, b->gpu); });
  });
}

void add_batches(session& s, std::shared_ptr<bed> const& b, subject const& on)
{
  auto const sampler = std::make_shared<minibatch_sampler>(hetero_graph(on.there), b->batch, b->gpu);
  on.add_to(s, "mini-batches (15,10,5)", "1,024 seeds, 64 batches a call", "batches/s", batches_alone, [b, sampler] {
    auto const seeds = b->starts_there.span().first(static_cast<std::size_t>(num_batches * batch_size));
    synchronize(b->gpu);
    return static_cast<double>(num_batches) / seconds_of([&] {
             (void)sampler->sample_batches(0, seeds, batch_size);
             synchronize(b->gpu);
           });
  });
}

void add_placing(session& s, std::shared_ptr<bed> const& b)
{
  s.add("placing", "half of the lists on the GPU, in the order of walks", "s", "",
        [b] { return seconds_of([&] { (void)b->placed(0.5, placement_policy::visits, b->walk, work_share::gpu); }); });
}

}  // namespace

std::vector<row> run_gpu_placed(options const& o)
{
  auto const name_of = [](std::string const& name, double) { return name; };
  return for_each_share<bed>(o, name_of, [](session& s, std::shared_ptr<bed> const& b, double share, bool is_first) {
    double const steps = steps_a_walk(*b);
    add_alone(s, b, steps);
    if (is_first) { add_placing(s, b); }
    auto const on = [&](placement_policy policy, placement_job const& job) {
      return subject{b->placed(share, policy, job, work_share::gpu), share, policy};
    };
    // The GPU alone; unless nothing lies in host memory, also beside the CPU, and the way that is chosen.
    auto const both = [&](subject const& alone, auto const& add) {
      add(alone);
      if (share == 1) { return; }
      for (work_share const who : {work_share::both, work_share::automatic}) { add(alone.sampled_by(who)); }
    };
    auto const trees = [&](subject const& which) { add_trees(s, b, which); };
    auto const batches = [&](subject const& which) { add_batches(s, b, which); };
    both(on(placement_policy::visits, b->walk), [&](subject const& which) { add_walks(s, b, which, steps); });
    both(on(placement_policy::visits, b->khop), trees);
    both(on(placement_policy::visits, b->batch), batches);
    if (share > 0 && share < 1) {
      trees(on(placement_policy::degree, b->khop));
      batches(on(placement_policy::degree, b->batch));
    }
  });
}

}  // namespace tendril::bench
