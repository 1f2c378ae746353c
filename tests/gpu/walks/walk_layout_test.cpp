// Layouts are a matter of speed: every one that the planner may choose gives the same walks, whatever it chooses today.

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <tendril/generate.hpp>
#include <tendril/sample.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

#include "gpu/device/workspace.hpp"
#include "gpu/walks/job.hpp"
#include "gpu/walks/scan_walk.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"

namespace tendril::test {
namespace {

class WalkLayouts : public gpu_test {
 protected:
  static constexpr std::int64_t length = 30;

  void SetUp() override
  {
    gpu_test::SetUp();
    if (IsSkipped()) { return; }
    edge_attributes extra;
    extra.has_weights = true;
    extra.num_labels = 3;
    extra.num_node_types = 4;
    forms =
        all_forms_on_gpu(generate_rmat({.scale = 11, .edge_factor = 12, .seed = 5}, {.symmetrize = true}, extra), exec);
    auto const from = random_vertices(forms[0].num_vertices(), 3000, 9);
    starts = on_gpu(from.span(), exec);
  }

  std::vector<vertex_id> planned(walk_params params)
  {
    params.length = length;
    return copied(walker(forms[0], params, 1, exec).run(starts.span(), 0, exec).vertices);
  }

  /// The walks of `params` on g from exactly these tables.
  std::vector<vertex_id> with_tables(graph const& g, walk_params const& params, sampling_rule rule,
                                     gpu::walk_tables const& tables)
  {
    gpu::walk_job job;
    job.graph = g.view();
    job.tables = &tables;
    job.rule = rule;
    job.weighted = params.weighted;
    job.second_order = params.p != 1;
    job.bias = core::node2vec_bias::of(params.p, params.q);
    job.step_key = core::make_key(params.seed,
                                  job.second_order ? core::domain::second_order_walk : core::domain::first_order_walk);
    gpu::workspace space;
    space.reset(exec.stream);
    buffer<vertex_id> rows(starts.size() * (length + 1), memory_of(exec));
    gpu::walk_batch const batch{starts.data(), starts.size(), 0,       g.num_vertices(),  length,        false,
                                false,         rows.data(),   nullptr, space.next_walk(), space.status()};
    gpu::walk_shape const shape{false, false, false, true, exec.device, exec.stream};
    if (job.second_order) {
      gpu::node2vec_walk(job, batch, shape);
    } else if (rule == sampling_rule::alias) {
      gpu::alias_walk(job, batch, shape);
    } else if (rule == sampling_rule::its) {
      gpu::its_walk(job, batch, shape);
    } else {
      gpu::uniform_walk(job, batch, shape);
    }
    synchronize(exec);
    return copied(rows);
  }

  [[nodiscard]] std::shared_ptr<plan::weight_sums const> sums_of(graph const& g) const
  {
    return std::make_shared<plan::weight_sums const>(gpu::make_weight_sums(g.view(), exec));
  }

  template <class T>
  static std::shared_ptr<buffer<T> const> shared(buffer<T>&& table)
  {
    return std::make_shared<buffer<T> const>(std::move(table));
  }

  /// Tables for uniform proposals, one layout each. Second-order walks read a packed graph itself.
  std::vector<gpu::walk_tables> uniform_layouts(graph const& g, bool second_order)
  {
    if (second_order && g.form() != graph_form::csr) { return std::vector<gpu::walk_tables>(1); }
    std::vector<gpu::walk_tables> out(5);
    out[1].rows = shared(gpu::make_row_records(g.view(), exec));
    out[2].hops = shared(gpu::make_hop_records(g.view(), exec));
    out[3].rows = out[1].rows;
    out[3].packing = gpu::hop_packing::of(g.num_vertices(), g.num_edges());
    out[3].packed_hops = shared(gpu::make_packed_hops(g.view(), out[3].packing, exec));
    // Degrees in 6 bits: most neighbours are looked up.
    out[4].rows = out[1].rows;
    out[4].packing = {26, 32};
    out[4].packed_hops = shared(gpu::make_packed_hops(g.view(), out[4].packing, exec));
    if (g.form() == graph_form::csr && !second_order) {
      out.emplace_back();
      out[5].rows = out[1].rows;
      out[5].triples = shared(gpu::make_target_triples(g.view().as<csr_view>(), exec));
    }
    return out;
  }

