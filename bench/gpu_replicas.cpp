#include "bench/gpu_replicas.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/gpu_features.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>
#include <tendril/walk_stream.hpp>

#include "bench/gpu_graphs.hpp"
#include "bench/gpu_one_table.hpp"
#include "bench/gpu_rank_plan.hpp"
#include "bench/gpu_ranks.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_walkers = std::int64_t{1} << 24U, walkers_a_piece = std::int64_t{1} << 20U;
constexpr std::int64_t moved_walkers = std::int64_t{1} << 23U;
constexpr std::int64_t walk_length = 80;
constexpr std::int64_t streamed_walkers = std::int64_t{1} << 26U;
constexpr std::int64_t num_roots = std::int64_t{1} << 26U, roots_a_piece = std::int64_t{1} << 18U;
constexpr std::int64_t num_batches = 4096, batches_a_piece = 128, batch_size = 1024;
constexpr std::int64_t gathered_rows = 600'000, row_bytes = 512, table_bytes = std::int64_t{1} << 33U;
constexpr int gathers = 50;
constexpr std::int64_t many_walks = std::int64_t{1} << 40U;  // tables pay

/// One GPU: its copy of the graph, and memory for results, which stay there.
struct place {
  gpu_exec gpu;
  graph g;
  buffer<vertex_id> starts, rows, seeds;
  buffer<std::int32_t> lengths;

  place(graph copy, gpu_exec const& exec, std::span<vertex_id const> from)
      : gpu(exec),
        g(std::move(copy)),
        starts(copy_to_gpu(from.first(walkers_a_piece), exec)),
        rows(walkers_a_piece * (walk_length + 1), memory_of(exec)),
        seeds(copy_to_gpu(from.first(batches_a_piece * batch_size), exec)),
        lengths(walkers_a_piece, memory_of(exec))
  {
  }
};

using places = std::vector<std::unique_ptr<place>>;

/// Vertices that have edges, at random: of a symmetric graph no walk from them ends early.
std::vector<vertex_id> starts_on(graph const& g)
{
  if (g.num_edges() == 0) { throw argument_error("graph: no vertex has a neighbour"); }
  auto const first_edges = first_edges_of(g, gpu_exec(g.device()));
  std::vector<vertex_id> starts;
  starts.reserve(static_cast<std::size_t>(walkers_a_piece));
  for (std::uint64_t seed = 1; std::ssize(starts) < walkers_a_piece; ++seed) {
    for (vertex_id const v : random_vertices(g.num_vertices(), walkers_a_piece, seed)) {
      if (first_edges[v] < first_edges[v + std::size_t{1}] && std::ssize(starts) < walkers_a_piece) {
        starts.push_back(v);
      }
    }
  }
  return starts;
}

places places_of(std::vector<graph> const& copies)
{
  auto const from = starts_on(copies.front());
  places out;
  for (graph const& copy : copies) { out.push_back(std::make_unique<place>(copy, gpu_exec(copy.device()), from)); }
  return out;
}

/// Seconds in which so many GPUs make all samples: make(place, first, size).
template <class Make>
double seconds_on(int num_gpus, std::int64_t num_samples, std::int64_t piece, Make const& make)
{
  return seconds_of([&] {
    deal(
        num_gpus, num_samples, piece,
        [&](int i, std::int64_t first, std::int64_t size) {
          make(i, first, size);
          return 0;
        },
        [](std::int64_t, std::int64_t, int) {});
  });
}

/// Where a job's graph lies.
struct layout {
  gpu_set gpus;
  places there;           ///< One for each GPU.
  bool over_all = false;  ///< One graph over the memory of all, instead of a copy on each.

  [[nodiscard]] int size() const { return static_cast<int>(there.size()); }
  /// 1, 2, 4, … and all; of one graph over all, all.
  [[nodiscard]] std::vector<int> counts() const
  {
    std::vector<int> out;
    for (int n = 1; n < size() && !over_all; n *= 2) { out.push_back(n); }
    out.push_back(size());
    return out;
  }
  [[nodiscard]] std::string suffix(int num_gpus) const
  {
    if (over_all) { return fmt::format(", one graph over {} GPUs", num_gpus); }
    return num_gpus == 1 ? ", 1 GPU" : fmt::format(", {} GPUs", num_gpus);
  }
};

/// A job on as many GPUs as the layout has counts of.
void add(session& s, layout const& on, std::string const& name, std::string const& params, std::string const& unit,
         std::function<double(int num_gpus)> const& rate)
{
  for (int const n : on.counts()) {
    s.add(name + on.suffix(n), params, unit, on.over_all || n == 1 ? std::string() : name + on.suffix(1),
          [rate, n] { return rate(n); });
  }
}

double mean_of(buffer<std::int32_t> const& there, gpu_exec const& exec)
{
  std::vector<std::int32_t> values(static_cast<std::size_t>(there.size()));
  copy_to_host(there.data(), values.data(), std::span(values).size_bytes(), exec);
  return static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0})) /
         static_cast<double>(values.size());
}

