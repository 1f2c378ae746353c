#include "store/generate_finish.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include <tendril/error.hpp>

#include "core/random.hpp"          // draw_block, bounded64
#include "store/expects.hpp"        // TENDRIL_EXPECTS
#include "store/generate_math.hpp"  // normal_quantile
#include "store/parallel.hpp"       // parallel_ranges

namespace tendril::store {
namespace {

constexpr std::int64_t vertex_grain = std::int64_t{1} << 12U;
constexpr int max_labels = 65536;

/// f(v, e, pair) for each edge, where `pair` names its ends as one number.
template <class F>
void for_each_edge(graph_arrays const& arrays, cpu_exec const& exec, F&& f)
{
  bool const unordered = arrays.symmetric;
  parallel_ranges(exec, arrays.indptr.size() - 1, vertex_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      for (edge_id e = arrays.indptr[v]; e < arrays.indptr[v + 1]; ++e) {
        auto a = static_cast<std::uint64_t>(v), b = std::uint64_t{arrays.indices[e]};
        if (unordered && a > b) { std::swap(a, b); }
        f(e, (a << 32U) | b);
      }
    }
  });
}

buffer<float> draw_weights(graph_arrays const& arrays, decoration const& extra, std::uint64_t seed,
                           cpu_exec const& exec)
{
  buffer<float> weights(arrays.indices.size(), *exec.memory);
  auto const key = core::make_key(seed, core::domain::generator_weights);
  if (extra.weight_sigma > 0) {
    for_each_edge(arrays, exec, [&](edge_id e, std::uint64_t pair) {
      double const u = core::unit_interval(core::draw_block(key, pair, 0, 0).low()) + 0x1p-54;  // never 0 or 1
      weights[e] = static_cast<float>(portable_exp(extra.weight_sigma * normal_quantile(u)));
    });
    return weights;
  }
  double const low = extra.weight_min, width = double{extra.weight_max} - low;
  float const largest = std::nextafter(extra.weight_max, extra.weight_min);
  for_each_edge(arrays, exec, [&](edge_id e, std::uint64_t pair) {
    double const u = core::unit_interval(core::draw_block(key, pair, 0, 0).low());
    weights[e] = std::min(static_cast<float>(low + width * u), largest);
  });
  return weights;
}

template <class T>
buffer<T> draw_edge_labels(graph_arrays const& arrays, int num_labels, std::uint64_t seed, cpu_exec const& exec)
{
  buffer<T> labels(arrays.indices.size(), *exec.memory);
  auto const key = core::make_key(seed, core::domain::generator_labels);
  for_each_edge(arrays, exec, [&](edge_id e, std::uint64_t pair) {
    labels[e] =
        static_cast<T>(core::bounded(core::draw_block(key, pair, 0, 0).low(), static_cast<std::uint32_t>(num_labels)));
  });
  return labels;
}

template <class T>
buffer<T> draw_node_types(std::int64_t num_vertices, int num_types, std::uint64_t seed, cpu_exec const& exec)
{
  buffer<T> types(num_vertices, *exec.memory);
  auto const key = core::make_key(seed, core::domain::generator_node_types);
  parallel_ranges(exec, num_vertices, vertex_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      auto const bits = core::draw_block(key, static_cast<std::uint64_t>(v), 0, 0).low();
      types[v] = static_cast<T>(core::bounded(bits, static_cast<std::uint32_t>(num_types)));
    }
  });
  return types;
}

}  // namespace

void expect_memory(char const* generator, double bytes)
{
  double const all = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (bytes > all) {
    throw memory_error(
        fmt::format("{}: the graph takes about {:.0f} GiB to build, expected at most the {:.0f} GiB of "
                    "this machine",
                    generator, std::ceil(bytes * 0x1p-30), std::floor(all * 0x1p-30)));
  }
}

void expect_decoration(char const* generator, decoration const& extra)
{
  TENDRIL_EXPECTS(!extra.has_weights || extra.weight_sigma > 0 ||
                      (std::isfinite(extra.weight_max) && 0 <= extra.weight_min && extra.weight_min < extra.weight_max),
                  "{}: weights from {} to {}, expected 0 <= min < max", generator, extra.weight_min, extra.weight_max);
  TENDRIL_EXPECTS(extra.weight_sigma >= 0 && extra.weight_sigma <= 10,
                  "{}: weight_sigma is {}, expected 0 (uniform weights) to 10", generator, extra.weight_sigma);
  TENDRIL_EXPECTS(extra.num_labels >= 0 && extra.num_labels <= max_labels,
                  "{}: num_labels is {}, expected 0 (no labels) to {}", generator, extra.num_labels, max_labels);
  TENDRIL_EXPECTS(extra.num_node_types >= 0 && extra.num_node_types <= max_labels,
                  "{}: num_node_types is {}, expected 0 (no types) to {}", generator, extra.num_node_types, max_labels);
}

drawn_edges make_room(char const* generator, std::int64_t num_vertices, std::int64_t num_edges,
                      build_options const& build, decoration const& extra, cpu_exec const& exec)
{
  expect_decoration(generator, extra);
  // While it is built: the edges, an entry of 8 bytes an arc, and the graph.
  double const arcs = static_cast<double>(num_edges) * (build.symmetrize ? 2 : 1);
  expect_memory(generator, 8.0 * static_cast<double>(num_edges) + (build.keep_edge_ids ? 28.0 : 12.0) * arcs +
                               8.0 * static_cast<double>(num_vertices));
  return {buffer<vertex_id>(num_edges, *exec.memory), buffer<vertex_id>(num_edges, *exec.memory)};
}

graph decorate(graph_arrays arrays, decoration const& extra, std::uint64_t seed, cpu_exec const& exec)
{
  if (extra.has_weights || extra.weight_sigma > 0) { arrays.weights = draw_weights(arrays, extra, seed, exec); }
  if (extra.num_labels > 256) {
    arrays.edge_labels = shared_array(draw_edge_labels<std::uint16_t>(arrays, extra.num_labels, seed, exec));
  } else if (extra.num_labels > 0) {
    arrays.edge_labels = shared_array(draw_edge_labels<std::uint8_t>(arrays, extra.num_labels, seed, exec));
  }
  std::int64_t const vertices = arrays.indptr.size() - 1;
  if (extra.num_node_types > 256) {
    arrays.node_types = shared_array(draw_node_types<std::uint16_t>(vertices, extra.num_node_types, seed, exec));
  } else if (extra.num_node_types > 0) {
    arrays.node_types = shared_array(draw_node_types<std::uint8_t>(vertices, extra.num_node_types, seed, exec));
  }
  return graph(std::move(arrays));
}

graph finish(drawn_edges edges, std::int64_t num_vertices, build_options build, decoration const& extra,
             std::uint64_t seed, std::string name, std::string origin, cpu_exec const& exec)
{
  if (build.num_vertices < 0) { build.num_vertices = num_vertices; }
  graph_arrays arrays = build_graph({edges.sources.span(), edges.targets.span()}, build, exec).arrays();
  edges = {};
  arrays.metadata = {{"name", std::move(name)}, {"origin", std::move(origin)}};
  return decorate(std::move(arrays), extra, seed, exec);
}

}  // namespace tendril::store
