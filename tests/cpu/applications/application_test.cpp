// Sampling applications on the CPU: what is added is what the application may add, the random numbers are those that are
// documented, and a sample depends on its logical id alone.

#include <set>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/engine/applications/cpu.hpp>
#include <tendril/generate.hpp>
#include <tendril/sample.hpp>
#include <tendril/starts.hpp>

#include "support/application_params.hpp"
#include "support/messages.hpp"
#include "support/sampling_apps.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril {
namespace {

graph rmat_graph(bool weighted = false)
{
  edge_attributes extra;
  extra.has_weights = weighted;
  return generate_rmat({.scale = 10, .edge_factor = 8, .seed = 3}, {.drop_duplicates = true}, extra);
}

bool has_edge(graph const& g, vertex_id u, vertex_id v) { return g.csr().has_edge(u, v); }

struct step_row {
  vertex_id const* slots;
  std::int64_t size;
};

step_row row_of(samples const& s, std::size_t t, std::int64_t i)
{
  return {s.first(t) + i * s.stride(t), s.steps[t].num_slots};
}

void expect_equal(samples const& a, samples const& b, std::int64_t from = 0)
{
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t t = 0; t < a.steps.size(); ++t) {
    ASSERT_EQ(a.steps[t].num_slots, b.steps[t].num_slots);
    for (std::int64_t i = 0; i < b.num_samples; ++i) {
      auto const x = row_of(a, t, from + i);
      auto const y = row_of(b, t, i);
      ASSERT_TRUE(std::equal(x.slots, x.slots + x.size, y.slots)) << "step " << t << ", sample " << from + i;
      if (!a.steps[t].sizes.empty()) { ASSERT_EQ(a.steps[t].sizes[from + i], b.steps[t].sizes[i]); }
      if (!a.steps[t].edge_offsets.empty()) {
        auto const& p = a.steps[t];
        auto const& q = b.steps[t];
        ASSERT_EQ(p.edge_offsets[from + i + 1] - p.edge_offsets[from + i], q.edge_offsets[i + 1] - q.edge_offsets[i]);
        for (std::int64_t k = 0; k < q.edge_offsets[i + 1] - q.edge_offsets[i]; ++k) {
          ASSERT_EQ(p.edge_sources[p.edge_offsets[from + i] + k], q.edge_sources[q.edge_offsets[i] + k]);
          ASSERT_EQ(p.edge_targets[p.edge_offsets[from + i] + k], q.edge_targets[q.edge_offsets[i] + k]);
        }
      }
    }
  }
}

/// Reads everything that an edge list has, and earlier ones.
struct reads_all {
  [[nodiscard]] int steps() const { return 3; }
  [[nodiscard]] std::int64_t sample_size(int step) const { return step == 0 ? 5 : 2; }
  [[nodiscard]] vertex_id next(auto& sample, transit_list const& transits, auto const& edges, int step,
                               random_stream& rng) const
  {
    if (edges.empty()) { return no_vertex; }
    std::uint64_t sum = transits[0] + sample.graph.degree(transits[0]) + rng.bits() % 100;
    for (std::uint32_t k = 0; k < edges.size(); ++k) {
      sum +=
          (edges[k] ^ static_cast<std::uint64_t>(edges.edge(k))) + static_cast<std::uint64_t>(edges.weight(k) * 1000);
    }
    if (step > 0) { sum += sample.prev_edges(2, 0).row().contains(edges[0]) ? 3 : sample.prev_edges(2, 0).size(); }
    return edges[static_cast<std::uint32_t>(sum % edges.size())];
  }
};

/// The same of combined edges.
struct reads_all_together {
  static constexpr sampling sampling_type() { return sampling::collective; }
  [[nodiscard]] int steps() const { return 2; }
  [[nodiscard]] std::int64_t sample_size(int) const { return 9; }
  [[nodiscard]] vertex_id next(auto&, transit_list const& transits, auto const& edges, int, random_stream& rng) const
  {
    if (edges.empty()) { return no_vertex; }
    std::uint64_t const k = rng.bounded(edges.size());
    std::uint32_t const i = edges.transit_of(k);
    std::uint64_t const sum = edges[k] + transits[i] + static_cast<std::uint64_t>(edges.edge(k)) +
                              static_cast<std::uint64_t>(edges.weight(k) * 1000) + edges.of_transit(i).size();
    return edges[sum % edges.size()];
  }
};

template <class A>
class any_application : public testing::Test {
};
using all_applications =
    testing::Types<apps::khop, apps::unique_khop, apps::layer, apps::unique_layer, apps::importance, apps::multidim,
                   apps::ppr, apps::weighted_khop_scan, apps::among_roots, apps::smallest_root, apps::node2vec,
                   apps::deepwalk, reads_all, reads_all_together>;
TYPED_TEST_SUITE(any_application, all_applications);

