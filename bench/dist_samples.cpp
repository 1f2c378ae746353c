#include "bench/dist_samples.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>

#include <fmt/format.h>

#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/sharded_features.hpp>
#include <tendril/sharded_khop.hpp>
#include <tendril/sharded_minibatch.hpp>

#include "bench/dist_ranks.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_batches = 24, batch_size = 1024;
constexpr std::int64_t num_roots = 1 << 15, roots_a_call = 1024;
constexpr std::int64_t num_rows = 1 << 18, row_bytes = 512;

std::vector<vertex_id> random_vertices(graph const& g, std::int64_t count)
{
  std::mt19937_64 random(1);
  std::vector<vertex_id> out(static_cast<std::size_t>(count));
  for (vertex_id& v : out) { v = static_cast<vertex_id>(random() % static_cast<std::uint64_t>(g.num_vertices())); }
  return out;
}

/// This rank's share of some things, which are dealt out in pieces.
template <class T>
std::span<T const> share_of(std::vector<T> const& all, std::int64_t piece, transport const& ranks, std::int64_t& first)
{
  std::int64_t const pieces = std::ssize(all) / piece;
  first = pieces * ranks.rank() / ranks.size();
  std::int64_t const last = pieces * (ranks.rank() + 1) / ranks.size();
  return std::span(all).subspan(static_cast<std::size_t>(first * piece),
                                static_cast<std::size_t>((last - first) * piece));
}

/// What a rank does between two barriers. @return how much it made.
using work = std::function<std::int64_t()>;

/// Things a second, of all ranks, the third time: the first two make memory, the second since messages have changed hands. New memory
/// of a virtual machine took up to 90 ms a call. @param prepare  A call of all ranks, before the clock starts.
double rate_on(transport* processes, int num_ranks, std::function<work(transport&)> const& prepare)
{
  double seconds = 0;
  std::int64_t made = 0;
  run_on(processes, num_ranks, [&](transport& ranks) {
    work const job = prepare(ranks);
    (void)job();
    std::int64_t mine = job();
    ranks.barrier("all ranks are ready");
    double const took = seconds_of([&] {
      mine = job();
      ranks.barrier("all ranks have ended");
    });
    std::int64_t const all = ranks.all_reduce("what was made", mine, reduction::sum);
    if (ranks.rank() == 0) {
      seconds = took;
      made = all;
    }
  });
  return seconds > 0 ? static_cast<double>(made) / seconds : 0;
}

std::int64_t edges_of(std::vector<minibatch> const& made)
{
  std::int64_t out = 0;
  for (minibatch const& batch : made) { out += batch.edges[0].edge.size(); }
  return out;
}

std::int64_t slots_of(khop_trees const& trees)
{
  std::int64_t out = 0;
  for (tree_hop const& hop : trees.hops) { out += hop.vertices.size(); }
  return out;
}

std::string on(int ranks) { return fmt::format("sharded, {} rank{}", ranks, ranks == 1 ? "" : "s"); }

struct samples_bed {
  graph const& g;
  std::map<int, std::vector<graph_part>> const& parts;
  transport* processes;
  std::vector<vertex_id> seeds, roots;
  std::vector<std::int64_t> ids;
  std::vector<std::byte> memory;
  feature_table table;

  [[nodiscard]] graph_part const& part(transport const& ranks) const
  {
    return parts.at(ranks.size())[static_cast<std::size_t>(ranks.rank())];
  }
};

double batches_on(samples_bed const& b, int num_ranks)
{
  minibatch_params const params{.num_neighbors = {15, 10, 5}};
  return rate_on(b.processes, num_ranks, [&](transport& ranks) -> work {
    auto const sampler = std::make_shared<sharded_minibatch_sampler>(b.part(ranks), params, ranks, on_threads(1));
    return [&, sampler] {
      std::int64_t first = 0;
      auto const mine = share_of(b.seeds, batch_size, ranks, first);
      return edges_of(sampler->sample_batches(mine, batch_size, {static_cast<std::uint64_t>(first), 1}));
    };
  });
}

