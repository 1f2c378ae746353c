// tendril sample --app minibatch: relabelled subgraphs for GNNs, many batches a call, on either side.

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <tendril/checked.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sharded_minibatch.hpp>

#include "common.hpp"
#include "sample_request.hpp"
#include "share_samples.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

constexpr std::int64_t seeds_a_call = 1 << 17U;  // between two looks at the progress bar

/// A batch's arrays in host memory.
template <class T>
shared_array<T> brought(shared_array<T> const& made, std::optional<gpu_exec> const& gpu)
{
  return gpu ? shared_array<T>(host_copy(made, *gpu)) : made;
}

minibatch brought(minibatch made, std::optional<gpu_exec> const& gpu)
{
  for (auto& type : made.vertices) {
    type.node = brought(type.node, gpu);
    type.batch = brought(type.batch, gpu);
  }
  for (auto& type : made.edges) {
    type.row = brought(type.row, gpu);
    type.col = brought(type.col, gpu);
    type.edge = brought(type.edge, gpu);
    type.weights = brought(type.weights, gpu);
  }
  return made;
}

/// Makes batches where the request says.
class batch_maker {
 public:
  batch_maker(request const& what, int place, cpu_exec const& exec)
      : gpu_(what.on_gpu() ? std::optional(what.exec(place)) : std::nullopt)
  {
    minibatch_params const params = what.job.minibatch();
    if (what.on.part && gpu_) {
      in_parts_.emplace(*what.on.part, params, *what.ranks, *gpu_);
    } else if (what.on.part) {
      in_parts_.emplace(*what.on.part, params, *what.ranks, exec);
    } else if (gpu_) {
      whole_.emplace(hetero_graph(what.copies[static_cast<std::size_t>(place)]), params, *gpu_,
                     what.job.minibatch_executor_choice());
    } else {
      whole_.emplace(hetero_graph(what.whole()), params, exec);
    }
  }

  /// The batches of some seeds, in host memory.
  std::vector<minibatch> make(std::span<vertex_id const> seeds, std::int64_t each, std::uint64_t first_batch)
  {
    buffer<vertex_id> there;
    if (gpu_) {
      there = copy_to_gpu(seeds, *gpu_);
      seeds = there.span();
    }
    std::vector<minibatch> out = sampled(seeds, each, {.first = first_batch});
    for (auto& batch : out) { batch = brought(std::move(batch), gpu_); }
    return out;
  }

 private:
  std::vector<minibatch> sampled(std::span<vertex_id const> seeds, std::int64_t each, batch_numbers numbers)
  {
    if (whole_) { return whole_->sample_batches(0, seeds, each, numbers); }
    return gpu_ ? in_parts_->sample_batches(seeds, each, numbers, *gpu_)
                : in_parts_->sample_batches(seeds, each, numbers);
  }

  std::optional<gpu_exec> gpu_;
  std::optional<minibatch_sampler> whole_;  // one of both
  std::optional<sharded_minibatch_sampler> in_parts_;
};

}  // namespace

outcome sample_minibatches(request const& what, cpu_exec const& exec, progress_bar& bar)
{
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  std::int64_t const each = what.job.seeds_each();
  cpu_exec quiet = exec;
  quiet.on_progress = {};  // the bar counts seeds

  outcome result;
  stopwatch const planning;
  std::vector<batch_maker> makers;
  makers.reserve(static_cast<std::size_t>(what.num_places()));
  for (int place = 0; place < what.num_places(); ++place) { makers.emplace_back(what, place, quiet); }
  result.plan_seconds = planning.seconds();
  std::vector<minibatch> batches;
  std::vector<std::int64_t> node_offsets{0}, edge_offsets{0}, nodes_of_hops, edges_of_hops;
  std::int64_t const num_batches = batches_of(num_seeds, each);
  std::int64_t const batches_a_call = what.piece(num_batches, std::max<std::int64_t>(seeds_a_call / each, 1));
  std::int64_t const a_call = checked_product("--batch-size: seeds of a call", batches_a_call, each);
  (void)checked_sum("--first-batch: numbers of batches", what.job.first_batch, num_batches);
  place_seconds sampled(what.num_places());
  auto const make = [&](int place, std::int64_t first, std::int64_t n) {
    stopwatch const sampling;
    auto made = makers[static_cast<std::size_t>(place)].make(
        what.seeds.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n)), each,
        static_cast<std::uint64_t>(what.job.first_batch + first / each));
    sampled.add(place, sampling.seconds());
    return made;
  };
  share_samples(what, num_seeds, a_call, make, [&](std::int64_t first, std::int64_t n, std::vector<minibatch> made) {
    for (auto& batch : made) {
      auto const& nodes = batch.vertices[0];
      auto const& edges = batch.edges[0];
      result.edges += std::accumulate(edges.num_sampled.begin(), edges.num_sampled.end(), std::int64_t{0});
      node_offsets.push_back(node_offsets.back() + nodes.node.size());
      edge_offsets.push_back(edge_offsets.back() + edges.edge.size());
      nodes_of_hops.insert(nodes_of_hops.end(), nodes.num_sampled.begin(), nodes.num_sampled.end());
      edges_of_hops.insert(edges_of_hops.end(), edges.num_sampled.begin(), edges.num_sampled.end());
      batches.push_back(std::move(batch));
    }
    bar.update("sampling", first + n, num_seeds, "seeds");
  });
  result.sample_seconds = sampled.longest();
  if (!what.writes()) { return result; }

  stopwatch const writing;
  auto const count = static_cast<std::int64_t>(batches.size());
  auto const hops = static_cast<std::int64_t>(what.job.fanout_list().size());
  std::vector<array_spec> arrays{{"seeds", what.vertices, {num_seeds}},
                                 {"node_offsets", element_type::int64, {count + 1}},
                                 {"edge_offsets", element_type::int64, {count + 1}},
                                 {"num_sampled_nodes", element_type::int64, {count, hops + 1}},
                                 {"num_sampled_edges", element_type::int64, {count, hops}},
                                 {"row", element_type::int64, {edge_offsets.back()}},
                                 {"col", element_type::int64, {edge_offsets.back()}},
                                 {"edge", element_type::int64, {edge_offsets.back()}},
                                 {"node", what.vertices, {node_offsets.back()}}};
  if (what.job.disjoint) { arrays.push_back({"batch", element_type::int64, {node_offsets.back()}}); }
  minibatch_params const params = what.job.minibatch();
  bool const weights = params.choice == neighbor_choice::labor && params.subgraph == subgraph_type::directional;
  std::size_t const of_weights = arrays.size();
  if (weights) { arrays.push_back({"weights", element_type::float32, {edge_offsets.back()}}); }
  array_writer writer(what.output, arrays, what.about);
  writer.append(0, what.seeds, exec);
  writer.append(1, node_offsets);
  writer.append(2, edge_offsets);
  writer.append(3, nodes_of_hops);
  writer.append(4, edges_of_hops);
  for (auto const& made : batches) {
    writer.append(5, made.edges[0].row.span());
    writer.append(6, made.edges[0].col.span());
    writer.append(7, made.edges[0].edge.span());
    writer.append(8, made.vertices[0].node.span(), exec);
    if (what.job.disjoint) { writer.append(9, made.vertices[0].batch.span()); }
    if (weights) { writer.append(of_weights, made.edges[0].weights.span()); }
  }
  writer.commit();
  result.write_seconds = writing.seconds();
  return result;
}

}  // namespace tendril::cli
