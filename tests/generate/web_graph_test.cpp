// Web-like graphs: each row is a pure function of its vertex, ascending and without duplicates at any size; lists
// look as a crawl's do (docs/generators.md).

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "build/build_verifier.hpp"
#include "core/web_shape.hpp"
#include "support/any_lists.hpp"
#include "support/messages.hpp"
#include "support/same_lists.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

/// The neighbours of one vertex, made without any other. Checks that runs ascend, are apart and are within the graph.
std::vector<vertex_id> row_of(core::web_graph const& rule, vertex_id v)
{
  auto const directory = rule.directory_of(v);
  EXPECT_TRUE(directory.pages.begin <= v && v < directory.pages.end) << v;
  EXPECT_TRUE(directory.host.begin <= directory.pages.begin && directory.pages.end <= directory.host.end) << v;
  EXPECT_LE(directory.host.end, rule.num_vertices());
  std::vector<vertex_id> out;
  auto row = rule.row(directory, v);
  std::uint32_t const degree = row.degree();
  std::uint64_t after = 0;
  for (core::web_run run{}; row.next(run);) {
    EXPECT_TRUE(run.begin < run.end && run.end <= rule.num_vertices()) << v;
    EXPECT_TRUE(out.empty() || run.begin > after) << v << ": runs overlap or touch";
    after = run.end;
    for (vertex_id u = run.begin; u < run.end; ++u) { out.push_back(u); }
  }
  EXPECT_EQ(degree, out.size()) << v;
  return out;
}

void expect_rows(graph const& g, core::web_graph const& rule)
{
  for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
    auto const begin = g.arrays().indptr[v], end = g.arrays().indptr[v + 1];
    ASSERT_EQ(std::vector<vertex_id>(g.arrays().indices.begin() + begin, g.arrays().indices.begin() + end),
              row_of(rule, static_cast<vertex_id>(v)))
        << v;
  }
}

TEST(web_graph, rows_made_alone_are_those_of_the_whole_graph)
{
  for (double const edge_factor : {0.0, 0.7, 5.0, 10.0, 250.0}) {
    for (std::int64_t const n : {1, 2, 7, 9, 100, 4097, test::unless_sanitized(20'000, 5'000)}) {
      SCOPED_TRACE(testing::Message() << n << " vertices, " << edge_factor);
      auto const g = generate_web({n, edge_factor, 5}, {});
      g.validate();
      ASSERT_EQ(g.num_vertices(), n);
      expect_rows(g, core::web_graph_of(5, static_cast<std::uint32_t>(n), edge_factor));
    }
  }
  EXPECT_EQ(generate_web({1000, 0, 5}, {}).num_edges(), 0);
}

TEST(web_graph, does_not_depend_on_threads_but_on_the_seed)
{
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 5;
  extra.num_node_types = 4;
  auto const make = [&](std::uint64_t seed, int threads) {
    cpu_exec exec;
    exec.num_threads = threads;
    return generate_web({test::unless_sanitized(150'000, 40'000), 8, seed}, {}, extra, exec);
  };
  auto const one = make(7, 1);
  for (int const threads : {2, 5}) { test::expect_same_graph(one, make(7, threads)); }
  EXPECT_NE(one.num_edges(), make(8, 2).num_edges());
}

