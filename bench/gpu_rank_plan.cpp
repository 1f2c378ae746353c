#include "bench/gpu_rank_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/several_gpus.hpp>

#include "bench/gpu_graphs.hpp"
#include "bench/gpu_rank_bed.hpp"
#include "bench/host_plan.hpp"
#include "bench/measure.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t walk_length = 80;
constexpr std::int64_t walkers_each = std::int64_t{1} << 22U;  // of a call: two batches, as large as they get
constexpr std::int64_t few_walkers = walkers_each / 8;
constexpr int calls = 4;
constexpr std::int64_t copied_bytes = std::int64_t{1} << 28U;
constexpr int copies = 16;

struct app {
  std::string name;
  walk_params params;
};

std::vector<app> apps_for(graph const& g)
{
  std::vector<app> out{{"uniform walks", {.length = walk_length}}};
  if (g.has_weights()) { out.push_back({"weighted walks", {.length = walk_length, .weighted = true}}); }
  return out;
}

std::string gpus_text(int n) { return fmt::format("{} GPU{}", n, n == 1 ? "" : "s"); }

/// Bytes a second of copies from one GPU to another.
double copy_rate(gpu_set const& gpus)
{
  gpu_exec const from(gpus[0]), to(gpus[1]);
  buffer<std::byte> const there(copied_bytes, memory_of(from));
  buffer<std::byte> here(copied_bytes, memory_of(to));
  auto const copy = [&] {
    copy_between_gpus(there.data(), from.device, here.data(), static_cast<std::size_t>(copied_bytes), to);
  };
  copy();
  synchronize(to);
  double const seconds = seconds_of([&] {
    for (int i = 0; i < copies; ++i) { copy(); }
    synchronize(to);
  });
  return static_cast<double>(copies * copied_bytes) / seconds;
}

/// Walks on 1, 2, 4, … GPUs and on all: what is measured, and what the model makes of it.
class rank_plan {
 public:
  rank_plan(options const& o, graph const& g) : o_(o), g_(g), apps_(apps_for(g))
  {
    for (int n = 1; n < o.gpus.size(); n *= 2) { beds_[n] = rank_bed_on(o, g, n); }
    beds_[o.gpus.size()] = rank_bed_on(o, g, o.gpus.size());
  }

  void add_to(session& s)
  {
    for (app const& a : apps_) {
      for (auto const& [n, bed] : beds_) {
        for (std::int64_t const walkers : {walkers_each, few_walkers}) {
          s.add(job(a.name, walkers, n), fmt::format("{} walkers of {} steps a call", n * walkers, walk_length),
                "steps/s", n == 1 ? std::string() : job(a.name, walkers, 1), [this, &a, walkers, n = n, bed = bed] {
                  rank_walks const made = walk_on(*bed, a.params, walkers, calls);
                  sent_a_step_[job(a.name, walkers, n)] =
                      static_cast<double>(made.sent_bytes) / static_cast<double>(made.steps);
                  return static_cast<double>(made.steps) / made.seconds;
                });
        }
      }
    }
    s.add("copies from GPU to GPU", fmt::format("of {} MB", copied_bytes >> 20U), "B/s", "",
          [this] { return copy_rate(o_.gpus); });
  }

  /// Prints what the plan takes for granted, and appends its rows.
  void append_to(std::vector<row>& rows)
  {
    for (row const& r : rows) { measured_[r.job] = r.value; }
    host_cut const two = cut(2);
    move_seconds_ = measured_move(two);
    std::vector<planned_walk> walks;
    walks.reserve(apps_.size());
    for (app const& a : apps_) {
      walks.push_back({a.name, [this, &a](std::int64_t) { return costs(a.name, walkers_each); }});
    }
    if (!o_.quiet) { say(two); }

    network const here{measured_.at("copies from GPU to GPU"), 0};
    double const sent = sent_a_step_.at(job(apps_[0].name, walkers_each, 2));
    rows.push_back(checked_row("bytes a step, model / measured, 2 GPUs", o_.graph,
                               plan_hosts(costs(apps_[0].name, walkers_each), here, two).bytes_a_step, sent, "B",
                               o_.repeats));
    for (app const& a : apps_) {
      for (std::int64_t const walkers : {walkers_each, few_walkers}) {
        for (auto const& [n, bed] : beds_) {
          if (n == 1 || (n == 2 && a.name == apps_[0].name)) { continue; }
          std::string const name = job(a.name, walkers, n);
          host_plan const p = plan_hosts(costs(a.name, walkers), here, cut(n));
          rows.push_back(checked_row(name + ", model / measured", o_.graph, p.steps_per_second / 1e6,
                                     measured_.at(name) / 1e6, "M steps/s", o_.repeats));
        }
      }
    }
    std::vector<host_cut> cuts;
    for (std::int64_t const gpus : o_.hosts) { cuts.push_back(cut(gpus)); }
    append_plan(rows, o_.graph, walks, cuts, "GPU", o_);
  }

