// Any bytes as a graph file of any format, and every sampler on the graph that comes out. The first byte chooses the
// reader, how the samplers run, and a second form of the graph, whose trees must be the same; the rest is the file. A
// reader or a sampler may refuse with an exception of the library, one line long. Used by fuzz_sample.cpp and by the test
// that replays the corpus.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include <tendril/compress.hpp>
#include <tendril/labor.hpp>
#include <tendril/layers.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/multidim.hpp>
#include <tendril/mvs.hpp>
#include <tendril/plan.hpp>
#include <tendril/profile.hpp>
#include <tendril/saint.hpp>
#include <tendril/sample.hpp>
#include <tendril/shadow.hpp>
#include <tendril/subgraph.hpp>
#include <tendril/walk.hpp>

#include "fuzz_target.hpp"

#include "formats/readers.hpp"

namespace tendril::fuzz {

/// How the samplers run, and what else the byte `choice` leaves open.
inline unsigned seed_of(unsigned choice) { return choice / 8; }

/// What the byte `choice` reads `bytes` as. Readers whose graphs are not mapped are followed by validate(), as in
/// read_graph. Few vertices: one line of an edge list may ask for four billion.
inline graph read_any(unsigned choice, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
                      cpu_exec const& exec)
{
  read_options options;
  options.build.num_vertices = 1 << 8;
  auto const valid = [&](graph read) {
    read.validate(exec);
    return read;
  };
  switch (choice % 8) {
    case 0: return formats::read_safetensors("fuzz", bytes, std::move(owner), {}, exec);
    case 1: {
      constexpr std::array pairs{graph_format::coo32, graph_format::coo64, graph_format::npy};
      options.format = pairs[seed_of(choice) % pairs.size()];
      return valid(formats::read_coo("fuzz", bytes, std::move(owner), options, exec));
    }
    case 2: return valid(formats::read_gap("fuzz.wsg", bytes, std::move(owner), {}, exec));
    case 3: return valid(formats::read_npz("/nonexistent/fuzz.npz", bytes, std::move(owner), {}, exec));
    case 4: return valid(formats::read_metis("fuzz", bytes, std::move(owner), {}, exec));
    case 5: return valid(formats::read_matrix_market("fuzz", bytes, std::move(owner), {}, exec));
    case 6: options.columns = {"source", "target", "weight", "label"}; [[fallthrough]];
    default: return valid(formats::read_edge_list("fuzz", bytes, std::move(owner), options, exec));
  }
}

/// Every sampler, with small parameters. Each may refuse the graph by itself.
class sampler_round {
 public:
  sampler_round(graph input, std::uint64_t seed, cpu_exec const& exec)
      : input_(std::move(input)),
        seed_(seed),
        exec_(exec),
        starts_(static_cast<std::size_t>(std::min<std::int64_t>(input_.num_vertices(), most_starts)))
  {
    std::iota(starts_.begin(), starts_.end(), vertex_id{0});
    if (!starts_.empty()) { starts_.back() = static_cast<vertex_id>(input_.num_vertices() - 1); }
  }

  void run()
  {
    other_form();
    walks();
    bool const weighted = input_.has_weights();
    may_refuse([&] { (void)khop_sample(input_, starts_, {.fanouts = {3, 2}, .seed = seed_}, exec_); });
    may_refuse(
        [&] { (void)khop_sample(input_, starts_, {.fanouts = {2}, .weighted = weighted, .seed = seed_}, exec_); });
    may_refuse([&] {
      (void)khop_sample(input_, starts_, {.fanouts = {2}, .replace = true, .weighted = weighted, .seed = seed_}, exec_);
    });
    minibatches();
    fastgcn_params fastgcn;
    fastgcn.layer_size = 4;
    may_refuse([&] { (void)fastgcn_sample(input_, starts_, 2, fastgcn, exec_); });
    ladies_params ladies;
    ladies.num_layers = 2;
    ladies.layer_size = 4;
    ladies.replace = (seed_ & 1U) != 0;
    may_refuse([&] { (void)ladies_sample(input_, starts_, 2, ladies, exec_); });
    may_refuse([&] { (void)labor_sample(input_, starts_, {.fanouts = {2, 2}, .seed = seed_}, exec_); });
    may_refuse([&] { (void)shadow_sample(input_, starts_, {.depth = 2, .num_neighbors = 3, .seed = seed_}, exec_); });
    std::vector<float> const importances(static_cast<std::size_t>(input_.num_vertices()), 1.0F);
    may_refuse([&] { (void)mvs_sample(input_, importances, 2, {.batch_size = 3, .seed = seed_}, exec_); });
    for (auto const sampler : {saint_sampler::node, saint_sampler::edge, saint_sampler::walk}) {
      may_refuse([&] { (void)saint_sample(input_, {.sampler = sampler, .budget = 4, .seed = seed_}, 2, exec_); });
    }
    may_refuse([&] { (void)multidim_walk(input_, starts_, std::ssize(starts_), {.length = 5, .seed = seed_}, exec_); });
  }

 private:
  static constexpr std::int64_t most_starts = 6;

