#include "bench/dist.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/io.hpp>
#include <tendril/partition.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/transport.hpp>
#include <tendril/walk.hpp>

#include "base/parallel.hpp"  // num_threads
#include "bench/dist_model.hpp"
#include "bench/dist_ranks.hpp"
#include "bench/dist_samples.hpp"
#include "bench/host_plan.hpp"
#include "bench/measure.hpp"
#include "bench/rmat_spec.hpp"
#include "bench/start_vertices.hpp"
#include "dist/partition_bounds.hpp"
#include "dist/records.hpp"
#include "dist/superstep.hpp"  // most_batch_walks

namespace tendril::bench {
namespace {

constexpr std::int64_t most_walks = 1 << 19U;
constexpr int walk_length = 80;
constexpr std::int64_t batches = 8;  // of one rank, so that up to 4 ranks have 2 of the same size each
constexpr std::int64_t bytes_a_walk = 8 * (walk_length + 1) + 8;  // of a sharded walk
constexpr std::int64_t bytes_a_counted_walk = 16;

struct app {
  char const* name;
  walk_params params;
  bool in_step;  ///< Its walkers are records of 8 bytes.
};

/// Those whose names contain `only`. @throws argument_error if none does.
std::vector<app> apps(std::string const& only)
{
  std::vector<app> out{{"uniform", {.length = walk_length}, true},
                       {"node2vec", {.length = walk_length, .p = 2, .q = 0.5}, false}};
  std::erase_if(out, [&](app const& a) { return std::string_view(a.name).find(only) == std::string_view::npos; });
  if (out.empty()) { throw argument_error(fmt::format("--only: '{}', expected a part of uniform or node2vec", only)); }
  return out;
}

struct bed {
  graph g;
  std::string name;
  std::optional<partition_info> folder;  ///< Of a graph that is in parts.
  std::vector<vertex_id> starts;
  std::map<int, std::vector<graph_part>> parts;  ///< By the number of ranks.

  bed(options const& o, std::set<int> const& ranks)
  {
    graph const whole = is_rmat_spec(o.graph)   ? make_rmat(o.graph, o.exec)
                        : is_partition(o.graph) ? read_parts_as_graph(o.graph, o.exec)
                                                : read_graph(o.graph, {}, o.exec);
    if (!is_rmat_spec(o.graph) && is_partition(o.graph)) { folder = read_partition_info(o.graph); }
    name = is_rmat_spec(o.graph) ? o.graph : std::filesystem::path(o.graph).filename().string();
    graph_arrays bare;
    bare.indptr = whole.arrays().indptr;
    bare.indices = whole.arrays().indices;
    bare.compressed = whole.arrays().compressed;
    bare.symmetric = whole.arrays().symmetric;
    g = graph(std::move(bare), whole.content());
    std::int64_t const walks = std::clamp(16 * g.num_vertices() / batches, std::int64_t{1}, most_walks / batches);
    starts = make_starts(g.view(), batches * walks);
    for (int const n : ranks) {
      for (int r = 0; r < n; ++r) { parts[n].push_back(part_of(g, {.num_parts = n}, r, o.exec)); }
    }
  }

  [[nodiscard]] std::int64_t batch_walks() const { return std::ssize(starts) / batches; }
  /// The starts of one rank.
  [[nodiscard]] std::span<vertex_id const> starts_of(int rank, int ranks) const
  {
    std::int64_t const begin = dist::even_bound(std::ssize(starts), ranks, rank);
    std::int64_t const end = dist::even_bound(std::ssize(starts), ranks, rank + 1);
    return std::span(starts).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }
};

/// Adds up what the processes know.
void sum_over(transport& processes, sharded_walk_report& report)
{
  constexpr double nano = 1e9;
  std::array<std::int64_t, 7> all{report.steps,
                                  report.moved,
                                  report.moved_bytes,
                                  report.questions,
                                  report.sent_bytes,
                                  static_cast<std::int64_t>(nano * report.seconds),
                                  static_cast<std::int64_t>(nano * report.waited_seconds)};
  processes.all_reduce("what ranks did", all, reduction::sum);
  report.steps = all[0];
  report.moved = all[1];
  report.moved_bytes = all[2];
  report.questions = all[3];
  report.sent_bytes = all[4];
  report.seconds = static_cast<double>(all[5]) / nano;
  report.waited_seconds = static_cast<double>(all[6]) / nano;
}

/// Walks of `ranks` ranks on their parts; `last` is what all of them reported together.
struct sharded_job {
  transport* processes;
  std::shared_ptr<bed> b;
  walk_params params;
  int ranks = 1, threads = 1;
  std::int64_t num_walks = 0, batch_walks = 1;
  bool counts_visits = false;  ///< Instead of keeping rows.
  sharded_walk_report last = {};
  std::vector<double> work = {};  ///< Of each run, seconds a step that ranks did not wait for others.