TEST(web_graph, is_the_known_graph)
{
  auto const g = generate_web({200'000, 10, 1}, {});
  std::uint64_t state = 0xcbf29ce484222325ULL;  // FNV-1a over the words
  auto const add = [&](std::uint64_t word) { state = (state ^ word) * 0x100000001b3ULL; };
  for (auto const offset : g.arrays().indptr) { add(static_cast<std::uint64_t>(offset)); }
  for (auto const target : g.arrays().indices) { add(target); }
  EXPECT_EQ(state, 3626621863992548200ULL);
  EXPECT_EQ(g.arrays().metadata.at("origin"), "generated: web-like, n 200000, edge_factor 10, seed 1");
}

TEST(web_graph, rows_of_the_largest_graph_end_below_its_size)
{
  auto const last = static_cast<std::uint32_t>(max_num_vertices);
  for (std::uint32_t const n : {last, last - 1, 0x80000000U, 0x80000001U, 1U << 17U, (1U << 17U) + 1}) {
    for (double const edge_factor : {10.0, 256.0}) {
      auto const rule = core::web_graph_of(3, n, edge_factor);
      std::size_t num_edges = 0;
      for (std::uint32_t i = 1; i <= 2000; ++i) { num_edges += row_of(rule, n - i).size(); }
      for (std::uint32_t i = 0; i < 500; ++i) { num_edges += row_of(rule, i * (n / 500)).size(); }
      EXPECT_GT(num_edges, 2500);
    }
  }
}

TEST(web_graph, looks_like_a_crawl)
{
  auto const g = generate_web({325'557, 9.88, 1}, {});
  auto const n = static_cast<double>(g.num_vertices()), e = static_cast<double>(g.num_edges());
  std::vector<std::uint32_t> in(static_cast<std::size_t>(g.num_vertices()), 0);
  double continued = 0, empty = 0, long_lists = 0, loops = 0;
  std::uint32_t largest = 0;
  for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
    auto const begin = g.arrays().indptr[v], end = g.arrays().indptr[v + 1];
    auto const degree = static_cast<std::uint32_t>(end - begin);
    empty += degree == 0 ? 1 : 0;
    long_lists += degree >= 64 ? 1 : 0;
    largest = std::max(largest, degree);
    for (auto i = begin; i < end; ++i) {
      vertex_id const u = g.arrays().indices[i];
      ++in[u];
      loops += u == static_cast<vertex_id>(v) ? 1 : 0;
      continued += i > begin && u == g.arrays().indices[i - 1] + 1 ? 1 : 0;
    }
  }
  std::sort(in.rbegin(), in.rend());
  double popular = 0;
  for (std::size_t i = 0; i < in.size() / 100; ++i) { popular += in[i]; }
  // cnr-2000: 0.69, 0.24, 0.0064, 2716, 0.027, 0.56, 18,235. Single hosts move these numbers at this size.
  EXPECT_NEAR(continued / e, 0.72, 0.06);
  EXPECT_NEAR(empty / n, 0.24, 0.03);
  EXPECT_NEAR(long_lists / n, 0.007, 0.004);
  EXPECT_GT(largest, 500U);
  EXPECT_NEAR(loops / e, 0.04, 0.02);
  EXPECT_NEAR(popular / e, 0.45, 0.15);
  EXPECT_GT(in.front(), 8000U);
}

TEST(web_graph, building_steps_are_those_of_build_graph)
{
  web_params const params{30'000, 6, 2};
  auto const plain = generate_web(params, {});
  build_options build;
  build.symmetrize = build.drop_self_loops = build.drop_duplicates = true;
  edge_attributes extra;
  extra.has_weights = true;
  auto const g = generate_web(params, build, extra);
  EXPECT_TRUE(g.arrays().symmetric);
  auto const built = build_graph(plain, build);
  ASSERT_TRUE(std::equal(g.arrays().indices.begin(), g.arrays().indices.end(), built.arrays().indices.begin(),
                         built.arrays().indices.end()));
  g.validate();
  for (std::int64_t v = 0; v < 1000; ++v) {  // both directions of an edge have one weight
    for (auto i = g.arrays().indptr[v]; i < g.arrays().indptr[v + 1]; ++i) {
      vertex_id const u = g.arrays().indices[i];
      auto const* const first = g.arrays().indices.data() + g.arrays().indptr[u];
      auto const* const last = g.arrays().indices.data() + g.arrays().indptr[u + 1];
      auto const back = std::lower_bound(first, last, static_cast<vertex_id>(v)) - g.arrays().indices.data();
      ASSERT_EQ(g.arrays().weights[i], g.arrays().weights[back]);
    }
  }
  build = {};
  build.num_vertices = 30'001;
  EXPECT_EQ(generate_web(params, build).num_vertices(), 30'001);
  build = {};
  build.keep_edge_ids = true;
  EXPECT_EQ(generate_web(params, build).arrays().edge_ids.size(), plain.num_edges());
}

TEST(web_graph, is_made_in_every_form)
{
  for (std::int64_t const n :
       {1, 12, 25, test::unless_sanitized(5'000, 2'000), test::unless_sanitized(30'001, 5'001)}) {
    for (double const edge_factor : {0.0, 3.0, 108.0}) {
      graph const expected = generate_web({n, edge_factor, 11}, {});
      for (graph_form const form : test::compressed_forms) {
        SCOPED_TRACE(testing::Message() << n << " vertices, " << edge_factor << ", " << to_string(form));
        for (int const threads : {1, 3}) {
          cpu_exec exec;
          exec.num_threads = threads;
          graph const made = generate_web({n, edge_factor, 11, form}, {}, {}, exec);
          EXPECT_EQ(made.form(), form);
          EXPECT_EQ(made.arrays().metadata, expected.arrays().metadata);
          test::expect_same_lists(made.arrays().compressed, compress(expected, form).arrays().compressed);
        }
      }
    }
  }
}

TEST(web_graph, documented_example)
{
  graph const made = generate_web({.num_vertices = 100'000, .edge_factor = 10, .form = graph_form::runs}, {});
  EXPECT_LT(made.bits_per_edge(), 12);
}

TEST(web_graph, building_steps_and_attributes_come_before_the_form)
{
  web_params p{3'000, 9, 2};
  build_options build;
  build.symmetrize = true;
  edge_attributes extra;
  extra.has_weights = true;
  graph const expected = generate_web(p, build, extra);
  p.form = graph_form::runs;
  graph const made = generate_web(p, build, extra);
  test::expect_same_lists(made.arrays().compressed, compress(expected, p.form).arrays().compressed);
  EXPECT_EQ(test::to_vector(made.arrays().weights), test::to_vector(expected.arrays().weights));
}

TEST(web_graph, refuses_parameters_out_of_range)
{
  auto const refusal = [](web_params const& p, build_options const& build = {}, edge_attributes const& extra = {}) {
    return test::message_of<error>([&] { (void)generate_web(p, build, extra); });
  };
  EXPECT_EQ(refusal({0}), "generate_web: num_vertices is 0, expected 1 to 4294967295");
  EXPECT_EQ(refusal({4'294'967'296}), "generate_web: num_vertices is 4294967296, expected 1 to 4294967295");
  EXPECT_EQ(refusal({5, -1}), "generate_web: edge_factor is -1, expected 0 to 256");
  EXPECT_EQ(refusal({5, 256.5}), "generate_web: edge_factor is 256.5, expected 0 to 256");
  EXPECT_EQ(refusal({5, std::nan("")}), "generate_web: edge_factor is nan, expected 0 to 256");
  build_options build;
  build.num_vertices = 4;
  EXPECT_EQ(refusal({5, 1}, build), "generate_web: build.num_vertices is 4, expected -1 or 5 to 4294967295");
  edge_attributes extra;
  extra.num_labels = 65537;
  EXPECT_EQ(refusal({5, 1}, {}, extra), "generate_web: num_labels is 65537, expected 0 (no labels) to 65536");
  EXPECT_TRUE(refusal({4'294'967'295, 256}).starts_with("generate_web: building the graph: "));
}

}  // namespace
}  // namespace tendril