TYPED_TEST(any_application, depends_on_the_logical_id_alone)
{
  graph const g = rmat_graph(true);
  std::int64_t const n = test::unless_sanitized(60, 12);
  std::int64_t const num_roots = 3;
  auto const roots = random_vertices(g.num_vertices(), n * num_roots, 5);
  auto params = test::params_of<TypeParam>();
  auto const all = run_application(g, TypeParam{}, roots.span(), num_roots, params, {.num_threads = 1});
  expect_equal(all, run_application(g, TypeParam{}, roots.span(), num_roots, params, {.num_threads = 4}));
  for (std::int64_t const first : {std::int64_t{0}, std::int64_t{7}, 2 * n / 3 + 1}) {
    std::int64_t const count = std::min<std::int64_t>(n - first, 23);
    auto const part =
        roots.span().subspan(static_cast<std::size_t>(first * num_roots), static_cast<std::size_t>(count * num_roots));
    expect_equal(all, run_application(g, TypeParam{}, part, num_roots, params, {}, first), first);
  }
  params.order = sample_order::per_sample;
  expect_equal(all, run_application(g, TypeParam{}, roots.span(), num_roots, params));
}

TYPED_TEST(any_application, does_not_depend_on_the_form)
{
  graph const g = rmat_graph(true);
  auto const roots = random_vertices(g.num_vertices(), test::unless_sanitized(60, 12) * 3, 5);
  auto const params = test::params_of<TypeParam>();
  expect_equal(run_application(g, TypeParam{}, roots.span(), 3, params, {}, 7),
               run_application(compress(g, graph_form::best), TypeParam{}, roots.span(), 3, params, {}, 7));
}

TYPED_TEST(any_application, no_samples_give_nothing)
{
  graph const g = rmat_graph();
  auto const none = run_application(g, TypeParam{}, {}, 1, test::params_of<TypeParam>());
  EXPECT_EQ(none.num_samples, 0);
  for (std::size_t t = 0; t < none.steps.size(); ++t) { EXPECT_TRUE(none.steps[t].vertices.empty()); }
}

/// Takes the arguments of CSR graphs, in all of its functions or in one.
struct of_csr {
  [[nodiscard]] int steps() const { return 1; }
  [[nodiscard]] std::int64_t sample_size(int) const { return 1; }
  [[nodiscard]] vertex_id next(sample_view&, transit_list const&, edge_list const& edges, int, random_stream&) const
  {
    return edges.empty() ? no_vertex : edges[0];
  }
};
struct ends_on_csr : apps::khop {
  void end_step(sample_view&, int) const {}
};
static_assert(sampling_application<of_csr> && !sampling_application<of_csr, compressed_view>);
static_assert(sampling_application<ends_on_csr> && !sampling_application<ends_on_csr, compressed_view>);
static_assert(sampling_application<apps::khop, compressed_view>);

TEST(application, says_which_forms_it_reads)
{
  graph const g = rmat_graph();
  graph const packed = compress(g, graph_form::best);
  std::vector<vertex_id> const roots = {0, 1};
  std::string const refusal =
      "application: its functions take sample_view, which reads CSR graphs; write 'auto&' for graphs of every form "
      "(to_csr makes this one CSR)";
  auto const message = [&](auto const& app) {
    (void)run_application(g, app, roots, 1, {});
    return test::message_of<argument_error>([&] { (void)run_application(packed, app, roots, 1, {}); });
  };
  EXPECT_EQ(message(of_csr{}), refusal);
  EXPECT_EQ(message(ends_on_csr{}), refusal);
}

TEST(application, khop_is_khop_sample)
{
  graph const g = rmat_graph();
  auto const roots = random_vertices(g.num_vertices(), 200, 1);
  khop_params params;
  params.replace = true;
  params.fanouts = {25, 10};
  params.seed = 9;
  auto const trees = khop_sample(g, roots.span(), params, {}, 40);
  application_params general;
  general.seed = 9;
  auto const grown = engine::run_in_domain(g, apps::khop{}, roots.span(), 1, general, {}, 40, core::domain::khop);
  for (std::size_t t = 0; t < 2; ++t) {
    ASSERT_EQ(grown.steps[t].vertices.size(), trees.hops[t].vertices.size());
    EXPECT_TRUE(
        std::equal(grown.steps[t].vertices.begin(), grown.steps[t].vertices.end(), trees.hops[t].vertices.begin()));
  }
}

