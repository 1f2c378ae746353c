#include "bench/gpu_one_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/gpu_features.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/starts.hpp>

#include "bench/measure.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t gathered_rows = 600'000, row_bytes = 512;
constexpr int gathers = 50;
constexpr double hot_share = .1;

/// The vertices that so many random edges lead to, as samplers reach them.
std::vector<vertex_id> ends_of_edges(graph const& g, std::uint64_t seed)
{
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> edge(0, g.num_edges() - 1);
  std::vector<vertex_id> ids(static_cast<std::size_t>(gathered_rows));
  for (vertex_id& id : ids) { id = g.arrays().indices[static_cast<std::size_t>(edge(random))]; }
  return ids;
}

/// The vertices that most edges lead to.
std::vector<std::int64_t> hot_vertices(graph const& g)
{
  std::vector<std::int64_t> edges(static_cast<std::size_t>(g.num_vertices()), 0), ids(edges.size());
  for (vertex_id const v : g.arrays().indices) { ++edges[v]; }
  std::iota(ids.begin(), ids.end(), 0);
  auto const size = static_cast<std::ptrdiff_t>(hot_share * static_cast<double>(ids.size()));
  std::ranges::nth_element(ids, ids.begin() + size, std::greater<>(),
                           [&](std::int64_t v) { return edges[static_cast<std::size_t>(v)]; });
  ids.resize(static_cast<std::size_t>(size));
  return ids;
}

/// One GPU's ids, and room for its rows.
struct gathering {
  gpu_exec gpu;
  gpu_features from;
  buffer<vertex_id> ids;
  buffer<std::byte> out;

  gathering(feature_table const& table, std::span<vertex_id const> rows, gpu_exec const& exec)
      : gpu(exec), from(table, exec), ids(copy_to_gpu(rows, exec)), out(gathered_rows * row_bytes, memory_of(exec))
  {
  }

  void run() const { from.gather_unchecked({ids.data(), id_type::uint32, gathered_rows}, out_span(), gpu); }
  [[nodiscard]] std::span<std::byte> out_span() const
  {
    return {const_cast<std::byte*>(out.data()), static_cast<std::size_t>(out.size())};
  }
};

/// Bytes a second of all GPUs, each with a thread of its own.
double rate_of(std::vector<gathering> const& all)
{
  auto const num_gpus = static_cast<int>(all.size());
  double const seconds = seconds_of([&] {
    deal(
        num_gpus, num_gpus, 1,
        [&](int, std::int64_t i, std::int64_t) {
          gathering const& one = all[static_cast<std::size_t>(i)];
          for (int k = 0; k < gathers; ++k) { one.run(); }
          synchronize(one.gpu);
          return 0;
        },
        [](std::int64_t, std::int64_t, int) {});
  });
  return static_cast<double>(gathers * num_gpus) * static_cast<double>(gathered_rows * row_bytes) / seconds;
}

/// All GPUs gather from one table, whose rows are of the vertices that ids_of(seed) gives.
template <class IdsOf>
std::vector<row> run_on(options const& o, std::string const& name, feature_table const& spread, IdsOf const& ids_of)
{
  session s(o.graph, o.repeats);
  std::vector<gathering> all;
  for (int const device : o.gpus) {
    all.emplace_back(spread, ids_of(static_cast<std::uint64_t>(device) + 1), gpu_exec(device));
  }
  s.add(fmt::format("{}, one table over {} GPUs", name, o.gpus.size()),
        fmt::format("{} rows, {} times each, of {:.1f} GB", gathered_rows, gathers,
                    1e-9 * static_cast<double>(spread.num_bytes())),
        "B/s", "", [&all] { return rate_of(all); });
  return s.run();
}

}  // namespace

std::vector<row> run_gpu_one_table(options const& o, graph const& g)
{
  buffer<std::byte> const rows(checked_product("bytes of rows", g.num_vertices(), row_bytes));
  feature_table const table(rows.span(), {"uint8", {g.num_vertices(), row_bytes}});
  auto const edges = [&](std::uint64_t seed) { return ends_of_edges(g, seed); };
  auto const any = [&](std::uint64_t seed) {
    auto const ids = random_vertices(g.num_vertices(), gathered_rows, seed);
    return std::vector<vertex_id>(ids.begin(), ids.end());
  };
  std::vector<row> found;
  auto const add = [&found](std::vector<row> const& made) { found.insert(found.end(), made.begin(), made.end()); };
  {
    feature_table const spread = spread_over_gpus(table, o.gpus);
    add(run_on(o, "rows of 512 bytes", spread, any));
    add(run_on(o, "rows that edges lead to, 0 % on all", spread, edges));
  }  // or the next one might have no room
  add(run_on(o, fmt::format("rows that edges lead to, {:.0f} % on all", 100 * hot_share),
             spread_over_gpus(table, o.gpus, hot_vertices(g)), edges));
  return found;
}

}  // namespace tendril::bench
