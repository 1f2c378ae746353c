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

/// An array of the graph in managed memory. @param on_gpu  Of each region.
template <class T>
shared_array<T> placed_array(shared_array<T> const& from, std::vector<char> const& on_gpu, gpu_exec const& exec)
{
  if (from.empty()) { return {}; }
  buffer<T> to(from.size(), gpu::managed_memory(exec.device));
  auto const* const bytes = reinterpret_cast<char const*>(from.data());
  auto const write = [&](std::int64_t begin, std::int64_t end, void* at) {
    std::memcpy(at, bytes + begin, static_cast<std::size_t>(end - begin));
  };
  std::int64_t const all = from.size() * static_cast<std::int64_t>(sizeof(T));
  for (std::size_t begin = 0, end = 0; begin < on_gpu.size(); begin = end) {
    while (end < on_gpu.size() && on_gpu[end] == on_gpu[begin]) { ++end; }
    auto const fill = on_gpu[begin] != 0 ? gpu::fill_on_gpu : gpu::fill_on_host;
    fill(to.data(), static_cast<std::int64_t>(begin) * edge_array::region_bytes,
         std::min(static_cast<std::int64_t>(end) * edge_array::region_bytes, all), write, exec);
  }
  return to;
}

std::int64_t bytes_of(label_array const& labels) { return labels.size() * labels.bytes_per_label(); }

std::string megabytes(std::int64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

/// The bytes of GPU memory that lists and edge arrays may take.
std::int64_t budget_of(place_params const& params, std::int64_t directory, std::int64_t free, int device)
{
  std::int64_t const all = params.gpu_bytes > 0 ? params.gpu_bytes : free / 10 * 9;
  if (all < directory) {
    throw memory_error(
        fmt::format("gpu_bytes: {} bytes of GPU memory, expected at least {}, which the directory of the graph takes",
                    all, directory));
  }
  if (directory > free) {
    throw memory_error(fmt::format("GPU {}: {} free, expected at least the {} of the graph's directory", device,
                                   megabytes(free), megabytes(directory)));
  }
  return all - directory;
}

void expect_room(std::int64_t on_gpu, std::int64_t free, std::int64_t on_host, int device)
{
  if (on_gpu > free) {
    throw memory_error(fmt::format("gpu_bytes: {} of the graph would lie on GPU {}, which has {} free",
                                   megabytes(on_gpu), device, megabytes(free)));
  }
  std::int64_t const available = gpu::available_host_bytes();
  if (on_host > available) {
    throw memory_error(fmt::format("out of memory: {} of the graph would lie in host memory, which has {} left",
                                   megabytes(on_host), megabytes(available)));
  }
}

graph placed_graph(graph const& host, place_params const& params, gpu_exec const& exec)
{
  host.check();
  graph const packed = host.form() == graph_form::csr ? compress(host, graph_form::packed) : host;
  graph_arrays const& from = packed.arrays();
  compressed_lists lists = from.compressed;
  auto starts = place::block_starts(lists, {});
  if (starts.empty()) {
    lists = place::rewritten(packed, {});
    starts = place::block_starts(lists, {});
    if (starts.empty()) { throw std::logic_error("place: blocks that were just written don't follow each other"); }
  }
  edge_reads const reads = edge_reads::of(params);
  std::vector<edge_array> const arrays{
      {from.weights.size(), 4, reads.weights ? 1.0 : 0.0},
      {from.edge_labels.size(), from.edge_labels.bytes_per_label(), reads.labels ? 1.0 : 0.0},
      {from.edge_ids.size(), 8, 0},
      {from.original_ids.size(), 4, 0}};
  std::int64_t const directory = 64 * lists.blocks.size() + 16 * lists.wide.size() + bytes_of(from.node_types);
  std::int64_t const edge_bytes =
      std::accumulate(arrays.begin(), arrays.end(), std::int64_t{0},
                      [](std::int64_t sum, edge_array const& a) { return sum + a.bytes(); });

  std::int64_t const free = gpu::free_for_managed(exec.device);
  std::int64_t const budget = budget_of(params, directory, free, exec.device);
  bool const by_visits = params.policy == placement_policy::visits;
  auto const ranks = by_visits ? count_visits(packed, params) : ranks_of(packed, params);
  placement const plan = place::plan_placement(lists, starts.span(), ranks.span(), arrays, budget, {});
  // The caller's scores are visits, too; degrees are not.
  bool const counted = params.policy == placement_policy::degree;
  double const share = counted ? place::share_on_gpu(lists, plan, count_visits(packed, params).span(), {})
                               : place::share_on_gpu(lists, plan, ranks.span(), {});
  auto const all_words = plan.all_bytes / 4 + static_cast<std::int64_t>(list_codes::words_beyond);
  placed_lists placed{host,
                      plan.gpu_bytes,
                      plan.all_bytes - plan.gpu_bytes,
                      directory,
                      plan.gpu_edge_bytes,
                      edge_bytes - plan.gpu_edge_bytes,
                      share,
                      place::cuts_of(starts.span(), plan),
                      params.share};
  expect_room(directory + placed.gpu_bytes + placed.gpu_edge_bytes, free, placed.host_bytes + placed.host_edge_bytes,
              exec.device);

  buffer<std::uint32_t> words(all_words, gpu::managed_memory(exec.device));
  auto const write = [&](std::int64_t begin, std::int64_t end, void* to) {
    place::copy_moved(lists, plan, static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end), to);
  };
  // Nothing in host memory: then neither what lies beyond the lists.
  std::int64_t const on_gpu = placed.host_bytes > 0 ? placed.gpu_bytes : 4 * all_words;
  gpu::fill_on_gpu(words.data(), 0, on_gpu, write, exec);
  gpu::fill_on_host(words.data(), on_gpu, 4 * all_words, write, exec);

  gpu::device_guard const guard(exec.device);
  auto moved = place::move_directory(lists, starts.span(), plan);
  graph_arrays to;
  to.compressed = {gpu::copied(shared_array(std::move(moved.blocks)), memory_of(exec), exec),
                   gpu::copied(shared_array(std::move(moved.wide)), memory_of(exec), exec),
                   std::move(words),
                   lists.num_vertices,
                   lists.num_edges,
                   lists.form};
  to.node_types = gpu::copied(from.node_types, memory_of(exec), exec);
  auto const& regions = plan.regions_on_gpu;
  to.weights = placed_array(from.weights, regions[0], exec);
  to.edge_labels =
      gpu::with_labels(from.edge_labels, [&](auto const& labels) { return placed_array(labels, regions[1], exec); });
  to.edge_ids = placed_array(from.edge_ids, regions[2], exec);
  to.original_ids = placed_array(from.original_ids, regions[3], exec);
  to.edge_label_names = from.edge_label_names;
  to.node_type_names = from.node_type_names;
  to.symmetric = from.symmetric;
  to.metadata = from.metadata;
  to.device = exec.device;
  to.source = from.source;
  to.placed = std::make_shared<placed_lists const>(std::move(placed));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return graph(std::move(to), host.content());
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

}  // namespace tendril
