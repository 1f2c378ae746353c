// Places a graph on a GPU and in host memory. What lies where: src/place/placement.hpp; the memory: managed.hpp.

#include <tendril/place.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>  // ssize
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/gpu.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/device/check.hpp"
#include "gpu/graph/array_copies.hpp"
#include "gpu/placed/arrays.hpp"
#include "gpu/placed/managed.hpp"
#include "place/placement.hpp"

namespace tendril {
namespace {

using place::edge_array;
using place::placement;

/// Whether a job reads weights and labels with the lists. Of a policy without a job nobody knows.
struct edge_reads {
  bool weights = true;
  bool labels = true;

  [[nodiscard]] static edge_reads of(place_params const& params)
  {
    if (params.policy != placement_policy::visits) { return {}; }
    if (auto const* const walk = std::get_if<walk_params>(&params.job)) {
      return {walk->weighted, !walk->metapath.empty() && walk->metapath_of == metapath_kind::edge_labels};
    }
    if (auto const* const khop = std::get_if<khop_params>(&params.job)) { return {khop->weighted, false}; }
    return {std::get<minibatch_params>(params.job).weighted, false};
  }
};

/// [V] what the lists are ranked by, times their bytes.
buffer<float> ranks_of(graph const& host, place_params const& params)
{
  buffer<float> out(host.num_vertices());
  graph_view const view = host.view();
  for (std::int64_t v = 0; v < out.size(); ++v) {
    if (params.policy == placement_policy::scores) {
      out[v] = params.scores[static_cast<std::size_t>(v)];
      TENDRIL_EXPECTS(out[v] >= 0 && std::isfinite(out[v]), "scores: {} of vertex {}, expected finite numbers >= 0",
                      out[v], v);
    } else {
      auto const degree = static_cast<float>(view.degree(v));
      out[v] = degree * degree;
    }
  }
  return out;
}

std::int64_t bytes_of(label_array const& labels) { return labels.size() * labels.bytes_per_label(); }

/// An edge array as the graph stores it: as an array, or packed.
edge_array stored_array(std::int64_t plain_bytes, std::int64_t plain_bits, packed_array const& packed, double reads)
{
  if (packed.empty()) { return {plain_bytes, plain_bits, reads}; }
  return {4 * packed.words.size(), packed.width, reads};
}

constexpr gpu::budget_names names{"gpu_bytes", "directory"};

/// A graph that is to be placed, and what is known of it before anything is moved.
struct prepared {
  graph host;    ///< What CPUs sample.
  graph packed;  ///< The same in compressed form.
  temporal_order order;
  compressed_lists lists;  ///< Those of `packed`, one behind the other.
  buffer<std::uint64_t> starts;
  std::vector<edge_array> arrays;  ///< Weights, labels, ids of edges, original ids, times, and what they order.

  prepared(graph const& input, temporal_order const& times, edge_reads const& reads)
      : host(input),
        packed(input.form() == graph_form::csr ? compress(input, graph_form::packed) : input),
        order(times),
        lists(packed.arrays().compressed),
        starts(place::block_starts(lists, {}))
  {
    if (starts.empty()) {
      lists = place::rewritten(packed, {});
      starts = place::block_starts(lists, {});
      if (starts.empty()) { throw std::logic_error("place: blocks that were just written don't follow each other"); }
    }
    graph_arrays const& from = packed.arrays();
    double const timed = order.empty() ? 0 : 1;
    narrow_edges const& narrow = from.narrow;
    arrays = {stored_array(4 * from.weights.size(), 32, narrow.weight_codes, reads.weights ? 1.0 : 0.0),
              stored_array(bytes_of(from.edge_labels), 8 * from.edge_labels.bytes_per_label(), narrow.labels,
                           reads.labels ? 1.0 : 0.0),
              stored_array(8 * from.edge_ids.size(), 64, narrow.ids, 0),
              {4 * from.original_ids.size(), 32, 0},
              {8 * order.times.size(), 64, timed},
              {4 * order.ordinal.size(), 32, timed}};
  }