/// Steps of a walk, of those that lie there: of the last piece.
double mean_length(place const& p) { return mean_of(p.lengths, p.gpu); }

/// A walker on each GPU.
std::shared_ptr<std::vector<walker>> walkers_on(layout const& on, walk_params params)
{
  params.length = walk_length;
  auto walkers = std::make_shared<std::vector<walker>>();
  for (auto const& p : on.there) { walkers->emplace_back(p->g, params, many_walks, p->gpu); }
  return walkers;
}

std::string job_of(std::vector<walker> const& walkers)
{
  return fmt::format("{} walkers, {}", num_walkers, to_string(walkers.front().plan().rule));
}

/// Each GPU walks by itself, and reads what lies on others over the link. In rows by steps, where walkers stay.
void add_walks(session& s, layout const& on, std::string const& name, walk_params const& params)
{
  auto const walkers = walkers_on(on, params);
  walk_order const order = on.over_all ? walk_order::step_major : walk_order::row_major;
  add(s, on, name + (on.over_all ? ", walkers stay" : ""), job_of(*walkers), "steps/s",
      [walkers, &there = on.there, order](int n) {
        double const seconds =
            seconds_on(n, num_walkers, walkers_a_piece, [&](int i, std::int64_t first, std::int64_t) {
              auto const at = static_cast<std::size_t>(i);
              place& p = *there[at];
              (*walkers)[at].run_into(p.starts.span(), first, p.rows.data(), p.lengths.data(), p.gpu, order);
            });
        return static_cast<double>(num_walkers) * mean_length(*there.front()) / seconds;
      });
}

/// A call on one GPU moves walkers on all; at the end it has all rows.
void add_moving_walks(session& s, layout const& on, std::string const& name, walk_params const& params)
{
  auto const walkers = walkers_on(on, params);
  add(s, on, name + ", walkers move", job_of(*walkers), "steps/s", [walkers, &there = on.there](int) {
    place const& p = *there.front();
    std::vector<vertex_id> once(static_cast<std::size_t>(walkers_a_piece));
    copy_to_host(p.starts.data(), once.data(), std::span(once).size_bytes(), p.gpu);
    std::vector<vertex_id> starts(static_cast<std::size_t>(moved_walkers));
    for (std::size_t i = 0; i < starts.size(); ++i) { starts[i] = once[i % once.size()]; }
    auto const from = copy_to_gpu(starts, p.gpu);
    buffer<vertex_id> rows(moved_walkers * (walk_length + 1), memory_of(p.gpu));
    buffer<std::int32_t> lengths(moved_walkers, memory_of(p.gpu));
    walker const& walk = walkers->front();
    walk.run_into(from.span(), 0, rows.data(), lengths.data(), p.gpu);  // has its memory then
    double const seconds = seconds_of([&] {
      for (std::int64_t first = 0; first < num_walkers; first += moved_walkers) {
        walk.run_into(from.span(), first, rows.data(), lengths.data(), p.gpu);
      }
    });
    return static_cast<double>(num_walkers) * mean_of(lengths, p.gpu) / seconds;
  });
}

void add_stream(session& s, layout const& on)
{
  auto const walkers = walkers_on(on, {});
  add(s, on, "uniform walks to the host", fmt::format("{} walkers, with the setup", streamed_walkers), "steps/s",
      [walkers](int n) {
        std::int64_t const each = streamed_walkers / walkers->front().input().num_vertices() + 1;
        std::int64_t steps = 0;
        double const seconds = seconds_of([&] {
          steps = stream_walks(
                      std::span<walker const>(*walkers).first(static_cast<std::size_t>(n)),
                      {.num_walks = streamed_walkers, .starts = every_vertex(each), .sink = [](walk_rows const&) {}})
                      .steps;
        });
        return static_cast<double>(steps) / seconds;
      });
}

void add_trees(session& s, layout const& on)
{
  khop_params params;
  params.fanouts = {25, 10};
  add(s, on, "k-hop (25,10)", fmt::format("{} roots", num_roots), "vertices/s", [params, &there = on.there](int n) {
    double const seconds = seconds_on(n, num_roots, roots_a_piece, [&](int i, std::int64_t first, std::int64_t size) {
      place& p = *there[static_cast<std::size_t>(i)];
      auto const roots = p.starts.span().first(static_cast<std::size_t>(size));
      (void)khop_sample(p.g, roots, params, p.gpu, first);
      synchronize(p.gpu);
    });
    return static_cast<double>(num_roots * (25 + 250)) / seconds;
  });
}

