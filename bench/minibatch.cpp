// What a batch costs at least. An edge that is sampled needs one gather of 4 bytes from the neighbours, wherever it lies:
// the ceiling that shares are of. Beside it there are, for each expanded vertex, one gather of its row's two ends (16
// bytes, a tenth to a fifth as many), and for each edge three accesses of 16 bytes to a hash table: insertion, least
// position, number. The table of a batch stays in a GPU's second-level cache, where gathers are three times as fast, so
// they cost about as much again. 24 bytes an edge and 4 to 12 a vertex are written in order, which is small beside that.

#include "bench/minibatch.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/io.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/starts.hpp>

#include "base/parallel.hpp"  // num_threads
#include "bench/ceilings.hpp"
#include "bench/gpu_ceilings.hpp"
#include "bench/gpu_graphs.hpp"
#include "bench/gpu_minibatch_groups.hpp"
#include "bench/measure.hpp"
#include "bench/rmat_spec.hpp"

namespace tendril::bench {
namespace {

constexpr char gathers[] = "gathers of 4 bytes, from all neighbours";
constexpr std::int64_t edges_a_run = 100'000'000;  // of many batches, about
constexpr std::int64_t num_seeds = std::int64_t{1} << 20U;
constexpr std::int64_t most_batches = 64;  // a batch at a time, in one run
constexpr std::int64_t fewest_seeds =
    64;  // of a batch that is worth a rate; a smaller one tells what a batch costs anyway

/// What is asked for.
struct setting {
  std::int64_t batch_size;
  std::vector<std::int64_t> fanouts;
  batch_frontier frontier;
  neighbor_choice choice = neighbor_choice::independent;