 private:
  static std::string job(std::string const& name, std::int64_t walkers, int n)
  {
    return fmt::format("{}, sharded, {}{}", name, gpus_text(n), walkers == few_walkers ? ", few walkers" : "");
  }
  [[nodiscard]] host_cut cut(std::int64_t gpus) const { return cut_for(g_, {}, gpus, o_.exec); }
  /// Of a batch of each GPU.
  [[nodiscard]] double measured_superstep(std::string const& name, std::int64_t walkers, int n) const
  {
    return static_cast<double>(n * walkers) / 2 / measured_.at(job(name, walkers, n));
  }
  /// The host's own, which is as long as one with few steps.
  [[nodiscard]] double superstep_seconds() const { return measured_superstep(apps_[0].name, few_walkers, 1); }
  [[nodiscard]] double message_seconds() const
  {
    return std::max(0.0, measured_superstep(apps_[0].name, few_walkers, 2) - superstep_seconds());
  }
  [[nodiscard]] double step_seconds(std::string const& name) const
  {
    return 1 / measured_.at(job(name, walkers_each, 1));
  }
  /// What a move adds to a step: sorting, sending and taking in its records, and vertices that go into columns here and there.
  [[nodiscard]] double measured_move(host_cut const& two) const
  {
    std::string const& name = apps_[0].name;
    double const steps = walkers_each / 2.0 * two.busiest;
    double const a_step = measured_superstep(name, walkers_each, 2) / steps;
    return two.crossing > 0 ? std::max(0.0, a_step - step_seconds(name)) / two.crossing : 0;
  }
  [[nodiscard]] walk_costs costs(std::string const& name, std::int64_t walkers) const
  {
    walk_costs out;
    out.steps_a_superstep = static_cast<double>(walkers) / 2;
    out.steps_per_second = measured_.at(job(name, walkers_each, 1));
    out.superstep_seconds = superstep_seconds();
    out.message_seconds = message_seconds();
    out.work_a_move = move_seconds_ / step_seconds(name);
    out.in_chunks = false;
    out.homecoming_tells = true;
    out.host_beside = true;
    return out;
  }

  void say(host_cut const& two) const
  {
    auto const line = [](std::string const& text) { fmt::print("{}\n", text); };
    line("The plan assumes");
    line(fmt::format("  given     {} GB/s that each GPU sends while it receives as many, no shared links",
                     o_.bandwidth));
    line(fmt::format("  given     {} us that a message is on its way; messages of one superstep fly together",
                     o_.latency));
    line(
        fmt::format("  fitted    {:.1f} us of the host a superstep, and {:.1f} us for each other GPU, from few walkers "
                    "on 1 and 2 GPUs",
                    superstep_seconds() * 1e6, message_seconds() * 1e6));
    for (app const& a : apps_) {
      line(fmt::format("  measured  {}: {:.1f} ps a step on one GPU, {:.0f} steps a superstep", a.name,
                       step_seconds(a.name) * 1e12, walkers_each / 2.0));
    }
    line(fmt::format("  fitted    {:.1f} ps a move, from {} on 2 GPUs, of whose edges {:.1f} % cross",
                     move_seconds_ * 1e12, apps_[0].name, 100 * two.crossing));
    line("  known     8 bytes a walker that moves, 8 bytes a visit where its walker does not go home");
    line("  counted   the edges that cross, and those of the busiest GPU, over the mean");
    line("  assumed   GPUs are alike, each one asks for many batches of walks, and two batches go in turn");
    line("  beyond    32 GPUs this is the model alone: the engine takes no more");
    line("");
  }

  options const& o_;
  graph const& g_;
  std::vector<app> apps_;
  std::map<int, std::shared_ptr<rank_bed const>> beds_;   // by the number of GPUs
  std::map<std::string, double> sent_a_step_, measured_;  // by job
  double move_seconds_ = 0;
};

}  // namespace

std::vector<row> run_gpu_rank_plan(options const& o)
{
  expect_plan(o);
  if (o.gpus.size() < 2) {
    throw argument_error("--simulate: one GPU, expected two or more, which show what a move costs");
  }
  gpu_exec const first(o.gpus[0]);
  graph const g = to_host(make_bench_graph(o.graph, first), first);
  rank_plan plan(o, g);
  session s(o.graph, o.repeats);
  plan.add_to(s);
  std::vector<row> rows = s.run();
  plan.append_to(rows);
  return rows;
}

}  // namespace tendril::bench