TEST(application, unique_steps_hold_distinct_neighbours)
{
  graph const g = rmat_graph();
  auto const roots = random_vertices(g.num_vertices(), 50, 1);
  auto const grown = run_application(g, apps::unique_khop{}, roots.span(), 1, {.seed = 1});
  for (std::int64_t i = 0; i < 50; ++i) {
    for (std::size_t t = 0; t < 2; ++t) {
      auto const row = row_of(grown, t, i);
      std::set<vertex_id> seen;
      for (std::int64_t k = 0; k < row.size; ++k) {
        if (row.slots[k] == no_vertex) { continue; }
        EXPECT_TRUE(seen.insert(row.slots[k]).second);
        vertex_id const transit = t == 0 ? roots[i] : row_of(grown, 0, i).slots[k / 10];
        EXPECT_TRUE(has_edge(g, transit, row.slots[k]));
      }
      EXPECT_EQ(grown.steps[t].sizes[i], static_cast<std::int32_t>(seen.size()));
    }
    // All distinct neighbours of a root of few are found: 32 rounds miss one of 25 with probability 25 (24/25)^32.. only
    // if there are at least 25 of them; fewer are found almost surely.
    std::set<vertex_id> all;
    for (std::uint32_t k = 0; k < g.csr().degree(roots[i]); ++k) { all.insert(g.csr().neighbor(roots[i], k)); }
    if (all.size() <= 3) { EXPECT_EQ(grown.steps[0].sizes[i], static_cast<std::int32_t>(all.size())); }
  }
}

TEST(application, layers_grow_to_their_size_and_end)
{
  graph const g = rmat_graph();
  auto const roots = random_vertices(g.num_vertices(), 40, 2);
  auto const grown = run_application(g, apps::layer{50, 120}, roots.span(), 2, {.seed = 4, .max_steps = 5});
  for (std::int64_t i = 0; i < 20; ++i) {
    std::int64_t total = 0;
    for (std::size_t t = 0; t < 5; ++t) {
      auto const row = row_of(grown, t, i);
      for (std::int64_t k = 0; k < row.size; ++k) {
        if (row.slots[k] == no_vertex) { continue; }
        ++total;
        auto const before = t == 0 ? step_row{roots.data() + 2 * i, 2} : row_of(grown, t - 1, i);
        EXPECT_TRUE(std::any_of(before.slots, before.slots + before.size,
                                [&](vertex_id u) { return u != no_vertex && has_edge(g, u, row.slots[k]); }));
      }
    }
    bool const dead = g.csr().degree(roots[2 * i]) + g.csr().degree(roots[2 * i + 1]) == 0;
    EXPECT_EQ(total, dead ? 0 : 120);
    EXPECT_EQ(grown.steps[4].sizes[i], 0);
  }
}

TEST(application, edges_are_those_that_calls_added)
{
  graph const g = rmat_graph();
  std::int64_t const num_roots = 16;
  auto const roots = random_vertices(g.num_vertices(), 30 * num_roots, 8);
  for (bool const distinct : {false, true}) {
    auto const grown = run_application(g, apps::importance{3, 24, distinct}, roots.span(), num_roots, {.seed = 6});
    for (std::size_t t = 0; t < 3; ++t) {
      for (std::int64_t i = 0; i < 30; ++i) {
        auto const before = t == 0 ? step_row{roots.data() + i * num_roots, num_roots} : row_of(grown, t - 1, i);
        auto const row = row_of(grown, t, i);
        std::vector<std::pair<vertex_id, vertex_id>> expected;
        for (std::int64_t k = 0; k < row.size; ++k) {
          for (std::int64_t j = 0; j < before.size; ++j) {
            if (row.slots[k] != no_vertex && before.slots[j] != no_vertex &&
                has_edge(g, before.slots[j], row.slots[k])) {
              expected.emplace_back(before.slots[j], row.slots[k]);
            }
          }
        }
        auto const& step = grown.steps[t];
        std::vector<std::pair<vertex_id, vertex_id>> found;
        for (std::int64_t e = step.edge_offsets[i]; e < step.edge_offsets[i + 1]; ++e) {
          found.emplace_back(step.edge_sources[e], step.edge_targets[e]);
        }
        EXPECT_EQ(found, expected);
      }
    }
  }
}

TEST(application, roots_are_replaced_by_what_was_reached)
{
  graph const g = rmat_graph();
  std::int64_t const num_roots = 5;
  auto const roots = random_vertices(g.num_vertices(), 20 * num_roots, 3);
  auto const grown = run_application(g, apps::multidim{30}, roots.span(), num_roots, {.seed = 2});
  for (std::int64_t i = 0; i < 20; ++i) {
    std::multiset<vertex_id> set(roots.data() + i * num_roots, roots.data() + (i + 1) * num_roots);
    for (std::size_t t = 0; t < 30; ++t) {
      vertex_id const v = row_of(grown, t, i).slots[0];
      if (v == no_vertex) { continue; }
      auto const from = std::find_if(set.begin(), set.end(), [&](vertex_id u) { return has_edge(g, u, v); });
      ASSERT_NE(from, set.end());
      set.insert(v);
    }
    for (std::int64_t k = 0; k < num_roots; ++k) { EXPECT_TRUE(set.count(grown.roots[i * num_roots + k]) > 0); }
  }
}

}  // namespace
}  // namespace tendril