  [[nodiscard]] std::string text() const
  {
    return fmt::format("{} seeds ({}){}{}", batch_size, fmt::join(fanouts, ","),
                       frontier == batch_frontier::all ? ", frontier all" : "",
                       choice == neighbor_choice::labor ? ", LABOR" : "");
  }
  [[nodiscard]] minibatch_params params() const
  {
    minibatch_params out;
    out.num_neighbors = fanouts;
    out.frontier = frontier;
    out.choice = choice;
    return out;
  }
  [[nodiscard]] std::int64_t most_edges() const
  {
    std::int64_t edges = 0;
    std::int64_t vertices = batch_size;
    for (auto const k : fanouts) {
      edges += vertices * k;
      vertices = frontier == batch_frontier::all ? vertices * (k + 1) : vertices * k;
    }
    return edges;
  }
};

std::vector<setting> const& settings()
{
  using enum batch_frontier;
  static std::vector<setting> const all_of_them{
      {1024, {15, 10, 5}, fresh},
      {2048, {10, 10, 10}, all},
      {1024, {10, 10, 10}, fresh},
      {8192, {15, 10, 5}, fresh},
      {10'240, {25, 10}, fresh},
      {1, {1, 1, 1}, fresh},
      {1024, {15, 10, 5}, fresh, neighbor_choice::labor},
      {2048, {10, 10, 10}, all, neighbor_choice::labor},
  };
  return all_of_them;
}

std::int64_t edges_of(minibatch const& batch)
{
  std::int64_t sum = 0;
  for (auto const& type : batch.edges) { sum += type.row.size(); }
  return sum;
}

/// Seeds of many batches, and a graph: in the memory of a GPU, or of this machine.
struct minibatch_bed {
  hetero_graph graph;
  buffer<vertex_id> seeds;

  [[nodiscard]] std::span<vertex_id const> batch(std::int64_t i, std::int64_t size) const
  {
    std::int64_t const num_batches = seeds.size() / size;
    return seeds.span().subspan(static_cast<std::size_t>(i % num_batches * size), static_cast<std::size_t>(size));
  }
};

/// Vertices that have a neighbour, at random; one without makes no work. @param indptr  In host memory.
buffer<vertex_id> make_seeds(std::span<edge_id const> indptr, std::int64_t count)
{
  buffer<vertex_id> seeds = random_vertices(static_cast<std::int64_t>(indptr.size()) - 1, 8 * count, 1);
  auto* const end = std::remove_if(seeds.begin(), seeds.end(), [&](vertex_id v) { return indptr[v] == indptr[v + 1]; });
  if (end - seeds.begin() < count) { throw argument_error("graph: hardly any vertex has a neighbour"); }
  buffer<vertex_id> out(count);
  std::copy_n(seeds.begin(), count, out.begin());
  return out;
}

/// A batch at a time, as a training loop asks for them; every round goes on where the last one ended.
std::function<double()> one_by_one(std::shared_ptr<minibatch_bed> const& b, setting const& what,
                                   std::shared_ptr<minibatch_sampler> const& sampler, bool as_rate)
{
  std::int64_t const count = std::clamp<std::int64_t>(edges_a_run / what.most_edges(), 8, most_batches);
  return [b, what, sampler, as_rate, count, next = std::int64_t{0}]() mutable {
    std::int64_t edges = 0;
    double const seconds = seconds_of([&] {
      for (std::int64_t i = 0; i < count; ++i, ++next) {
        batch_seeds seeds;
        seeds.vertices = {b->batch(next, what.batch_size)};
        edges += edges_of(sampler->sample(seeds, static_cast<std::uint64_t>(next)));
      }
    });
    return as_rate ? static_cast<double>(edges) / seconds : seconds / static_cast<double>(count) * 1e3;
  };
}

std::function<double()> many(std::shared_ptr<minibatch_bed> const& b, setting const& what,
                             std::shared_ptr<minibatch_sampler> const& sampler)
{
  std::int64_t const count =
      std::min(std::max<std::int64_t>(1, edges_a_run / what.most_edges()), b->seeds.size() / what.batch_size);
  return [b, what, sampler, count] {
    std::int64_t edges = 0;
    double const seconds = seconds_of([&] {
      auto const seeds = b->seeds.span().first(static_cast<std::size_t>(count * what.batch_size));
      for (auto const& batch : sampler->sample_batches(0, seeds, what.batch_size)) { edges += edges_of(batch); }
    });
    return static_cast<double>(edges) / seconds;
  };
}

/// The executors that a setting can be forced to.
std::vector<std::pair<std::string, minibatch_executor>> executors_of(setting const& what)
{
  std::vector<std::pair<std::string, minibatch_executor>> out{
      {"as planned", minibatch_executor::automatic},
      {"hop by hop", minibatch_executor::hops},
      {"CUDA graph", minibatch_executor::graph},
  };
  if (what.choice == neighbor_choice::labor) { return out; }
  out.emplace_back("fused", minibatch_executor::fused);
  if (what.frontier == batch_frontier::all) { out.emplace_back("persistent", minibatch_executor::persistent); }
  return out;
}

/// Batches together in groups of other sizes than the library's: what its constant was chosen by.
void add_group_sizes(session& s, std::shared_ptr<minibatch_bed> const& b, setting const& what, gpu_exec const& gpu)
{
  for (unsigned const log : {18U, 19U, 20U, 21U, 22U, 24U}) {
    auto const sampler = sampler_of_groups(b->graph, what.params(), gpu, std::int64_t{1} << log);
    s.add(fmt::format("batches together, {}", what.text()), fmt::format("groups of 2^{} vertices", log), "edges/s",
          gathers, many(b, what, sampler));
  }
}

void add_gpu_jobs(session& s, std::shared_ptr<minibatch_bed> const& b, setting const& what, gpu_exec const& gpu,
                  std::string const& only)
{
  for (auto const& [name, executor] : executors_of(what)) {
    if (name.find(only) == std::string::npos) { continue; }
    auto const sampler = std::make_shared<minibatch_sampler>(b->graph, what.params(), gpu, executor);
    s.add(fmt::format("a batch, {}", name), what.text(), "ms", "", one_by_one(b, what, sampler, false));
    if (executor == minibatch_executor::automatic && what.batch_size >= fewest_seeds) {
      s.add(fmt::format("batches one by one, {}", what.text()), name, "edges/s", gathers,
            one_by_one(b, what, sampler, true));
      s.add(fmt::format("batches together, {}", what.text()), name, "edges/s", gathers, many(b, what, sampler));
    }
  }
}

std::vector<row> run_on_gpu(options const& o)
{
  gpu_exec const gpu(*o.gpu);
  std::vector<row> rows;
  for (std::size_t at = 0; at <= o.graph.size();) {
    std::size_t const end = std::min(o.graph.find(',', at), o.graph.size());
    std::string const name = o.graph.substr(at, end - at);
    at = end + 1;
    graph const g = make_bench_graph(name, gpu);
    auto const first_edges = first_edges_of(g, gpu);
    auto const b = std::make_shared<minibatch_bed>(
        minibatch_bed{hetero_graph(g), copy_to_gpu(make_seeds(first_edges, num_seeds).span(), gpu)});
    session s(name, o.repeats);
    s.add(gathers, "", "gathers/s", "", [g, gpu] { return gpu_gathers(g.num_edges(), 4, gpu); });
    for (auto const& what : settings()) { add_gpu_jobs(s, b, what, gpu, o.only); }
    if (std::string_view("groups").find(o.only) != std::string_view::npos) {
      add_group_sizes(s, b, settings().front(), gpu);
    }
    auto part = s.run();
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

std::vector<row> run_on_cpu(options const& o)
{
  graph const g = is_rmat_spec(o.graph) ? make_rmat(o.graph, o.exec) : read_graph(o.graph, {}, o.exec);
  auto const b =
      std::make_shared<minibatch_bed>(minibatch_bed{hetero_graph(g), make_seeds(g.arrays().indptr.span(), num_seeds)});
  int const threads = base::num_threads(o.exec);
  session s(o.graph, o.repeats);
  s.add(gathers, "with prefetch", "gathers/s", "",
        [g, threads] { return independent_gathers(g.csr(), 40'000'000, threads); });
  for (auto const& what : settings()) {
    if (what.batch_size < fewest_seeds) { continue; }
    auto const sampler = std::make_shared<minibatch_sampler>(b->graph, what.params(), o.exec);
    s.add(fmt::format("batches one by one, {}", what.text()), "", "edges/s", gathers,
          one_by_one(b, what, sampler, true));
    s.add(fmt::format("batches together, {}", what.text()), "", "edges/s", gathers, many(b, what, sampler));
  }
  return s.run();
}

}  // namespace

std::vector<row> run_minibatch(options const& o) { return o.gpu.has_value() ? run_on_gpu(o) : run_on_cpu(o); }

}  // namespace tendril::bench
