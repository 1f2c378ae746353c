#include "generate/finish.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tendril/edge_list.hpp>

#include "base/memory_room.hpp"      // expect_memory
#include "base/parallel.hpp"         // parallel_ranges
#include "core/edge_attributes.hpp"  // edge_item, weight_rule, label_rule
#include "generate/params.hpp"       // expect_edge_attributes

namespace tendril::generate {
namespace {

/// f(e, item) for each edge, where `item` is what its draws belong to.
template <class F>
void for_each_edge(graph_arrays const& arrays, cpu_exec const& exec, F&& f)
{
  base::parallel_ranges(exec, arrays.indptr.size() - 1, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      for (edge_id e = arrays.indptr[v]; e < arrays.indptr[v + 1]; ++e) {
        f(e, core::edge_item(arrays.symmetric, static_cast<vertex_id>(v), arrays.indices[e]));
      }
    }
  });
}

buffer<float> draw_weights(graph_arrays const& arrays, edge_attributes const& extra, std::uint64_t seed,
                           cpu_exec const& exec)
{
  buffer<float> weights(arrays.indices.size(), *exec.memory);
  auto const rule = core::weight_rule::of(seed, extra.weight_min, extra.weight_max, extra.weight_sigma);
  for_each_edge(arrays, exec, [&](edge_id e, std::uint64_t item) { weights[e] = rule(item); });
  return weights;
}

template <class T>
buffer<T> draw_edge_labels(graph_arrays const& arrays, int num_labels, std::uint64_t seed, cpu_exec const& exec)
{
  buffer<T> labels(arrays.indices.size(), *exec.memory);
  core::label_rule const rule{core::make_key(seed, core::domain::generator_labels),
                              static_cast<std::uint32_t>(num_labels)};
  for_each_edge(arrays, exec, [&](edge_id e, std::uint64_t item) { labels[e] = static_cast<T>(rule(item)); });
  return labels;
}

template <class T>
buffer<T> draw_node_types(std::int64_t num_vertices, int num_types, std::uint64_t seed, cpu_exec const& exec)
{
  buffer<T> types(num_vertices, *exec.memory);
  core::label_rule const rule{core::make_key(seed, core::domain::generator_node_types),
                              static_cast<std::uint32_t>(num_types)};
  base::parallel_ranges(exec, num_vertices, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) { types[v] = static_cast<T>(rule(static_cast<std::uint64_t>(v))); }
  });
  return types;
}

}  // namespace

void expect_memory(char const* generator, double bytes)
{
  constexpr double most = 0x1p62;
  base::expect_memory(static_cast<std::int64_t>(std::min(bytes, most)),
                      fmt::format("{}: building the graph", generator));
}

drawn_edges make_room(char const* generator, std::int64_t num_vertices, std::int64_t num_edges,
                      build_options const& build, edge_attributes const& extra, cpu_exec const& exec)
{
  expect_edge_attributes(generator, extra);
  // While it is built: the edges, those of a pass of four, and the graph. What drops duplicates may leave little, and
  // without added edges or ids the graph takes less than the edges that made way for it.
  double const edges = static_cast<double>(num_edges), arcs = edges * (build.symmetrize ? 2 : 1);
  double const of_pass = arcs / 4 * (build.keep_edge_ids ? 16 : 8);
  bool const is_beside = !build.drop_duplicates && (build.symmetrize || build.keep_edge_ids);
  double const result = is_beside ? arcs * (build.keep_edge_ids ? 12 : 4) : 0;
  expect_memory(generator, 8 * edges + of_pass + result + 8 * static_cast<double>(num_vertices));
  return {buffer<vertex_id>(num_edges, *exec.memory), buffer<vertex_id>(num_edges, *exec.memory)};
}

graph decorate(graph_arrays arrays, edge_attributes const& extra, std::uint64_t seed, cpu_exec const& exec)
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
  return graph(std::move(arrays), graph_content::valid);
}

graph finish(drawn_edges edges, std::int64_t num_vertices, build_options build, edge_attributes const& extra,
             std::uint64_t seed, std::map<std::string, std::string> metadata, cpu_exec const& exec)
{
  if (build.num_vertices < 0) { build.num_vertices = num_vertices; }
  edge_list list{std::move(edges.sources), std::move(edges.targets)};
  graph_arrays arrays = build_graph(std::move(list), build, exec).arrays();
  arrays.metadata = std::move(metadata);
  return decorate(std::move(arrays), extra, seed, exec);
}

}  // namespace tendril::generate