void add_minibatches(session& s, layout const& on)
{
  minibatch_params params;
  params.num_neighbors = {15, 10, 5};
  auto const samplers = std::make_shared<std::vector<minibatch_sampler>>();
  for (auto const& p : on.there) { samplers->emplace_back(hetero_graph(p->g), params, p->gpu); }
  add(s, on, "mini-batches 1,024 (15,10,5)", fmt::format("{} batches", num_batches), "edges/s",
      [samplers, &there = on.there](int n) {
        std::vector<std::int64_t> edges(there.size(), 0);
        double const seconds =
            seconds_on(n, num_batches, batches_a_piece, [&](int i, std::int64_t first, std::int64_t) {
              auto const at = static_cast<std::size_t>(i);
              place& p = *there[at];
              for (auto const& batch : (*samplers)[at].sample_batches(0, p.seeds.span(), batch_size,
                                                                      {.first = static_cast<std::uint64_t>(first)})) {
                edges[at] =
                    std::accumulate(batch.edges[0].num_sampled.begin(), batch.edges[0].num_sampled.end(), edges[at]);
              }
              synchronize(p.gpu);
            });
        return static_cast<double>(std::accumulate(edges.begin(), edges.end(), std::int64_t{0})) / seconds;
      });
}

/// One GPU's ids of a batch, and room for its rows.
struct gathering {
  gpu_exec gpu;
  gpu_features from;
  buffer<vertex_id> ids;
  buffer<std::byte> out;

  gathering(feature_table const& table, std::int64_t seed, gpu_exec const& exec)
      : gpu(exec),
        from(table, exec),
        ids(copy_to_gpu(random_vertices(table.num_rows(), gathered_rows, static_cast<std::uint64_t>(seed)).span(),
                        exec)),
        out(gathered_rows * row_bytes, memory_of(exec))
  {
  }
};

/// Each GPU gathers random rows of a table of its own.
void add_rows(session& s, layout const& on)
{
  add(s, on, "rows of 512 bytes", fmt::format("{} rows of 8 GB, {} times each", gathered_rows, gathers), "B/s",
      [gpus = on.gpus](int n) {
        std::vector<buffer<std::byte>> tables;
        std::vector<gathering> beds;
        auto const gather = [&beds](std::int64_t i) {
          gathering& bed = beds[static_cast<std::size_t>(i)];
          bed.from.gather_unchecked({bed.ids.data(), id_type::uint32, gathered_rows}, bed.out.span(), bed.gpu);
        };
        for (int i = 0; i < n; ++i) {
          gpu_exec const exec(gpus[i]);
          tables.emplace_back(table_bytes, memory_of(exec));
          beds.emplace_back(
              feature_table::on_gpu(gpus[i], tables.back().span(), {"uint8", {table_bytes / row_bytes, row_bytes}}),
              i + 1, exec);
          gather(i);
          synchronize(exec);
        }
        double const seconds = seconds_on(n, n, 1, [&](int, std::int64_t i, std::int64_t) {
          for (int k = 0; k < gathers; ++k) { gather(i); }
          synchronize(beds[static_cast<std::size_t>(i)].gpu);
        });
        return static_cast<double>(gathers * n) * static_cast<double>(gathered_rows * row_bytes) / seconds;
      });
}

std::vector<row> run_on(options const& o, layout const& on)
{
  session s(o.graph, o.repeats);
  walk_params bare;
  bare.table_bytes = 0;
  walk_params const weighted{.weighted = true};
  std::vector<std::pair<std::string, walk_params>> jobs{{"uniform walks", {}}, {"uniform walks without tables", bare}};
  if (on.there.front()->g.has_weights()) { jobs.emplace_back("weighted walks", weighted); }
  for (auto const& [name, params] : jobs) {
    add_walks(s, on, name, params);
    if (on.over_all) { add_moving_walks(s, on, name, params); }
  }
  add_walks(s, on, "node2vec", {.p = 2, .q = 0.5});
  add_stream(s, on);
  if (!on.over_all) { add_rows(s, on); }
  add_trees(s, on);
  add_minibatches(s, on);
  return s.run();
}

}  // namespace

std::vector<row> run_gpu_replicas(options const& o)
{
  if (!o.hosts.empty()) { return run_gpu_rank_plan(o); }
  gpu_exec const first(o.gpus[0]);
  bool const alone = o.gpus.size() == 1;
  bool const in_parts = !alone || o.only.starts_with("parts");
  graph const g = in_parts ? to_host(make_bench_graph(o.graph, first), first) : make_bench_graph(o.graph, first);
  std::vector<row> found;
  auto const wanted = [&](std::string const& part) { return part.find(o.only) != std::string::npos; };
  auto const run = [&](layout const& on) {
    auto const rows = run_on(o, on);
    found.insert(found.end(), rows.begin(), rows.end());
  };
  if (wanted("copies")) { run({o.gpus, places_of(alone ? std::vector{g} : to_gpus(g, o.gpus))}); }
  if (!alone && wanted("one graph")) { run({o.gpus, places_of(spread_over_gpus(g, o.gpus)), true}); }
  if (!alone && wanted("one table")) {
    auto const rows = run_gpu_one_table(o, g);
    found.insert(found.end(), rows.begin(), rows.end());
  }
  if (in_parts) {
    auto const rows = run_gpu_ranks(o, g);
    found.insert(found.end(), rows.begin(), rows.end());
  }
  return found;
}

}  // namespace tendril::bench