  [[nodiscard]] std::int64_t directory_bytes() const
  {
    graph_arrays const& from = packed.arrays();
    return 64 * lists.blocks.size() + 16 * lists.wide.size() + 4 * from.narrow.weight_values.size() +
           bytes_of(from.node_types);
  }
  [[nodiscard]] std::int64_t edge_bytes() const
  {
    return std::accumulate(arrays.begin(), arrays.end(), std::int64_t{0},
                           [](std::int64_t sum, edge_array const& a) { return sum + a.bytes(); });
  }
  /// @param visits  [V] What its lists are read.
  [[nodiscard]] placed_lists what_lies_where(placement const& plan, std::span<float const> visits,
                                             work_share share) const
  {
    return {host,
            plan.gpu_bytes,
            plan.all_bytes - plan.gpu_bytes,
            directory_bytes(),
            plan.gpu_edge_bytes,
            edge_bytes() - plan.gpu_edge_bytes,
            place::share_on_gpu(lists, plan, visits, {}),
            place::cuts_of(starts.span(), plan),
            share,
            order};
  }
};

/// The lists, moved to their places in managed memory.
shared_array<std::uint32_t> moved_lists(prepared const& from, placement const& plan, gpu_exec const& exec)
{
  std::int64_t const all_words = plan.all_bytes / 4 + static_cast<std::int64_t>(list_codes::words_beyond);
  buffer<std::uint32_t> words(all_words, gpu::managed_memory(exec.device));
  auto const write = [&](std::int64_t begin, std::int64_t end, void* to) {
    place::copy_moved(from.lists, plan, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end), to);
  };
  // Nothing in host memory: then neither what lies beyond the lists.
  std::int64_t const on_gpu = plan.gpu_bytes < plan.all_bytes ? plan.gpu_bytes : 4 * all_words;
  gpu::fill_on_gpu(words.data(), 0, on_gpu, write, exec);
  gpu::fill_on_host(words.data(), on_gpu, 4 * all_words, write, exec);
  return words;
}

/// A graph at its places, and the order of its edges.
struct at_places {
  graph edges;
  temporal_order order;
};

at_places moved(prepared const& what, placement const& plan, placed_lists&& placed, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  graph_arrays const& from = what.packed.arrays();
  compressed_lists const& lists = what.lists;
  graph_arrays to;
  auto words = moved_lists(what, plan, exec);
  auto directory = place::move_directory(lists, what.starts.span(), plan);
  to.compressed = {gpu::copied(shared_array(std::move(directory.blocks)), memory_of(exec), exec),
                   gpu::copied(shared_array(std::move(directory.wide)), memory_of(exec), exec),
                   std::move(words),
                   lists.num_vertices,
                   lists.num_edges,
                   lists.form};
  to.node_types = gpu::copied(from.node_types, memory_of(exec), exec);
  auto const& regions = plan.regions_on_gpu;
  to.weights = gpu::placed_array(from.weights, regions[0], exec);
  to.edge_labels = gpu::with_labels(from.edge_labels,
                                    [&](auto const& labels) { return gpu::placed_array(labels, regions[1], exec); });
  to.edge_ids = gpu::placed_array(from.edge_ids, regions[2], exec);
  to.original_ids = gpu::placed_array(from.original_ids, regions[3], exec);
  to.narrow = from.narrow;
  to.narrow.weight_codes.words = gpu::placed_array(from.narrow.weight_codes.words, regions[0], exec);
  to.narrow.weight_values = gpu::copied(from.narrow.weight_values, memory_of(exec), exec);
  to.narrow.labels.words = gpu::placed_array(from.narrow.labels.words, regions[1], exec);
  to.narrow.ids.words = gpu::placed_array(from.narrow.ids.words, regions[2], exec);
  to.edge_label_names = from.edge_label_names;
  to.node_type_names = from.node_type_names;
  to.symmetric = from.symmetric;
  to.metadata = from.metadata;
  to.device = exec.device;
  to.source = from.source;
  to.placed = std::make_shared<placed_lists const>(std::move(placed));
  temporal_order order{gpu::placed_array(what.order.times, regions[4], exec),
                       gpu::placed_array(what.order.ordinal, regions[5], exec)};
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return {graph(std::move(to), what.host.content()), std::move(order)};
}

/// Graphs that share a budget, at their places. @param ranks  [parts][V] what lists are ranked by, times their bytes.
/// @param visits  [parts][V] what lists are read.
std::vector<at_places> placed_together(std::vector<prepared> const& parts, std::span<buffer<float> const> ranks,
                                       std::span<buffer<float> const> visits, place_params const& params,
                                       gpu_exec const& exec)
{
  std::int64_t directory = 0, edge_bytes = 0, list_bytes = 0;
  std::vector<place::placed_part> wanted;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    directory += parts[p].directory_bytes();
    edge_bytes += parts[p].edge_bytes();
    wanted.push_back({parts[p].lists, parts[p].starts.span(), ranks[p].span(), parts[p].arrays});
  }
  std::int64_t const free = gpu::free_for_managed(exec.device);
  std::int64_t const budget = gpu::budget_beside(directory, params.gpu_bytes, free, names, exec.device);
  auto const plans = place::plan_placements(wanted, budget, {});
  std::int64_t on_gpu = directory;
  for (placement const& plan : plans) {
    on_gpu += plan.gpu_bytes + plan.gpu_edge_bytes;
    list_bytes += plan.all_bytes;
  }
  gpu::expect_room(on_gpu, free, list_bytes + edge_bytes + directory - on_gpu, names, exec.device);
  std::vector<at_places> out;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    out.push_back(moved(parts[p], plans[p], parts[p].what_lies_where(plans[p], visits[p].span(), params.share), exec));
  }
  return out;
}