  /// @return seconds from the moment when the first rank begins until all have ended.
  double seconds()
  {
    std::vector<sharded_walk_report> reports(static_cast<std::size_t>(ranks));
    double out = 0;
    run_on(processes, ranks, [&](transport& all) {
      cpu_exec const exec = on_threads(threads);
      auto const rank = static_cast<std::size_t>(all.rank());
      sharded_walker walk(b->parts.at(ranks)[rank], params, std::int64_t{1} << 24U, all, exec);
      auto const mine = b->starts_of(all.rank(), ranks);
      walk_stream_job job;
      job.num_walks = std::min<std::int64_t>(std::ssize(mine), num_walks / ranks);
      job.first_walk = mine.data() - b->starts.data();
      job.batch_bytes = 2 * batch_walks * (counts_visits ? bytes_a_counted_walk : bytes_a_walk);
      std::vector<std::int64_t> counts(static_cast<std::size_t>(b->parts.at(ranks)[rank].num_vertices()));
      if (counts_visits) { job.counts = counts_of(walk_count::visits, counts); }
      job.starts = [mine](std::int64_t first, std::span<vertex_id> into) {
        std::copy_n(mine.begin() + first, into.size(), into.begin());
      };
      all.barrier("all ranks have planned");
      double const took = seconds_of([&] {
        reports[rank] = walk.stream(job, exec);
        all.barrier("all ranks have walked");
      });
      if (rank == 0) { out = took; }
    });
    last = reports[0];
    for (std::size_t r = 1; r < reports.size(); ++r) {
      last.steps += reports[r].steps;
      last.moved += reports[r].moved;
      last.moved_bytes += reports[r].moved_bytes;
      last.questions += reports[r].questions;
      last.sent_bytes += reports[r].sent_bytes;
      last.seconds += reports[r].seconds;
      last.waited_seconds += reports[r].waited_seconds;
    }
    if (processes != nullptr) { sum_over(*processes, last); }
    work.push_back((last.seconds - last.waited_seconds) / static_cast<double>(std::max<std::int64_t>(last.steps, 1)));
    return out;
  }
  double steps_per_second()
  {
    double const took = seconds();
    return static_cast<double>(last.steps) / took;
  }
  /// Of one rank.
  [[nodiscard]] double steps_a_superstep() const
  {
    return static_cast<double>(last.steps) / static_cast<double>(last.supersteps * ranks);
  }
  [[nodiscard]] double a_step(std::int64_t count) const
  {
    return static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(last.steps, 1));
  }
};

std::int64_t walk_batches(walker const& walk, std::span<vertex_id const> starts, std::int64_t batch_walks)
{
  buffer<vertex_id> rows(batch_walks * (walk_length + 1));
  buffer<std::int32_t> lengths(batch_walks);
  std::int64_t steps = 0;
  for (std::int64_t first = 0; first < std::ssize(starts); first += batch_walks) {
    std::int64_t const n = std::min<std::int64_t>(batch_walks, std::ssize(starts) - first);
    walk.run_into(starts.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n)), first, rows.data(),
                  lengths.data(), on_threads(1));
    for (std::int64_t i = 0; i < n; ++i) { steps += lengths[i]; }
  }
  return steps;
}

/// Steps a second of ranks that each have the whole graph.
double replicated(transport* processes, bed const& b, walker const& walk, int ranks)
{
  std::vector<std::int64_t> steps(static_cast<std::size_t>(ranks));
  double out = 0;
  run_on(processes, ranks, [&](transport& all) {
    all.barrier("all ranks are there");
    double const took = seconds_of([&] {
      steps[static_cast<std::size_t>(all.rank())] = walk_batches(walk, b.starts_of(all.rank(), ranks), b.batch_walks());
      all.barrier("all ranks have walked");
    });
    if (all.rank() == 0) { out = took; }
  });
  std::int64_t sum = std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
  if (processes != nullptr) { sum = processes->all_reduce("steps", sum, reduction::sum); }
  return static_cast<double>(sum) / out;
}