  /// The walks of a weighted metapath on g by scans, from lists of edges by label.
  std::vector<vertex_id> listed(graph const& g, walk_params const& params, engine::dynamic_tuning const& tuning)
  {
    bool const of_types = params.metapath_of == metapath_kind::vertex_types;
    auto const by = of_types ? plan::grouping::by_target_type : plan::grouping::by_edge_label;
    gpu::walk_tables tables;
    tables.lists = std::make_shared<gpu::label_lists const>(gpu::make_label_lists(g.view(), by, 4, exec, 5000));
    auto const schema = on_gpu(params.metapath, exec);
    gpu::walk_job job;
    job.graph = g.view();
    job.tables = &tables;
    job.rule = sampling_rule::scan;
    job.weighted = true;
    job.metapath = {schema.data(), static_cast<std::int32_t>(schema.size()), of_types, params.metapath[0]};
    job.step_key = core::make_key(params.seed, core::domain::metapath_walk);
    gpu::workspace space;
    space.reset(exec.stream);
    buffer<vertex_id> rows(starts.size() * (length + 1), memory_of(exec));
    gpu::scan_walk(job,
                   {starts.data(), starts.size(), 0, g.num_vertices(), length, false, false, rows.data(), nullptr,
                    space.next_walk(), space.status()},
                   {false, false, false, true, exec.device, exec.stream}, tuning);
    synchronize(exec);
    return copied(rows);
  }

