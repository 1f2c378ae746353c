#include "bench/gpu_placed_walks.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/place.hpp>
#include <tendril/walk.hpp>

#include "bench/placed_shares.hpp"
#include "gpu/walks/region_launch.hpp"
#include "gpu/walks/regions.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t walk_length = 80;
constexpr std::int64_t most_walkers = 100'000'000;
constexpr std::int64_t fewest_walkers = 1'000'000;
constexpr char alone[] = "CPU alone";

/// A graph in host memory, without weights and labels, in a compressed form, and where walks start and end.
struct bed {
  gpu_exec gpu;
  cpu_exec cpu;
  graph g;
  std::int64_t num_walkers = most_walkers;  // that memory has room for
  std::vector<vertex_id> starts;            // with an edge
  buffer<vertex_id> starts_there, rows_there;

  bed(std::string const& name, options const& o) : gpu(*o.gpu), cpu(o.exec), g(in_lists(bare_graph(name, gpu), cpu))
  {
    std::int64_t const row_bytes = 4 * (walk_length + 3) + 16;
    num_walkers = std::min(num_walkers, (free_gpu_bytes(gpu.device) - g.num_bytes()) / 10 * 9 / row_bytes);
    std::vector<vertex_id> with_edges;
    graph_view const view = g.view();
    for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
      if (view.degree(v) > 0) { with_edges.push_back(static_cast<vertex_id>(v)); }
    }
    starts.resize(static_cast<std::size_t>(num_walkers));
    // 2^32 / the golden ratio: walks that follow each other start far from each other.
    for (std::size_t i = 0; i < starts.size(); ++i) { starts[i] = with_edges[i * 2654435769U % with_edges.size()]; }
    starts_there = copy_to_gpu(starts, gpu);
    rows_there = buffer<vertex_id>(num_walkers * (walk_length + 1), memory_of(gpu));
  }

  [[nodiscard]] graph placed(double share) const
  {
    place_params params;
    params.gpu_bytes = list_bytes(g.arrays().compressed).with_share(share);
    params.job = walk_params{.length = walk_length};
    return place_graph(g, params, gpu);
  }
};

std::string how_many(std::int64_t walkers) { return fmt::format("{:.3g} walkers", static_cast<double>(walkers)); }

void add_alone(session& s, std::shared_ptr<bed> const& b)
{
  auto const w = std::make_shared<walker>(b->g, walk_params{.length = walk_length}, 1, b->cpu);
  auto const rows = std::make_shared<buffer<vertex_id>>(fewest_walkers * (walk_length + 1));
  s.add(alone, how_many(fewest_walkers), "steps/s", "", [b, w, rows] {
    auto const starts = std::span<vertex_id const>(b->starts).first(static_cast<std::size_t>(fewest_walkers));
    double const seconds = seconds_of([&] { w->run_into(starts, 0, rows->data(), nullptr, b->cpu); });
    return static_cast<double>(fewest_walkers * walk_length) / seconds;
  });
}

void add_passing(session& s, std::shared_ptr<bed> const& b, std::shared_ptr<graph> const& there)
{
  constexpr std::int64_t unit = 4096;
  placed_lists const& placed = *there->placed();
  std::int64_t const bytes = std::min<std::int64_t>(placed.host_bytes, std::int64_t{1} << 28U) / unit * unit;
  if (bytes == 0) { return; }
  auto const to = std::make_shared<buffer<unsigned char>>(bytes, memory_of(b->gpu));
  auto const* const from = reinterpret_cast<unsigned char const*>(there->arrays().compressed.words.data()) +
                           (placed.gpu_bytes + unit - 1) / unit * unit;
  for (int const blocks : {8, 16, 24, 48, 96}) {
    s.add("lists that pass", fmt::format("{} thread blocks", blocks), "B/s", "", [b, there, to, from, bytes, blocks] {
      synchronize(b->gpu);
      double const seconds = seconds_of([&] {
        gpu::load_region(from, to->data(), bytes - unit, blocks, b->gpu.stream);
        synchronize(b->gpu);
      });
      return static_cast<double>(bytes - unit) / seconds;
    });
  }
}

struct executor {
  char const* name;
  gpu::region_tuning tuning;
  std::int64_t walkers;
};

/// Walks of 80 steps from vertices with an edge; all of them take all steps if the graph is symmetric.
void add_walks(session& s, std::shared_ptr<bed> const& b, std::shared_ptr<graph> const& there, executor const& how)
{
  if (how.walkers > b->num_walkers) { return; }
  auto const w = std::make_shared<walker>(*there, walk_params{.length = walk_length}, 1, b->gpu);
  std::string const params =
      fmt::format("{}, {:.1f} % of the reads on the GPU", how_many(how.walkers), 100 * there->placed()->visits_on_gpu);
  s.add(how.name, params, "steps/s", alone, [b, there, w, how] {
    auto const starts = b->starts_there.span().first(static_cast<std::size_t>(how.walkers));
    synchronize(b->gpu);
    double const seconds = seconds_of([&] {
      (void)gpu::run_by_regions(*w, starts, 0, b->rows_there.data(), nullptr, b->gpu, walk_order::row_major,
                                how.tuning);
    });
    return static_cast<double>(how.walkers * walk_length) / seconds;
  });
}

std::vector<executor> executors()
{
  gpu::region_tuning const never{.least_walks = std::numeric_limits<std::int64_t>::max()};
  gpu::region_tuning three, quarter, half, small, large, patient;
  three.buffer_share = 0;
  quarter.buffer_share = 0.25;
  half.buffer_share = 0.5;
  small.region_bytes = std::int64_t{1} << 23U;
  large.region_bytes = std::int64_t{1} << 25U;
  patient.choice.bytes_a_walk *= 2;
  constexpr std::int64_t some = 10'000'000;
  return {{"single reads", never, fewest_walkers},
          {"single reads", never, some},
          {"as planned", {}, 2 * fewest_walkers},
          {"as planned", {}, some},
          {"as planned", {}, most_walkers},
          {"three regions on the GPU", three, some},
          {"three regions on the GPU", three, most_walkers},
          {"a quarter in buffers", quarter, some},
          {"half in buffers", half, some},
          {"half in buffers", half, most_walkers},
          {"regions of 8 MB", small, some},
          {"regions of 32 MB", large, some},
          {"regions of 32 MB", large, most_walkers},
          {"single reads half as soon", patient, some}};
}

}  // namespace

std::vector<row> run_gpu_placed_walks(options const& o)
{
  auto const name_of = [](std::string const& name, double share) {
    return fmt::format("{}, {:.0f} % of the lists on the GPU", name, 100 * share);
  };
  return for_each_share<bed>(o, name_of, [](session& s, std::shared_ptr<bed> const& b, double share, bool is_first) {
    auto const there = std::make_shared<graph>(b->placed(share));
    add_alone(s, b);
    if (is_first) { add_passing(s, b, there); }
    for (executor const& how : executors()) { add_walks(s, b, there, how); }
  });
}

}  // namespace tendril::bench
