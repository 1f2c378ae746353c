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
#include <tendril/hetero_graph.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>
#include <tendril/walk_stream.hpp>

#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_walkers = std::int64_t{1} << 24U, walkers_a_piece = std::int64_t{1} << 20U;
constexpr std::int64_t walk_length = 80;
constexpr std::int64_t streamed_walkers = std::int64_t{1} << 26U;
constexpr std::int64_t num_roots = std::int64_t{1} << 23U, roots_a_piece = std::int64_t{1} << 18U;
constexpr std::int64_t num_batches = 4096, batches_a_piece = 128, batch_size = 1024;
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

constexpr char spread[] = ", one graph over all";

std::string on(int num_gpus) { return num_gpus == 1 ? ", 1 GPU" : fmt::format(", {} GPUs", num_gpus); }

/// 1, 2, 4, … and all.
std::vector<int> counts_up_to(int all)
{
  std::vector<int> out;
  for (int n = 1; n < all; n *= 2) { out.push_back(n); }
  out.push_back(all);
  return out;
}

/// A job on one GPU, and on more of them.
void add(session& s, std::string const& name, std::string const& params, std::string const& unit, int all,
         std::function<double(int num_gpus)> const& rate)
{
  if (auto const at = name.find(spread); at != std::string::npos) {
    s.add(name, params, unit, name.substr(0, at) + on(1), [rate, all] { return rate(all); });
    return;
  }
  for (int const n : counts_up_to(all)) {
    s.add(name + on(n), params, unit, n == 1 ? std::string() : name + on(1), [rate, n] { return rate(n); });
  }
}

/// Steps of a walk, of those that lie there: of the last piece.
double mean_length(place const& p)
{
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(p.lengths.size()));
  copy_to_host(p.lengths.data(), lengths.data(), std::span(lengths).size_bytes(), p.gpu);
  return static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})) /
         static_cast<double>(lengths.size());
}

void add_walks(session& s, places const& there, std::string const& name, walk_params params)
{
  params.length = walk_length;
  auto const walkers = std::make_shared<std::vector<walker>>();
  for (auto const& p : there) { walkers->emplace_back(p->g, params, many_walks, p->gpu); }
  add(s, name, fmt::format("{} walkers, {}", num_walkers, to_string(walkers->front().plan().rule)), "steps/s",
      static_cast<int>(there.size()), [walkers, &there](int n) {
        double const seconds =
            seconds_on(n, num_walkers, walkers_a_piece, [&](int i, std::int64_t first, std::int64_t) {
              auto const at = static_cast<std::size_t>(i);
              place& p = *there[at];
              (*walkers)[at].run_into(p.starts.span(), first, p.rows.data(), p.lengths.data(), p.gpu);
            });
        return static_cast<double>(num_walkers) * mean_length(*there.front()) / seconds;
      });
}

void add_stream(session& s, places const& there)
{
  auto const walkers = std::make_shared<std::vector<walker>>();
  for (auto const& p : there) { walkers->emplace_back(p->g, walk_params{.length = walk_length}, many_walks, p->gpu); }
  add(s, "uniform walks to the host", fmt::format("{} walkers, with the setup", streamed_walkers), "steps/s",
      static_cast<int>(there.size()), [walkers](int n) {
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

void add_trees(session& s, places const& there, std::string const& how = {})
{
  khop_params params;
  params.fanouts = {25, 10};
  add(s, "k-hop (25,10)" + how, fmt::format("{} roots", num_roots), "vertices/s", static_cast<int>(there.size()),
      [params, &there](int n) {
        double const seconds =
            seconds_on(n, num_roots, roots_a_piece, [&](int i, std::int64_t first, std::int64_t size) {
              place& p = *there[static_cast<std::size_t>(i)];
              auto const roots = p.starts.span().first(static_cast<std::size_t>(size));
              (void)khop_sample(p.g, roots, params, p.gpu, first);
              synchronize(p.gpu);
            });
        return static_cast<double>(num_roots * (25 + 250)) / seconds;
      });
}

void add_minibatches(session& s, places const& there, std::string const& how = {})
{
  minibatch_params params;
  params.num_neighbors = {15, 10, 5};
  auto const samplers = std::make_shared<std::vector<minibatch_sampler>>();
  for (auto const& p : there) { samplers->emplace_back(hetero_graph(p->g), params, p->gpu); }
  add(s, "mini-batches 1,024 (15,10,5)" + how, fmt::format("{} batches", num_batches), "edges/s",
      static_cast<int>(there.size()), [samplers, &there](int n) {
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

}  // namespace

std::vector<row> run_gpu_replicas(options const& o)
{
  graph const first = make_bench_graph(o.graph, gpu_exec(o.gpus[0]));
  graph const host = o.gpus.size() > 1 ? to_host(first, gpu_exec(o.gpus[0])) : graph();
  places const there = places_of(o.gpus.size() > 1 ? to_gpus(host, o.gpus) : std::vector{first});
  places const over_all = o.gpus.size() > 1 ? places_of(spread_over_gpus(host, o.gpus)) : places();
  session s(o.graph, o.repeats);
  walk_params bare;
  bare.table_bytes = 0;
  add_walks(s, there, "uniform walks", {});
  add_walks(s, there, "uniform walks without tables", bare);
  if (there.front()->g.has_weights()) { add_walks(s, there, "weighted walks", {.weighted = true}); }
  add_walks(s, there, "node2vec", {.p = 2, .q = 0.5});
  add_stream(s, there);
  add_trees(s, there);
  add_minibatches(s, there);
  if (!over_all.empty()) {
    add_walks(s, over_all, std::string("uniform walks without tables") + spread, bare);
    add_trees(s, over_all, spread);
    add_minibatches(s, over_all, spread);
  }
  return s.run();
}

}  // namespace tendril::bench
