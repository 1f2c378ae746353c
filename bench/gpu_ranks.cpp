#include "bench/gpu_ranks.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/partition.hpp>
#include <tendril/sharded_features.hpp>
#include <tendril/sharded_khop.hpp>
#include <tendril/sharded_minibatch.hpp>
#include <tendril/starts.hpp>
#include <tendril/transport.hpp>

#include "bench/gpu_rank_bed.hpp"
#include "bench/measure.hpp"
#include "graph/check.hpp"  // view_of

namespace tendril::bench {
namespace {

constexpr int calls = 2;
constexpr int count_rounds = 32;  // that starts come to the GPU, and counts from it, is a small share then
constexpr std::int64_t walk_length = 80;
constexpr std::int64_t scan_length = 8;                      // a step reads a whole row
constexpr std::int64_t seeds_each = std::int64_t{1} << 20U;  // of a call
constexpr int tree_calls = 8;
constexpr std::int64_t batches_each = 256;  // of a call
constexpr std::int64_t batch_size = 1024;
constexpr int batch_calls = 4;
constexpr std::int64_t row_bytes = 512;
constexpr std::int64_t table_bytes_each = std::int64_t{8} << 30U;
constexpr std::int64_t rows_each = std::int64_t{1} << 21U;  // of a call
constexpr int row_calls = 8;

using bed = rank_bed;

/// Steps a second of all ranks.
double rate_on(bed const& on, walk_params const& params)
{
  rank_walks const made = walk_on(on, params, most_walkers, calls);
  return static_cast<double>(made.steps) / made.seconds;
}

/// The same of walks that are counted.
double count_rate_on(bed const& on, walk_params const& params, walk_count what)
{
  rank_walks const made = count_on(on, params, what, count_rounds);
  return static_cast<double>(made.steps) / made.seconds;
}

/// Vertices of trees a second of all ranks, the seeds aside.
double tree_rate_on(bed const& on, khop_params const& params)
{
  double out = 0;
  run_ranks(on.gpus.size(), [&](transport& ranks) {
    auto const at = static_cast<std::size_t>(ranks.rank());
    gpu_exec const exec(on.gpus[ranks.rank()]);
    sharded_khop_sampler sampler(on.parts[at], params, ranks, exec);
    auto const from = copy_to_gpu(std::span(on.starts[at]).first(seeds_each), exec);
    std::int64_t const first = ranks.rank() * seeds_each;
    khop_trees made = sampler.sample(from.span(), exec, first);  // the pool has its memory then
    ranks.barrier("all ranks have memory");
    std::int64_t vertices = 0;
    double const seconds = seconds_of([&] {
      for (int call = 0; call < tree_calls; ++call) {
        made = {};
        made = sampler.sample(from.span(), exec, call * ranks.size() * seeds_each + first);
        for (tree_hop const& hop : made.hops) { vertices += hop.vertices.size(); }
      }
      ranks.barrier("all ranks have sampled");
    });
    vertices = ranks.all_reduce("vertices", vertices, reduction::sum);
    if (ranks.rank() == 0) { out = static_cast<double>(vertices) / seconds; }
  });
  return out;
}

/// Edges of mini-batches a second of all ranks.
double batch_rate_on(bed const& on, minibatch_params const& params)
{
  double out = 0;
  run_ranks(on.gpus.size(), [&](transport& ranks) {
    auto const at = static_cast<std::size_t>(ranks.rank());
    gpu_exec const exec(on.gpus[ranks.rank()]);
    sharded_minibatch_sampler sampler(on.parts[at], params, ranks, exec);
    auto const from = copy_to_gpu(std::span(on.starts[at]).first(batches_each * batch_size), exec);
    auto const sample = [&](int call) {
      auto const first = static_cast<std::uint64_t>((call * ranks.size() + ranks.rank()) * batches_each);
      return sampler.sample_batches(from.span(), batch_size, {first, 1}, exec);
    };
    std::vector<minibatch> made = sample(0);  // the pool has its memory then
    std::int64_t edges = -sampler.report().edges;
    ranks.barrier("all ranks have memory");
    double const seconds = seconds_of([&] {
      for (int call = 1; call <= batch_calls; ++call) {
        made.clear();
        made = sample(call);
      }
      ranks.barrier("all ranks have sampled");
    });
    edges += sampler.report().edges;
    edges = ranks.all_reduce("edges", edges, reduction::sum);
    if (ranks.rank() == 0) { out = static_cast<double>(edges) / seconds; }
  });
  return out;
}

/// Rows that ranks gather.
struct wanted_rows {
  std::vector<std::int64_t> bounds;    ///< [ranks + 1]
  std::vector<buffer<vertex_id>> ids;  ///< [ranks][rows_each]
  std::vector<std::int64_t> kept;      ///< That every rank has copies of.
};

/// Random ones.
std::shared_ptr<wanted_rows const> random_rows(int num_ranks)
{
  auto const made = std::make_shared<wanted_rows>();
  wanted_rows& out = *made;
  for (int r = 0; r <= num_ranks; ++r) { out.bounds.push_back(table_bytes_each / row_bytes * r); }
  for (int r = 0; r < num_ranks; ++r) {
    out.ids.push_back(random_vertices(out.bounds.back(), rows_each, static_cast<std::uint64_t>(r) + 7));
  }
  return made;
}

/// The target of an edge of a part.
template <class View>
vertex_id target_of(View const& rows, edge_id e)
{
  std::int64_t v = 0;
  for (std::int64_t end = rows.num_vertices; end - v > 1;) {  // e is one of the edges of [v, end)
    std::int64_t const middle = v + (end - v) / 2;
    (rows.first_edge(middle) <= e ? v : end) = middle;
  }
  return rows.edge_target(e, v);
}

/// Those that random edges lead to, with copies of a share of all rows.
std::shared_ptr<wanted_rows const> rows_of_edges(bed const& on, double share)
{
  auto const made = std::make_shared<wanted_rows>();
  wanted_rows& out = *made;
  out.bounds = on.parts[0].info.bounds;
  for (graph_part const& part : on.parts) {
    auto const seed = static_cast<std::uint64_t>(part.index) + 7;
    auto& ids = out.ids.emplace_back(
        random_vertices(part.info.part_edges[static_cast<std::size_t>(part.index)], rows_each, seed));
    validation::view_of(part.rows).visit([&](auto const& rows) {
      for (vertex_id& id : ids) { id = target_of(rows, id); }
    });
  }
  run_ranks(on.gpus.size(), [&](transport& ranks) {
    auto const count = static_cast<std::int64_t>(share * static_cast<double>(out.bounds.back()));
    auto const hot = hot_vertices(on.parts[static_cast<std::size_t>(ranks.rank())], count, ranks);
    if (ranks.rank() == 0) { out.kept = hot; }
  });
  return made;
}

/// Bytes of rows a second of all ranks.
double row_rate_on(bed const& on, wanted_rows const& what)
{
  std::vector<std::int64_t> const& bounds = what.bounds;
  double out = 0;
  run_ranks(on.gpus.size(), [&](transport& ranks) {
    auto const at = static_cast<std::size_t>(ranks.rank());
    gpu_exec const exec(on.gpus[ranks.rank()]);
    std::int64_t const num_rows = bounds[at + 1] - bounds[at];
    buffer<std::byte> const rows(checked_product("bytes of rows", num_rows, row_bytes), memory_of(exec));
    auto const here = feature_table::on_gpu(exec.device, {rows.data(), static_cast<std::size_t>(rows.size())},
                                            {"uint8", {num_rows, row_bytes}}, nullptr);
    sharded_features features(here, bounds, ranks, exec);
    if (!what.kept.empty()) { features.keep(what.kept, exec); }
    auto const ids = copy_to_gpu(what.ids[at].span(), exec);
    id_matrix const wanted{ids.data(), id_type::uint32, rows_each};
    buffer<std::byte> made(checked_product("bytes of rows", rows_each, row_bytes), memory_of(exec));
    auto const gather = [&] { features.gather(wanted, {made.data(), static_cast<std::size_t>(made.size())}, exec); };
    gather();
    ranks.barrier("all ranks have memory");
    double const seconds = seconds_of([&] {
      for (int call = 0; call < row_calls; ++call) { gather(); }
      ranks.barrier("all ranks have gathered");
    });
    if (ranks.rank() == 0) { out = static_cast<double>(row_calls * ranks.size() * made.size()) / seconds; }
  });
  return out;
}

void add_jobs(session& s, std::shared_ptr<bed const> const& on, bool has_weights)
{
  int const n = on->gpus.size();
  auto const add = [&](std::string const& job, std::string params, std::string unit, std::function<double()> run) {
    s.add(fmt::format("{}, sharded, {} GPU{}", job, n, n == 1 ? "" : "s"), std::move(params), std::move(unit),
          n == 1 ? std::string() : fmt::format("{}, sharded, 1 GPU", job), std::move(run));
  };
  walk_params const uniform{.length = walk_length}, weighted{.length = walk_length, .weighted = true};
  walk_params const second_order{.length = walk_length, .p = 2, .q = 0.5};
  std::vector<std::pair<std::string, walk_params>> walks{{"uniform walks", uniform},
                                                         {"node2vec (2,0.5)", second_order}};
  if (has_weights) {
    walks.emplace_back("weighted walks", weighted);
    walk_params const scanning{.length = scan_length, .weighted = true, .rule = sampling_rule::scan};
    walks.emplace_back(fmt::format("weighted walks of {} steps, by scan", scan_length), scanning);
  }
  for (auto const& [name, params] : walks) {
    add(name, fmt::format("{} walkers; {}", calls * n * most_walkers, plan_on(*on, params)), "steps/s",
        [on, params = params] { return rate_on(*on, params); });
  }
  for (walk_count const what : {walk_count::visits, walk_count::ends}) {
    add(fmt::format("uniform walks, {} counted", to_string(what)),
        fmt::format("{} walkers", count_rounds * n * most_walkers), "steps/s",
        [on, uniform, what] { return count_rate_on(*on, uniform, what); });
  }
  add("k-hop (25,10)", fmt::format("{} seeds a call", n * seeds_each), "vertices/s", [on] {
    return tree_rate_on(*on, {.fanouts = {25, 10}});
  });
  add("mini-batches 1,024 (15,10,5)", fmt::format("{} batches a call", n * batches_each), "edges/s", [on] {
    return batch_rate_on(*on, {.num_neighbors = {15, 10, 5}});
  });
  add(fmt::format("rows of {} bytes", row_bytes),
      fmt::format("{} rows a call, of {} GB on each", n * rows_each, table_bytes_each >> 30U), "B/s",
      [on, what = random_rows(n)] { return row_rate_on(*on, *what); });
  for (int const percent : {0, 10}) {
    add(fmt::format("rows that edges lead to, {} % on all", percent), fmt::format("{} rows a call", n * rows_each),
        "B/s", [on, what = rows_of_edges(*on, percent / 100.0)] { return row_rate_on(*on, *what); });
  }
}

}  // namespace

std::vector<row> run_gpu_ranks(options const& o, graph const& g)
{
  session s(o.graph, o.repeats);
  for (int const n : std::set{1, o.gpus.size()}) {
    if (fmt::format("parts on {}", n).find(o.only) == std::string::npos) { continue; }
    add_jobs(s, rank_bed_on(o, g, n), g.has_weights());
  }
  return s.run();
}

}  // namespace tendril::bench