double trees_on(samples_bed const& b, int num_ranks)
{
  khop_params const params{.fanouts = {25, 10}};
  constexpr std::int64_t piece = roots_a_call;
  return rate_on(b.processes, num_ranks, [&](transport& ranks) -> work {
    auto const sampler = std::make_shared<sharded_khop_sampler>(b.part(ranks), params, ranks, on_threads(1));
    return [&, sampler] {
      std::int64_t first = 0;
      auto const mine = share_of(b.roots, piece, ranks, first);
      auto const rounds = ranks.all_reduce("rounds", std::ssize(mine), reduction::max) / piece;
      std::int64_t slots = 0;
      for (std::int64_t r = 0; r < rounds; ++r) {
        auto const at = static_cast<std::size_t>(std::min(r * piece, std::ssize(mine)));
        auto const some = mine.subspan(at, std::min<std::size_t>(piece, mine.size() - at));
        slots += slots_of(sampler->sample(some, (first + r) * piece));
      }
      return slots;
    };
  });
}

double rows_on(samples_bed const& b, int num_ranks)
{
  return rate_on(b.processes, num_ranks, [&](transport& ranks) -> work {
    graph_part const& part = b.part(ranks);
    auto const rows = std::make_shared<sharded_features>(rows_of_part(b.table, part), part.info.bounds, ranks);
    std::int64_t first = 0;
    auto const mine = share_of(b.ids, 1, ranks, first);
    auto const out = std::make_shared<std::vector<std::byte>>(mine.size() * row_bytes);
    return [rows, mine, out] {
      rows->gather(mine, *out, on_threads(1));
      return std::ssize(*out);
    };
  });
}

}  // namespace

void add_dist_samples(session& s, graph const& g, std::map<int, std::vector<graph_part>> const& parts,
                      std::set<int> const& ranks, transport* processes)
{
  auto const b = std::make_shared<samples_bed>(samples_bed{
      g, parts, processes, random_vertices(g, num_batches * batch_size), random_vertices(g, num_roots), {}, {}, {}});
  for (vertex_id const v : random_vertices(g, num_rows)) { b->ids.push_back(v); }
  b->memory.resize(static_cast<std::size_t>(g.num_vertices() * row_bytes), std::byte{1});
  b->table = feature_table(b->memory, {"uint8", {g.num_vertices(), row_bytes}});

  std::string const batches = "mini-batches (15,10,5), ", trees = "k-hop (25,10), ", rows = "rows of 512 B, ";
  auto const sampler = std::make_shared<minibatch_sampler>(
      hetero_graph(g), minibatch_params{.num_neighbors = {15, 10, 5}}, on_threads(1));
  std::string const alone = "whole graph, 1 thread";
  s.add(batches + alone, "1,024 seeds each", "edges/s", "", [b, sampler] {
    std::int64_t edges = 0;
    double const took = seconds_of([&] { edges = edges_of(sampler->sample_batches(0, b->seeds, batch_size)); });
    return static_cast<double>(edges) / took;
  });
  s.add(trees + alone, "", "vertices/s", "", [b] {
    std::int64_t slots = 0;
    double const took = seconds_of([&] {
      for (std::int64_t first = 0; first < num_roots; first += roots_a_call) {
        auto const some = std::span(b->roots).subspan(static_cast<std::size_t>(first), roots_a_call);
        slots += slots_of(khop_sample(b->g, some, {.fanouts = {25, 10}}, on_threads(1), first));
      }
    });
    return static_cast<double>(slots) / took;
  });
  s.add(rows + "one table, 1 thread", "", "B/s", "", [b] {
    std::vector<std::byte> out(b->ids.size() * row_bytes);
    return static_cast<double>(out.size()) / seconds_of([&] { gather(b->table, b->ids, out, on_threads(1)); });
  });
  for (int const n : ranks) {
    s.add(batches + on(n), "", "edges/s", batches + (n == 1 ? alone : on(1)), [b, n] { return batches_on(*b, n); });
    s.add(trees + on(n), "", "vertices/s", trees + (n == 1 ? alone : on(1)), [b, n] { return trees_on(*b, n); });
    s.add(rows + on(n), "", "B/s", rows + (n == 1 ? "one table, 1 thread" : on(1)), [b, n] { return rows_on(*b, n); });
  }
}

}  // namespace tendril::bench