  std::vector<graph> forms;  // of one graph
  buffer<vertex_id> starts;
};

TEST_F(WalkLayouts, OfUniformWalksAgree)
{
  auto const expected = planned({});
  for (graph const& g : forms) {
    for (auto const& tables : uniform_layouts(g, false)) {
      EXPECT_EQ(with_tables(g, {}, sampling_rule::uniform, tables), expected);
    }
  }
}

TEST_F(WalkLayouts, OfNode2vecWalksAgree)
{
  for (double const p : {2.0, 0.25}) {  // with p = 0.25 the edge back is an alternative of its own
    walk_params params;
    params.p = p;
    params.q = 1 / p;
    auto const expected = planned(params);
    for (graph const& g : forms) {
      for (auto tables : uniform_layouts(g, true)) {
        EXPECT_EQ(with_tables(g, params, sampling_rule::reject, tables), expected);
        tables.adjacency_sets = shared(gpu::make_adjacency_sets(g.view(), exec));
        EXPECT_EQ(with_tables(g, params, sampling_rule::reject, tables), expected);
      }
    }
  }
}

TEST_F(WalkLayouts, OfWeightedWalksAgree)
{
  walk_params params;
  params.weighted = true;
  params.rule = sampling_rule::alias;
  for (graph const& g : forms) {
    std::vector<gpu::walk_tables> layouts(4);
    layouts[0].sums = sums_of(g);
    layouts[1].alias = shared(gpu::make_alias_records(g.view(), exec));
    layouts[2] = layouts[1];
    layouts[2].rows = shared(gpu::make_row_records(g.view(), exec));
    layouts[3].alias_hops = shared(gpu::make_alias_hop_records(g.view(), exec));
    for (double const p : {1.0, 4.0, 0.25}) {
      params.p = p;
      if (p != 1 && g.form() != graph_form::csr) { layouts.resize(2); }
      if (p != 1) {  // which read the sums besides
        for (auto& tables : layouts) { tables.sums = layouts[0].sums; }
      }
      auto const expected = planned(params);
      for (auto const& tables : layouts) { EXPECT_EQ(with_tables(g, params, sampling_rule::alias, tables), expected); }
    }
  }
}

TEST_F(WalkLayouts, OfInverseTransformsAgree)
{
  walk_params params;
  params.weighted = true;
  params.rule = sampling_rule::its;
  auto const expected = planned(params);
  for (graph const& g : forms) {
    gpu::walk_tables tables;
    tables.sums = sums_of(g);
    EXPECT_EQ(with_tables(g, params, sampling_rule::its, tables), expected);
  }
}

/// Whatever tables a plan may take, the walks and trees are those of the CPU.
TEST_F(WalkLayouts, OfEveryLimitAgree)
{
  graph const host = to_host(forms[0], exec);
  auto const from = copied(starts);
  for (auto const rule : {sampling_rule::automatic, sampling_rule::alias, sampling_rule::its}) {
    walk_params walk{.length = length, .weighted = true, .rule = rule};
    khop_params tree{.fanouts = {5, 3}, .replace = true, .weighted = true, .rule = rule};
    auto const walks = copied(walker(host, walk, 1).run(from, 0).vertices);
    auto const trees = khop_sample(host, from, tree, {}, 0, true);
    for (graph const& g : forms) {
      for (table_limit const limit : {table_limit(), table_limit(0), table_limit(std::int64_t{1} << 40U)}) {
        g.drop_derived();
        walk.table_bytes = tree.table_bytes = limit;
        EXPECT_EQ(copied(walker(g, walk, std::int64_t{1} << 40U, exec).run(starts.span(), 0, exec).vertices), walks);
        for (bool const with_edges : {false, true}) {
          auto const made = khop_sample(g, starts.span(), tree, exec, 0, with_edges);
          for (std::size_t h = 0; h < made.hops.size(); ++h) {
            EXPECT_EQ(copied(made.hops[h].vertices), copied(trees.hops[h].vertices));
            if (with_edges) { EXPECT_EQ(copied(made.hops[h].edges), copied(trees.hops[h].edges)); }
          }
        }
      }
      walk.table_bytes = 0;
      walk.rule = sampling_rule::alias;
      EXPECT_TRUE(plan_walk(g, walk, 1, exec).weight_sums);
      walk.rule = rule;
    }
  }
}

/// Metapaths without neighbours grouped by label read the labels at each step, by every rule; the walks are the CPU's.
TEST_F(WalkLayouts, OfMetapathsWithoutGroupsAgree)
{
  using enum sampling_rule;
  graph const host = to_host(forms[0], exec);
  auto const from = copied(starts);
  for (auto const of : {metapath_kind::edge_labels, metapath_kind::vertex_types}) {
    for (auto const rule : {automatic, reject, alias, its}) {
      for (bool const weighted : {false, true}) {
        if (!weighted && rule != automatic) { continue; }
        for (double const ends : {0.0, 0.2}) {
          walk_params params{.length = length, .weighted = weighted, .metapath = {0, 2, 1}, .rule = rule};
          params.metapath_of = of;
          params.restart_prob = ends;
          auto const expected = walker(host, params, 1).run(from, 3);
          params.table_bytes = 0;
          for (graph const& g : forms) {
            g.drop_derived();
            walker const w(g, params, std::int64_t{1} << 40U, exec);
            EXPECT_FALSE(w.plan().grouped_by_label);
            EXPECT_GT(w.plan().table_bytes_refused, 0);
            for (auto const order : {walk_order::row_major, walk_order::step_major}) {
              auto const made = w.run(starts.span(), 3, exec, order);
              EXPECT_EQ(copied(made.lengths), copied(expected.lengths));
              if (order == walk_order::row_major) { EXPECT_EQ(copied(made.vertices), copied(expected.vertices)); }
            }
            auto const joined = w.run_ragged(starts.span(), 3, exec);
            EXPECT_EQ(copied(joined.vertices), copied(walker(host, params, 1).run_ragged(from, 3).vertices));
          }
        }
      }
    }
  }
}

TEST_F(WalkLayouts, OfScannedMetapathsAgree)
{
  walk_params params;
  params.weighted = true;
  params.rule = sampling_rule::scan;
  params.metapath = {0, 2, 1};
  std::vector<engine::dynamic_tuning> tunings(3);
  tunings[1].walks_a_turn = 1;  // warps that are done help with lists of any length
  tunings[1].share_from = 1;
  tunings[1].share_chunk = 128;
  tunings[2].num_blocks = 1;
  tunings[2].block_threads = 32;
  for (auto const of : {metapath_kind::edge_labels, metapath_kind::vertex_types}) {
    params.metapath_of = of;
    auto const expected = planned(params);  // a job too small for a table: labels are read at each step
    for (graph const& g : forms) {
      for (auto const& tuning : tunings) { EXPECT_EQ(listed(g, params, tuning), expected); }
    }
  }
}

/// A job that is large enough to pay for tables gets the same walks as one that is not.
TEST_F(WalkLayouts, OfPlansForManyWalksAgree)
{
  walk_params params;
  params.weighted = true;
  params.rule = sampling_rule::scan;
  params.metapath = {0, 2, 1};
  auto const expected = planned(params);
  params.length = length;
  params.table_bytes = std::int64_t{1} << 40U;  // else compressed graphs have none
  for (graph const& g : forms) {
    walker const w(g, params, std::int64_t{1} << 40U, exec);
    EXPECT_EQ(w.plan().layout, table_layout::table);
    EXPECT_GT(w.plan().table_bytes, 8 * g.num_edges());
    EXPECT_EQ(copied(w.run(starts.span(), 0, exec).vertices), expected);
  }
}

}  // namespace
}  // namespace tendril::test