  /// The graph in a form that the seed chooses has the same trees, edges included, by each rule that reads weights.
  void other_form()
  {
    may_refuse([&] {
      graph const other = compress(input_, enum_names<graph_form>[seed_ % num_graph_forms].value, exec_);
      other.validate(exec_);
      for (bool const weighted : {false, true}) {
        if (weighted && !input_.has_weights()) { break; }
        khop_params const params{.fanouts = {3, -1}, .weighted = weighted, .seed = seed_};
        auto const trees = khop_sample(input_, starts_, params, exec_, 0, true);
        auto const same = khop_sample(other, starts_, params, exec_, 0, true);
        for (std::size_t h = 0; h < trees.hops.size(); ++h) {
          if (!std::ranges::equal(trees.hops[h].vertices, same.hops[h].vertices) ||
              !std::ranges::equal(trees.hops[h].edges, same.hops[h].edges)) {
            __builtin_trap();
          }
        }
      }
    });
  }

  /// By both choices of neighbours, each with every kind of edges.
  void minibatches()
  {
    for (auto const subgraph : {subgraph_type::directional, subgraph_type::bidirectional, subgraph_type::induced}) {
      minibatch_params independent;
      independent.num_neighbors = {3, 2};
      independent.subgraph = subgraph;
      independent.disjoint = (seed_ & 4U) != 0;
      independent.seed = seed_;
      minibatch_params labor = independent;
      independent.weighted = input_.has_weights() && (seed_ & 1U) != 0;
      independent.replace = (seed_ & 2U) != 0;
      batch(independent);
      labor.choice = neighbor_choice::labor;
      labor.frontier = (seed_ & 1U) != 0 ? batch_frontier::all : batch_frontier::fresh;
      labor.normalize = (seed_ & 2U) != 0;
      labor.layer_dependency = (seed_ & 8U) != 0;
      labor.batch_dependency = (seed_ & 16U) != 0 ? 3 : 1;
      batch(labor);
    }
  }

  void batch(minibatch_params const& params)
  {
    may_refuse([&] {
      auto const made = neighbor_sample(input_, starts_, params, exec_, seed_);
      std::int64_t const num_nodes = made.vertices[0].node.size();
      for (std::int64_t const v : made.edges[0].col) {
        if (v < 0 || v >= num_nodes) { __builtin_trap(); }
      }
      for (float const weight : made.edges[0].weights) {
        if (!(weight > 0) || !std::isfinite(weight)) { __builtin_trap(); }
      }
    });
  }

  void walks()
  {
    walk_params plain;
    plain.length = 6;
    plain.seed = seed_;
    walk(plain);
    walk_params second = plain;
    second.p = 2;
    second.q = 0.5;
    walk(second);
    if (input_.has_weights()) {
      for (auto const rule : {sampling_rule::scan, sampling_rule::reject, sampling_rule::alias, sampling_rule::its}) {
        walk_params weighted = plain;
        weighted.weighted = true;
        weighted.rule = rule;
        walk(weighted);
      }
      second.weighted = true;
      walk(second);
    }
    walk_params by_label = plain;
    by_label.metapath = {0, 1};
    if (input_.has_edge_labels()) { walk(by_label); }
    by_label.metapath_of = metapath_kind::vertex_types;
    if (input_.has_node_types()) { walk(by_label); }
  }

  void walk(walk_params const& params)
  {
    may_refuse([&] {
      auto const made = random_walk(input_, starts_, params, exec_);
      for (vertex_id const v : made.vertices) {
        if (v != no_vertex && v >= input_.num_vertices()) { __builtin_trap(); }
      }
    });
  }

  template <class F>
  static void may_refuse(F&& f)
  {
    try {
      f();
    } catch (error const& e) {
      std::string_view const what = e.what();
      if (what.empty() || what.find('\n') != std::string_view::npos) { __builtin_trap(); }
    }
  }

  graph input_;
  std::uint64_t seed_;
  cpu_exec const& exec_;
  std::vector<vertex_id> starts_;
};

/// @return Whether a graph came out of the reader.
inline bool sample_any(std::uint8_t const* data, std::size_t size)
{
  if (size < 2) { return false; }
  // A copy of its own: aligned as a mapped file is, and no byte longer, so that the sanitizers see what reads beyond it.
  auto const owner = std::make_shared<std::vector<std::byte>>(size - 1);
  std::copy_n(reinterpret_cast<std::byte const*>(data) + 1, size - 1, owner->begin());
  cpu_exec exec;
  exec.num_threads = 1;
  try {
    graph read = read_any(data[0], *owner, owner, exec);
    constexpr std::int64_t most_vertices = 1 << 16;  // a run of all samplers stays below a second
    constexpr edge_id most_edges = 1 << 20;          // up to 8 of a compressed list take a byte
    if (read.num_vertices() == 0 || read.num_vertices() > most_vertices || read.num_edges() > most_edges) {
      return true;
    }
    sampler_round(std::move(read), seed_of(data[0]), exec).run();
    return true;
  } catch (error const& e) {
    std::string_view const what = e.what();
    if (what.empty() || what.find('\n') != std::string_view::npos) { __builtin_trap(); }
    return false;
  }
}

}  // namespace tendril::fuzz