/// A graph of several types in host memory, or as it was there before it was placed.
hetero_graph in_host_memory(hetero_graph const& input)
{
  std::vector<edge_type> types = input.edge_types();
  for (edge_type& type : types) {
    if (placed_lists const* const placed = type.edges.placed()) {
      edge_type const before{type.from, type.to, placed->host, placed->host_order};
      type = before;
    }
    TENDRIL_EXPECTS(type.edges.device() < 0,
                    "place: the graph is on GPU {} whole, expected one in host memory (to_host)", type.edges.device());
  }
  return hetero_graph(input.num_vertices(), std::move(types));
}

bool has_room(std::int64_t bytes, std::int64_t gpu_bytes, gpu_exec const& exec)
{
  std::int64_t const free = gpu_bytes > 0 ? 0 : free_gpu_bytes(exec.device);
  return bytes <= (gpu_bytes > 0 ? gpu_bytes : free - free / 10);
}

/// A graph, or one of several types, in host memory that takes so many bytes.
template <class Graph>
Graph fitted(Graph const& input, std::int64_t bytes, place_params params, gpu_exec const& exec)
{
  if (has_room(bytes, params.gpu_bytes, exec)) { return to_gpu(input, exec); }
  if (params.gpu_bytes == 0) {  // results need room, too
    params.gpu_bytes = std::max<std::int64_t>(free_gpu_bytes(exec.device) / 4 * 3, 1);
  }
  return place_graph(input, params, exec);
}

graph placed_graph(graph const& host, place_params const& params, gpu_exec const& exec)
{
  host.check();
  std::vector<prepared> parts;
  parts.emplace_back(host, temporal_order{}, edge_reads::of(params));
  std::vector<buffer<float>> ranks, visits;
  // The caller's scores are visits, too; degrees are not.
  if (params.policy != placement_policy::scores) { visits.push_back(count_visits(parts[0].packed, params)); }
  if (params.policy != placement_policy::visits) { ranks.push_back(ranks_of(parts[0].packed, params)); }
  return placed_together(parts, ranks.empty() ? visits : ranks, visits.empty() ? ranks : visits, params, exec)
      .front()
      .edges;
}

}  // namespace

graph place_graph(graph const& input, place_params const& params, gpu_exec const& exec)
{
  validate(params);
  if (input.placed() != nullptr) { return place_graph(input.placed()->host, params, exec); }
  TENDRIL_EXPECTS(input.device() < 0, "place: the graph is on GPU {} whole, expected one in host memory (to_host)",
                  input.device());
  bool const scored = params.policy == placement_policy::scores;
  TENDRIL_EXPECTS(!scored || std::ssize(params.scores) == input.num_vertices(),
                  "scores: {} numbers, expected one a vertex: {}", params.scores.size(), input.num_vertices());
  gpu::expect_managed_memory(exec.device);
  return placed_graph(input, params, exec);
}

bool fits_on_gpu(graph const& input, std::int64_t gpu_bytes, gpu_exec const& exec)
{
  return has_room(input.num_bytes(), gpu_bytes, exec);
}

graph fit_on_gpu(graph const& input, place_params const& params, gpu_exec const& exec)
{
  validate(params);
  return input.device() >= 0 ? to_gpu(input, exec) : fitted(input, input.num_bytes(), params, exec);
}

hetero_graph fit_on_gpu(hetero_graph const& input, place_params const& params, gpu_exec const& exec)
{
  validate(params);
  std::int64_t bytes = 0;
  for (edge_type const& type : input.edge_types()) {
    bytes += type.edges.num_bytes() + 8 * type.order.times.size() + 4 * type.order.ordinal.size();
  }
  return input.device() >= 0 ? to_gpu(input, exec) : fitted(input, bytes, params, exec);
}

hetero_graph place_graph(hetero_graph const& input, place_params const& params, gpu_exec const& exec)
{
  validate(params);
  TENDRIL_EXPECTS(params.policy != placement_policy::scores,
                  "policy: scores, expected visits or degree for a graph of several types");
  gpu::expect_managed_memory(exec.device);
  hetero_graph const host = in_host_memory(input);
  host.validate();
  for (edge_type const& type : host.edge_types()) { type.edges.check(); }
  auto visits = count_visits(host, params);
  std::vector<prepared> parts;
  std::vector<buffer<float>> ranks;
  for (edge_type const& type : host.edge_types()) {
    parts.emplace_back(type.edges, type.order, edge_reads::of(params));
    if (params.policy == placement_policy::degree) { ranks.push_back(ranks_of(type.edges, params)); }
  }
  auto placed = placed_together(parts, ranks.empty() ? visits : ranks, visits, params, exec);
  std::vector<edge_type> types;
  for (std::size_t t = 0; t < placed.size(); ++t) {
    edge_type const& from = host.edge_types()[t];
    types.push_back({from.from, from.to, std::move(placed[t].edges), std::move(placed[t].order)});
  }
  return hetero_graph(host.num_vertices(), std::move(types));
}

}  // namespace tendril