/// Seconds of an all-to-all between ranks of this process, with so many bytes a message.
double all_to_all_seconds(int ranks, std::int64_t bytes)
{
  constexpr int calls = 300;
  double out = 0;
  run_ranks(ranks, [&](transport& all) {
    std::vector<message> messages(static_cast<std::size_t>(ranks));
    for (message& m : messages) {
      m = message(bytes);
      m.set_size(bytes);
    }
    all.barrier("all ranks are there");
    double const took = seconds_of([&] {
      for (int i = 0; i < calls; ++i) { messages = all.all_to_all("a measured call", messages); }
    });
    if (all.rank() == 0) { out = took / calls; }
  });
  return out;
}

double thread_seconds()
{
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Time of a core to send one message and to take in another, without waiting for it.
double message_seconds()
{
  constexpr int ranks = 8, calls = 200;
  std::barrier meet(ranks);
  double out = 0;
  run_ranks(ranks, [&](transport& all) {
    std::vector<message> messages(ranks);
    for (message& m : messages) { m = message(static_cast<std::int64_t>(sizeof(dist::superstep_head))); }
    double took = 0;
    for (int i = 0; i < calls; ++i) {
      double const before = thread_seconds();
      auto const call = all.begin("a measured call", messages);
      double const between = thread_seconds();
      meet.arrive_and_wait();
      double const after = thread_seconds();
      messages = all.finish(call);
      took += between - before + thread_seconds() - after;
      meet.arrive_and_wait();
    }
    if (all.rank() == 0) { out = took / (calls * (ranks - 1)); }
  });
  return out;
}

std::string ranks_text(int ranks) { return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"); }

/// The jobs of one kind of walk, and what they leave for the plan.
class app_jobs {
 public:
  app_jobs(app what, std::shared_ptr<bed> b, std::set<int> const& ranks, options const& o)
      : processes_(o.ranks), app_(std::move(what)), b_(std::move(b)), ranks_(ranks), threads_(base::num_threads(o.exec))
  {
    for (int const n : ranks_) {
      sharded_.emplace(n, job(n, 1));
      counted_.emplace(n, job(n, 1)).first->second.counts_visits = true;
    }
    if (o.hosts.empty()) { return; }
    host_.emplace(1, job(1, 1));
    host_.emplace(threads_, job(1, threads_));
    empty_ = job(1, 1);
    empty_.num_walks = std::min<std::int64_t>(std::ssize(b_->starts), 32);
    empty_.batch_walks = 1;
  }

  void add_to(session& s)
  {
    auto const whole = std::make_shared<walker>(b_->g, app_.params, std::int64_t{1} << 24U, on_threads(1));
    std::string const alone = named("whole graph, 1 thread");
    s.add(alone, "walker", "steps/s", "", [this, whole] {
      std::int64_t steps = 0;
      double const took = seconds_of([&] { steps = walk_batches(*whole, b_->starts, b_->batch_walks()); });
      return static_cast<double>(steps) / took;
    });
    for (int const n : ranks_) {
      s.add(named("sharded, " + ranks_text(n)), "", "steps/s", n == 1 ? alone : named("sharded, 1 rank"),
            [this, n] { return sharded_.at(n).steps_per_second(); });
      s.add(named("sharded, visits counted, " + ranks_text(n)), "", "steps/s",
            n == 1 ? alone : named("sharded, visits counted, 1 rank"),
            [this, n] { return counted_.at(n).steps_per_second(); });
      s.add(named("replicated, " + ranks_text(n)), "", "steps/s", n == 1 ? alone : named("replicated, 1 rank"),
            [this, whole, n] { return replicated(processes_, *b_, *whole, n); });
    }
    if (host_.empty()) { return; }
    if (threads_ > 1) {
      s.add(named(fmt::format("sharded, 1 rank of {} threads", threads_)), "", "steps/s", named("sharded, 1 rank"),
            [this] { return host_.at(threads_).steps_per_second(); });
    }
    s.add(named("superstep of one walker"), "", "us", "",
          [this] { return empty_.seconds() / static_cast<double>(empty_.last.supersteps) * 1e6; });
  }

  /// What moved, of the last round: the walks of every round are the same.
  void append_moves(std::vector<row>& rows, int repeats) const
  {
    for (auto const& entry : sharded_) {
      int const n = entry.first;
      auto const& job = entry.second;
      if (n == 1) { continue; }
      auto const add = [&, n](char const* what, double value, char const* unit) {
        rows.push_back({named(fmt::format("{}, {}", what, ranks_text(n))), b_->name, "", value, unit, "", 0, 0, repeats,
                        value, value});
      };
      add("walkers moved a step", job.a_step(job.last.moved), "");
      add("bytes a moved walker",
          static_cast<double>(job.last.moved_bytes) / static_cast<double>(std::max<std::int64_t>(job.last.moved, 1)),
          "B");
      add("sent a step", job.a_step(job.last.sent_bytes), "B");
    }
  }

  /// The inputs of the plan for so many hosts of so many threads. @param value_of  The median of a job, by name.
  template <class F>
  [[nodiscard]] walk_costs costs(int threads, std::int64_t hosts, F value_of) const
  {
    sharded_job const& one = sharded_.at(1);
    sharded_job const& two = sharded_.at(2);
    auto const batch = [&](std::int64_t of_hosts) {
      return static_cast<double>(
          std::min(b_->batch_walks(), dist::most_batch_walks(threads, of_hosts, b_->g.arrays().symmetric ? 1 : 0)));
    };
    double const moved = two.a_step(two.last.moved);
    walk_costs out;
    out.steps_per_second =
        value_of(named(threads == 1 ? "sharded, 1 rank" : fmt::format("sharded, 1 rank of {} threads", threads)));
    sharded_job const& host = threads == 1 ? one : host_.at(threads);
    out.steps_a_superstep = host.steps_a_superstep() * batch(hosts) / batch(1);
    out.superstep_seconds = value_of(named("superstep of one walker")) * 1e-6;
    out.message_seconds = value_of("one message") * 1e-6;
    out.writers = threads;
    if (!app_.in_step) {
      out.writers = 2 * threads;  // walkers that arrive, and those that waited
      out.walker_bytes = sizeof(dist::walker_alone);
      out.visit_bytes = sizeof(dist::visit_alone);
    }
    if (moved > 0) {
      out.questions_a_move = two.a_step(two.last.questions) / moved;
      out.supersteps_a_move = std::max(0.0, one.steps_a_superstep() / two.steps_a_superstep() - 1) / moved;
      out.work_a_move = std::max(0.0, median(two.work) / median(one.work) - 1) / moved;
    }
    return out;
  }

  [[nodiscard]] std::string named(std::string const& job) const { return fmt::format("{}, {}", app_.name, job); }
  [[nodiscard]] std::string name() const { return app_.name; }
  [[nodiscard]] sharded_job const& sharded(int ranks) const { return sharded_.at(ranks); }

 private:
  [[nodiscard]] sharded_job job(int ranks, int threads) const
  {
    return {processes_, b_, app_.params, ranks, threads, std::ssize(b_->starts), b_->batch_walks()};
  }

  transport* processes_;  ///< Of mpirun; or null.
  app app_;
  std::shared_ptr<bed> b_;
  std::set<int> ranks_;
  int threads_;
  std::map<int, sharded_job> sharded_, counted_;  // by the number of ranks
  std::map<int, sharded_job> host_;               // by the threads of one rank
  sharded_job empty_;
};

/// Prints what the plan takes for granted, line by line, and appends its rows.
void plan(std::vector<row>& rows, std::vector<std::unique_ptr<app_jobs>> const& jobs, bed const& b,
          std::set<int> const& ranks, options const& o)
{
  auto const value_of = [measured = rows](std::string const& job) {
    return std::find_if(measured.begin(), measured.end(), [&](row const& r) { return r.job == job; })->value;
  };
  auto const say = [&](std::string const& line) {
    if (!o.quiet) { fmt::print("{}\n", line); }
  };
  network const here{value_of("all-to-all of 1 MiB, 2 ranks"), value_of("all-to-all of 64 bytes, 2 ranks") * 1e-6};
  int const threads = base::num_threads(o.exec);
  double const message = value_of("one message");

  say("The plan assumes");
  say(fmt::format("  given     {} GB/s that each host sends while it receives as many, no shared links", o.bandwidth));
  say(fmt::format("  given     {} us that a message is on its way; messages of one superstep fly together", o.latency));
  say(fmt::format("  measured  {:.2f} us of a core a message, between threads; a network's own software costs more",
                  message));
  for (auto const& a : jobs) {
    walk_costs const c = a->costs(threads, 1, value_of);
    say(fmt::format(
        "  measured  {}: {:.1f} M steps/s of a host with {} thread{}, {:.1f} us a superstep beside its steps",
        a->name(), c.steps_per_second / 1e6, threads, threads == 1 ? "" : "s", c.superstep_seconds * 1e6));
    say(fmt::format("  measured  {}: {:.0f} steps a superstep", a->name(), c.steps_a_superstep));
    say(fmt::format(
        "  measured  {}: a move costs {:.2f} questions, {:.2f} supersteps and the work of {:.2f} steps, on 2 ranks",
        a->name(), c.questions_a_move, c.supersteps_a_move, c.work_a_move));
    say(fmt::format("  known     {}: {:.0f} bytes a walker, {:.0f} bytes a visit, in chunks of {} bytes", a->name(),
                    c.walker_bytes, c.visit_bytes, dist::chunk_bytes));
  }
  say("  counted   the edges that cross, and those of the busiest host, over the mean");
  say("  assumed   hosts are alike, each one asks for many batches of walks, and two batches go in turn");
  say("");

  for (auto const& a : jobs) {
    for (int const n : ranks) {
      if (n == 1) { continue; }
      host_plan const p = plan_hosts(a->costs(1, n, value_of), here, cut_for(b.g, b.folder, n, o.exec));
      double const measured = value_of(a->named("sharded, " + ranks_text(n)));
      rows.push_back(checked_row(a->named(fmt::format("model / measured, {}", ranks_text(n))), b.name,
                                 p.steps_per_second / 1e6, measured / 1e6, "M steps/s", o.repeats));
      double const sent = a->sharded(n).a_step(a->sharded(n).last.sent_bytes);
      rows.push_back(checked_row(a->named(fmt::format("bytes a step, model / measured, {}", ranks_text(n))), b.name,
                                 p.bytes_a_step, sent, "B", o.repeats));
    }
  }
  std::vector<host_cut> cuts;
  for (std::int64_t const hosts : o.hosts) { cuts.push_back(cut_for(b.g, b.folder, hosts, o.exec)); }
  std::vector<planned_walk> walks;
  walks.reserve(jobs.size());
  for (auto const& a : jobs) {
    walks.push_back({a->name(), [&a, threads, value_of](std::int64_t n) { return a->costs(threads, n, value_of); }});
  }
  append_plan(rows, b.name, walks, cuts, "host", o);
}

}  // namespace

std::vector<row> run_dist(options const& o)
{
  expect_plan(o);
  std::set<int> const ranks =
      o.ranks != nullptr ? std::set{1, o.ranks->size()}
                         : std::set{1, 2, std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 4)};
  std::vector<app> const wanted = apps(o.only);
  auto const b = std::make_shared<bed>(o, ranks);
  session s(b->name, o.repeats);
  std::vector<std::unique_ptr<app_jobs>> jobs;
  jobs.reserve(wanted.size());
  for (app const& a : wanted) { jobs.push_back(std::make_unique<app_jobs>(a, b, ranks, o)); }
  for (auto const& a : jobs) { a->add_to(s); }
  if (o.hosts.empty() && o.only.empty()) { add_dist_samples(s, b->g, b->parts, ranks, o.ranks); }
  if (!o.hosts.empty()) {
    constexpr std::int64_t large = 1 << 20;
    s.add("one message", "sent and taken in, of 8 ranks", "us", "", [] { return message_seconds() * 1e6; });
    s.add("all-to-all of 64 bytes, 2 ranks", "between threads", "us", "",
          [] { return all_to_all_seconds(2, sizeof(dist::superstep_head)) * 1e6; });
    s.add("all-to-all of 1 MiB, 2 ranks", "between threads, which pass messages without a copy", "B/s", "",
          [] { return static_cast<double>(large) / all_to_all_seconds(2, large); });
  }
  std::vector<row> rows = s.run();
  for (auto const& a : jobs) { a->append_moves(rows, o.repeats); }
  if (!o.hosts.empty()) { plan(rows, jobs, *b, ranks, o); }
  return rows;
}

}  // namespace tendril::bench
