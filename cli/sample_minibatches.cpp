// tendril sample --app minibatch: relabelled subgraphs for GNNs, many batches a call, on either side.

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <tendril/checked.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sharded_minibatch.hpp>

#include "common.hpp"
#include "sample_file.hpp"
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

using numbered_batches = std::vector<std::pair<std::int64_t, minibatch>>;

/// The sizes of all batches, of all ranks.
struct batch_sizes {
  std::vector<std::int64_t> node_offsets, edge_offsets;    ///< [batches + 1].
  std::vector<std::int64_t> nodes_of_hops, edges_of_hops;  ///< [batches, hops + 1] and [batches, hops].

  batch_sizes(request const& what, numbered_batches const& own, std::int64_t num_batches)
      : node_offsets(static_cast<std::size_t>(num_batches) + 1), edge_offsets(node_offsets.size())
  {
    auto const hops = static_cast<std::int64_t>(what.job.fanout_list().size());
    std::vector<std::int64_t> told;  // of each batch: its number, its nodes and edges, those of each hop
    for (auto const& [number, batch] : own) {
      auto const& nodes = batch.vertices[0];
      auto const& edges = batch.edges[0];
      told.insert(told.end(), {number, nodes.node.size(), edges.edge.size()});
      told.insert(told.end(), nodes.num_sampled.begin(), nodes.num_sampled.end());
      told.insert(told.end(), edges.num_sampled.begin(), edges.num_sampled.end());
    }
    told = numbers_of_all(what.writers(), "sizes of mini-batches", std::move(told));
    nodes_of_hops.resize(static_cast<std::size_t>(checked_product("sizes of batches", num_batches, hops + 1)));
    edges_of_hops.resize(static_cast<std::size_t>(checked_product("sizes of batches", num_batches, hops)));
    for (auto at = told.cbegin(); at != told.cend();) {
      auto const number = static_cast<std::size_t>(*at++);
      node_offsets[number + 1] = *at++;
      edge_offsets[number + 1] = *at++;
      auto const first = static_cast<std::int64_t>(number);
      std::copy_n(at, hops + 1, nodes_of_hops.begin() + first * (hops + 1));
      std::copy_n(at + hops + 1, hops, edges_of_hops.begin() + first * hops);
      at += 2 * hops + 1;
    }
    std::partial_sum(node_offsets.begin(), node_offsets.end(), node_offsets.begin());
    std::partial_sum(edge_offsets.begin(), edge_offsets.end(), edge_offsets.begin());
  }
};

void write_minibatches(request const& what, numbered_batches const& batches, batch_sizes const& sizes,
                       cpu_exec const& exec)
{
  auto const count = static_cast<std::int64_t>(sizes.node_offsets.size()) - 1;
  auto const hops = static_cast<std::int64_t>(what.job.fanout_list().size());
  std::int64_t const num_nodes = sizes.node_offsets.back(), num_edges = sizes.edge_offsets.back();
  std::vector<array_spec> arrays{{"seeds", what.vertices, {static_cast<std::int64_t>(what.seeds.size())}},
                                 {"node_offsets", element_type::int64, {count + 1}},
                                 {"edge_offsets", element_type::int64, {count + 1}},
                                 {"num_sampled_nodes", element_type::int64, {count, hops + 1}},
                                 {"num_sampled_edges", element_type::int64, {count, hops}},
                                 {"row", element_type::int64, {num_edges}},
                                 {"col", element_type::int64, {num_edges}},
                                 {"edge", element_type::int64, {num_edges}},
                                 {"node", what.vertices, {num_nodes}}};
  if (what.job.disjoint) { arrays.push_back({"batch", element_type::int64, {num_nodes}}); }
  minibatch_params const params = what.job.minibatch();
  bool const weights = params.choice == neighbor_choice::labor && params.subgraph == subgraph_type::directional;
  std::size_t const of_weights = arrays.size();
  if (weights) { arrays.push_back({"weights", element_type::float32, {num_edges}}); }
  sample_file file(what.writers(), what.output, arrays, what.about);
  if (what.tells()) {
    file.put(0, 0, what.seeds, exec);
    file.put(1, 0, std::span(sizes.node_offsets));
    file.put(2, 0, std::span(sizes.edge_offsets));
    file.put(3, 0, std::span(sizes.nodes_of_hops));
    file.put(4, 0, std::span(sizes.edges_of_hops));
  }
  for (auto const& [number, made] : batches) {
    std::int64_t const edge = sizes.edge_offsets[static_cast<std::size_t>(number)];
    std::int64_t const node = sizes.node_offsets[static_cast<std::size_t>(number)];
    file.put(5, edge, made.edges[0].row.span());
    file.put(6, edge, made.edges[0].col.span());
    file.put(7, edge, made.edges[0].edge.span());
    file.put(8, node, made.vertices[0].node.span(), exec);
    if (what.job.disjoint) { file.put(9, node, made.vertices[0].batch.span()); }
    if (weights) { file.put(of_weights, edge, made.edges[0].weights.span()); }
    if (what.ranks != nullptr) { what.ranks->beat(); }  // others may wait until this one has written
  }
  file.commit();
}

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
  makers.reserve(static_cast<std::size_t>(what.num_places));
  for (int place = 0; place < what.num_places; ++place) { makers.emplace_back(what, place, quiet); }
  result.plan_seconds = planning.seconds();
  numbered_batches batches;  // of this process, with their numbers from 0 on
  std::int64_t const num_batches = batches_of(num_seeds, each);
  std::int64_t const batches_a_call = what.piece(num_batches, std::max<std::int64_t>(seeds_a_call / each, 1));
  std::int64_t const a_call = checked_product("--batch-size: seeds of a call", batches_a_call, each);
  (void)checked_sum("--first-batch: numbers of batches", what.job.first_batch, num_batches);
  place_seconds sampled(what.num_places);
  auto const make = [&](int place, std::int64_t first, std::int64_t n) {
    stopwatch const sampling;
    auto made = makers[static_cast<std::size_t>(place)].make(
        what.seeds.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n)), each,
        static_cast<std::uint64_t>(what.job.first_batch + first / each));
    sampled.add(place, sampling.seconds());
    return made;
  };
  share_samples(
      what, num_seeds, a_call, make,
      [&](std::int64_t first, std::int64_t, std::vector<minibatch> made) {
        std::int64_t number = first / each;
        for (auto& batch : made) {
          auto const& counts = batch.edges[0].num_sampled;
          result.edges += std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
          batches.emplace_back(number++, std::move(batch));
        }
      },
      [&](std::int64_t done) { bar.update("sampling", done, num_seeds, "seeds"); });
  result.sample_seconds = sampled.longest();
  stopwatch const writing;
  write_minibatches(what, batches, batch_sizes(what, batches, num_batches), exec);
  result.write_seconds = writing.seconds();
  return result;
}

}  // namespace tendril::cli
