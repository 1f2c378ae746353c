// A sample never depends on the form of the graph: every sampler gives the same bytes on packed neighbours.

#include <gtest/gtest.h>

#include <tendril/cluster.hpp>
#include <tendril/compress.hpp>
#include <tendril/generate.hpp>
#include <tendril/labor.hpp>
#include <tendril/layers.hpp>
#include <tendril/multidim.hpp>
#include <tendril/mvs.hpp>
#include <tendril/saint.hpp>
#include <tendril/sample.hpp>
#include <tendril/shadow.hpp>
#include <tendril/subgraph.hpp>
#include <tendril/walk.hpp>

#include "cpu/batches/minibatch_verifier.hpp"
#include "support/graph_forms.hpp"
#include "support/sample_bytes.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"
#include "support/small_hetero.hpp"
#include "support/table_limits.hpp"

namespace tendril::test {
namespace {

struct two_forms {
  graph csr;
  graph packed;
};

two_forms both(graph const& g) { return {g, with_narrow_edges(compress(g, graph_form::best))}; }

/// A graph of everything that trips an engine up, and one of many degrees.
std::vector<two_forms> graphs_of_both_forms()
{
  edge_attributes const extra{.has_weights = true, .num_labels = 3, .num_node_types = 3};
  return {both(make_zoo(11)), both(generate_rmat({.scale = unless_sanitized(10, 6), .edge_factor = 8, .seed = 3},
                                                 {.symmetrize = true}, extra))};
}

sample_bytes bytes_of(walks const& w) { return sample_bytes(w.vertices, w.lengths); }

sample_bytes bytes_of(khop_trees const& trees)
{
  sample_bytes out;
  for (auto const& hop : trees.hops) { out.add(hop.vertices, hop.edges, hop.offsets); }
  return out;
}

sample_bytes bytes_of(layer_samples const& s)
{
  return sample_bytes(s.vertices, s.probabilities, s.edge_offsets, s.row, s.col, s.coefficients, s.edges);
}

sample_bytes bytes_of(subgraphs const& s)
{
  return sample_bytes(s.nodes, s.node_offsets, s.row, s.col, s.edges, s.edge_offsets);
}

TEST(Forms, Walks)
{
  for (auto const& [csr, packed] : graphs_of_both_forms()) {
    std::vector<vertex_id> const starts = starts_everywhere(csr, 2);
    for (auto const& app : all_applications(12)) {
      for (std::int64_t const size : {without_tables, with_tables}) {
        csr.drop_derived();
        packed.drop_derived();
        walk_params params = app.params;
        params.table_bytes = with_tables;  // else compressed graphs have fewer
        walker const on_csr(csr, params, size);
        walker const on_packed(packed, params, size);
        EXPECT_EQ(on_packed.plan().rule, on_csr.plan().rule) << app.name;
        EXPECT_EQ(on_packed.plan().layout, on_csr.plan().layout) << app.name;
        auto const expected = bytes_of(on_csr.run(starts, 5));
        EXPECT_TRUE(bytes_of(on_packed.run(starts, 5)) == expected) << app.name << ' ' << size;
        packed.drop_derived();
        EXPECT_TRUE(bytes_of(walker(packed, app.params, size).run(starts, 5)) == expected) << app.name << ' ' << size;
      }
    }
  }
}

TEST(Forms, MultidimensionalWalks)
{
  for (auto const& [csr, packed] : graphs_of_both_forms()) {
    std::vector<vertex_id> const roots = starts_everywhere(csr, 2);
    for (auto const choose : {root_choice::by_degree, root_choice::uniform}) {
      auto const walk = [&](graph const& g) {
        auto const w = multidim_walk(g, roots, 4, {.length = 20, .choose = choose}, cpu_exec{}, 7);
        return sample_bytes(w.vertices, w.slots, w.lengths);
      };
      EXPECT_TRUE(walk(packed) == walk(csr));
    }
  }
}

TEST(Forms, Trees)
{
  using enum sampling_rule;
  for (auto const& [csr, packed] : graphs_of_both_forms()) {
    std::vector<vertex_id> const seeds = starts_everywhere(csr, 1);
    std::vector<khop_params> ways;
    for (bool const replace : {false, true}) { ways.push_back({.fanouts = {40, 3}, .replace = replace}); }
    ways.push_back({.fanouts = {4, -1}});
    ways.push_back({.fanouts = {5, 3}, .weighted = true});
    for (auto const rule : {alias, its}) {
      ways.push_back({.fanouts = {5, 3}, .replace = true, .weighted = true, .rule = rule});
    }
    for (auto const& params : ways) {
      for (bool const tables : {false, true}) {
        auto const sample = [&](graph const& g) {
          g.drop_derived();
          if (tables) { (void)khop_sample(g, starts_everywhere(g, 200), params, cpu_exec{}); }
          return bytes_of(khop_sample(g, seeds, params, cpu_exec{}, 9, true));
        };
        EXPECT_TRUE(sample(packed) == sample(csr)) << params.weighted << params.replace << to_string(params.rule);
      }
    }
  }
}

TEST(Forms, MiniBatches)
{
  struct sampled {
    hetero_graph graph;
    bool timed;
  };
  std::vector<sampled> graphs = {{hetero_graph(make_zoo(6)), false},
                                 {make_timed_zoo(6), true},
                                 {make_hetero_zoo(6, false), false},
                                 {make_hetero_zoo(6, true), true}};
  for (auto const& [csr, timed] : graphs) {
    hetero_graph const packed = packed_types(csr);
    std::size_t const num_types = csr.num_vertices().size();
    seed_lists seeds = one_type_seeds();
    seeds.vertices.resize(num_types);
    seeds.times.resize(num_types);
    for (std::vector<std::int64_t> const& fanouts : {std::vector<std::int64_t>{4, 3}, {-1, 20}}) {
      for (auto const& params : every_way(num_types == 1, timed, fanouts)) {
        minibatch_sampler on_csr(csr, params);
        minibatch_sampler on_packed(packed, params);
        EXPECT_EQ(difference(lists_of(on_csr.sample(seeds.spans(timed), 5)),
                             lists_of(on_packed.sample(seeds.spans(timed), 5))),
                  "")
            << name_of(params);
      }
    }
  }
}

TEST(Forms, OrderOfTime)
{
  graph const g = make_zoo(4);
  graph const packed = compress(g, graph_form::best);
  auto const times = make_times(g.num_edges(), 3);
  auto const vertex_times = make_times(g.num_vertices(), 4);
  auto const bytes = [](temporal_order const& order) { return sample_bytes(order.times, order.ordinal); };
  EXPECT_TRUE(bytes(order_by_time(packed, times)) == bytes(order_by_time(g, times)));
  EXPECT_TRUE(bytes(order_by_vertex_time(packed, vertex_times)) == bytes(order_by_vertex_time(g, vertex_times)));
}

TEST(Forms, Layers)
{
  for (auto const& [csr, packed] : graphs_of_both_forms()) {
    std::vector<vertex_id> const roots = starts_everywhere(csr, 1);
    for (auto const matrix : {propagation::row, propagation::symmetric, propagation::weights}) {
      for (bool const replace : {false, true}) {
        auto const fastgcn = [&](graph const& g) {
          return bytes_of(fastgcn_sample(g, roots, 16,
                                         {.layer_size = 24, .matrix = matrix, .replace = replace, .with_edges = true}));
        };
        auto const ladies = [&](graph const& g) {
          return bytes_of(ladies_sample(
              g, roots, 16,
              {.num_layers = 3, .layer_size = 24, .matrix = matrix, .replace = replace, .with_edges = true}));
        };
        EXPECT_TRUE(fastgcn(packed) == fastgcn(csr));
        EXPECT_TRUE(ladies(packed) == ladies(csr));
      }
    }
    std::vector<float> const importances(static_cast<std::size_t>(csr.num_vertices()), 2.0F);
    auto const mvs = [&](graph const& g) {
      auto const s = mvs_sample(g, importances, 20, {.batch_size = 8, .with_edges = true});
      return sample_bytes(s.vertices, s.probabilities, s.weights, s.edge_offsets, s.neighbors, s.edges);
    };
    EXPECT_TRUE(mvs(packed) == mvs(csr));
    for (std::vector<std::int64_t> const& fanouts : {std::vector<std::int64_t>{3, 5}, {2, -1}}) {
      auto const labor = [&](graph const& g) {
        auto const batch = labor_sample(g, std::span(roots).first(40), {.fanouts = fanouts});
        sample_bytes out(batch.node, batch.num_sampled_nodes);
        for (auto const& hop : batch.hops) { out.add(hop.row, hop.col, hop.edge, hop.weights); }
        return out;
      };
      EXPECT_TRUE(labor(packed) == labor(csr));
    }
  }
}

TEST(Forms, Subgraphs)
{
  for (auto const& [csr, packed] : graphs_of_both_forms()) {
    std::vector<vertex_id> const seeds = starts_everywhere(csr, 1);
    for (auto const sampler : {saint_sampler::node, saint_sampler::edge, saint_sampler::walk}) {
      saint_params const params{.sampler = sampler, .budget = 30, .length = 3};
      auto const saint = [&](graph const& g) { return bytes_of(saint_sample(g, params, 8)); };
      auto const normalization = [&](graph const& g) {
        auto const c = saint_normalization(g, params, 8);
        return sample_bytes(c.node_counts, c.edge_counts, c.loss, c.aggregator);
      };
      EXPECT_TRUE(saint(packed) == saint(csr));
      EXPECT_TRUE(normalization(packed) == normalization(csr));
    }
    for (bool const replace : {false, true}) {
      auto const shadow = [&](graph const& g) {
        return bytes_of(shadow_sample(g, seeds, {.num_neighbors = 4, .replace = replace}));
      };
      EXPECT_TRUE(shadow(packed) == shadow(csr));
    }
    auto const clusters = [&](graph const& g) {
      auto const of = cluster_vertices(g, {.num_clusters = 8, .method = cluster_method::random});
      return bytes_of(cluster_sample(g, group_clusters(of.span(), 8), {.clusters_per_sample = 3}, 3));
    };
    EXPECT_TRUE(clusters(packed) == clusters(csr));
  }
}

}  // namespace
}  // namespace tendril::test
