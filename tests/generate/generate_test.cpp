// Generated graphs: the same for the same seed whatever the threads, other for another seed, and with the structure
// and distributions that each generator documents.

#include <cmath>
#include <numeric>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>

#include "build/build_verifier.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

edge_attributes everything()
{
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 300;
  extra.num_node_types = 4;
  return extra;
}

TEST(generate, does_not_depend_on_threads_but_on_the_seed)
{
  auto const make = [](int which, std::uint64_t seed, int threads) {
    cpu_exec exec;
    exec.num_threads = threads;
    build_options build;
    build.symmetrize = true;
    switch (which) {
      case 0:
        return generate_rmat({test::unless_sanitized(14, 12), 8, .57, .19, .19, true, seed}, build, everything(), exec);
      case 1: return generate_er({10'000, test::unless_sanitized(100'000, 40'000), seed}, build, everything(), exec);
      case 2:
        return generate_powerlaw({test::unless_sanitized(20'000, 8'000), 2.1, 1, 5000, seed}, build, everything(),
                                 exec);
      default: return generate_regular(regular_graph::grid, 9999, seed, everything(), exec);
    }
  };
  for (int which = 0; which < 4; ++which) {
    SCOPED_TRACE(which);
    auto const one = make(which, 7, 1);
    EXPECT_NO_THROW(one.validate());
    EXPECT_TRUE(one.arrays().symmetric);
    EXPECT_EQ(one.arrays().edge_labels.bytes_per_label(), 2);
    EXPECT_EQ(one.arrays().node_types.bytes_per_label(), 1);
    for (int const threads : {2, 5}) { test::expect_same_graph(one, make(which, 7, threads)); }
    auto const other = make(which, 8, 2);
    EXPECT_FALSE(std::equal(one.arrays().weights.begin(), one.arrays().weights.end(), other.arrays().weights.begin(),
                            other.arrays().weights.end()));
    if (which < 3) {
      EXPECT_FALSE(std::equal(one.arrays().indices.begin(), one.arrays().indices.end(), other.arrays().indices.begin(),
                              other.arrays().indices.end()));
    }
  }
}

/// Each bit pair of an R-MAT edge is one draw of four outcomes; the number of edges whose first pair is (0, 0), …
/// must be binomial. Checked level by level over the edge multiset, without scrambling.
TEST(generate, rmat_draws_each_level_with_its_probabilities)
{
  constexpr int scale = 13;
  auto const g = generate_rmat({scale, 16, .5, .2, .2, false, 3}, {});
  double const n = static_cast<double>(g.num_edges());
  ASSERT_EQ(g.num_edges(), 16 << scale);
  for (int level = 0; level < scale; ++level) {
    std::array<double, 4> counts{};
    for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
      for (auto e = g.arrays().indptr[v]; e < g.arrays().indptr[v + 1]; ++e) {
        counts[2 * static_cast<std::size_t>(v >> (scale - 1 - level) & 1) +
               (g.arrays().indices[e] >> (scale - 1 - level) & 1U)] += 1;
      }
    }
    std::array const expected{.5, .2, .2, .1};
    double chi = 0;
    for (std::size_t i = 0; i < 4; ++i) { chi += std::pow(counts[i] - n * expected[i], 2) / (n * expected[i]); }
    EXPECT_LT(chi, 25.0) << "level " << level;  // 3 degrees of freedom: beyond 25 in 1.5e-5 of all seeds
  }
}

TEST(generate, rmat_of_certain_quadrants_is_exact)
{
  auto const corner = generate_rmat({10, 1, 1, 0, 0, false, 3}, {});
  EXPECT_EQ(corner.csr().degree(0), 1024U);
  EXPECT_EQ(corner.csr().neighbor(0, 1023), 0U);
  auto const right = generate_rmat({10, 1, 0, 1, 0, false, 3}, {});
  EXPECT_EQ(right.csr().neighbor(0, 0), 1023U);
  auto const down = generate_rmat({10, 1, 0, 0, 1, false, 3}, {});
  EXPECT_EQ(down.csr().degree(1023), 1024U);
  auto const last = generate_rmat({10, 1, 0, 0, 0, false, 3}, {});
  EXPECT_EQ(last.csr().neighbor(1023, 5), 1023U);
}

TEST(generate, scrambling_renames_vertices_and_nothing_else)
{
  for (int const scale : {1, 2, 3, 9}) {
    auto const degrees = [&](bool scramble) {
      auto const g = generate_rmat({scale, 4, .57, .19, .19, scramble, 3}, {});
      std::vector<std::uint32_t> out;
      for (std::int64_t v = 0; v < g.num_vertices(); ++v) { out.push_back(g.csr().degree(static_cast<vertex_id>(v))); }
      std::sort(out.begin(), out.end());
      return out;
    };
    EXPECT_EQ(degrees(true), degrees(false)) << scale;
  }
}

TEST(generate, rmat_takes_a_fractional_edge_factor)
{
  EXPECT_EQ(generate_rmat({10, 1.5, .57, .19, .19, true, 3}, {}).num_edges(), 1536);
  EXPECT_EQ(generate_rmat({10, 0, .57, .19, .19, true, 3}, {}).num_edges(), 0);
}

TEST(generate, er_ends_are_uniform)
{
  auto const g = generate_er({100, 200'000, 5}, {});
  std::array<double, 100> in{}, out{};
  for (std::int64_t v = 0; v < 100; ++v) {
    out[static_cast<std::size_t>(v)] = g.csr().degree(static_cast<vertex_id>(v));
    for (std::uint32_t i = 0; i < g.csr().degree(static_cast<vertex_id>(v)); ++i) {
      in[g.csr().neighbor(static_cast<vertex_id>(v), i)] += 1;
    }
  }
  for (auto const& counts : {in, out}) {
    double chi = 0;
    for (double const c : counts) { chi += (c - 2000) * (c - 2000) / 2000; }
    EXPECT_LT(chi, 170.0);  // 99 degrees of freedom: mean 99, sigma 14
    EXPECT_GT(chi, 40.0);
  }
}

TEST(generate, powerlaw_degrees_follow_the_law)
{
  for (double const exponent : {0.5, 1.0, 2.1, 3.5}) {
    constexpr std::int64_t min = 3, max = 40, n = 40'000;
    auto const g = generate_powerlaw({n, exponent, min, max, 9}, {});
    EXPECT_EQ(g.csr().degree(0), max);
    std::array<double, max + 1> counts{}, expected{};
    for (std::int64_t v = 1; v < n; ++v) { counts.at(g.csr().degree(static_cast<vertex_id>(v))) += 1; }
    double sum = 0;
    for (std::int64_t d = min; d <= max; ++d) { sum += std::pow(static_cast<double>(d), -exponent); }
    double chi = 0, cells = 0, rest = 0, rest_expected = 0;
    for (std::int64_t d = min; d <= max; ++d) {
      auto const i = static_cast<std::size_t>(d);
      expected[i] = (n - 1) * std::pow(static_cast<double>(d), -exponent) / sum;
      if (expected[i] < 10) {
        rest += counts[i];
        rest_expected += expected[i];
        continue;
      }
      chi += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
      ++cells;
    }
    if (rest_expected > 5) { chi += (rest - rest_expected) * (rest - rest_expected) / rest_expected; }
    EXPECT_LT(chi, cells + 5 * std::sqrt(2 * cells)) << exponent;
    EXPECT_EQ(counts[0] + counts[1] + counts[2], 0);
  }
}

TEST(generate, powerlaw_targets_follow_out_degrees)
{
  auto const g = generate_powerlaw({1000, 1.5, 5, 20'000, 9}, {});
  std::vector<double> in(1000, 0);
  for (auto const target : g.arrays().indices) { in[target] += 1; }
  double chi = 0;
  for (std::size_t v = 0; v < in.size(); ++v) {
    double const expected = g.csr().degree(static_cast<vertex_id>(v));
    chi += (in[v] - expected) * (in[v] - expected) / expected;
  }
  EXPECT_LT(chi, 999 + 5 * std::sqrt(2 * 999.0));
}

TEST(generate, regular_graphs_have_their_edges_and_no_other)
{
  for (std::int64_t const n : {0, 1, 2, 3, 4, 7, 12, 36}) {
    for (auto const kind : {regular_graph::star, regular_graph::ring, regular_graph::grid, regular_graph::complete}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << " of " << n);
      auto const g = generate_regular(kind, n);
      g.validate();
      EXPECT_EQ(g.num_vertices(), n);
      EXPECT_TRUE(g.arrays().symmetric);
      std::int64_t rows = 1;
      for (std::int64_t r = 1; r * r <= n; ++r) { rows = n % r == 0 ? r : rows; }
      std::int64_t const columns = n / rows;
      std::vector<std::pair<std::int64_t, std::int64_t>> expected, actual;
      for (std::int64_t u = 0; u < n; ++u) {
        for (std::int64_t v = 0; v < n; ++v) {
          bool edge = u != v;
          if (kind == regular_graph::star) { edge = edge && (u == 0 || v == 0); }
          if (kind == regular_graph::ring) { edge = edge && ((u + 1) % n == v || (v + 1) % n == u); }
          if (kind == regular_graph::grid) {
            edge = std::abs(u / columns - v / columns) + std::abs(u % columns - v % columns) == 1;
          }
          if (edge) { expected.emplace_back(u, v); }
        }
        for (std::uint32_t i = 0; i < g.csr().degree(static_cast<vertex_id>(u)); ++i) {
          actual.emplace_back(u, g.csr().neighbor(static_cast<vertex_id>(u), i));
        }
      }
      EXPECT_EQ(actual, expected);
    }
  }
}

TEST(generate, weights_labels_and_types_are_in_range_and_uniform)
{
  edge_attributes extra;
  extra.has_weights = true;
  extra.weight_min = 2;
  extra.weight_max = 3;
  extra.num_labels = 5;
  extra.num_node_types = 3;
  auto const g = generate_er({5000, 50'000, 1}, {}, extra);
  double sum = 0;
  std::array<double, 5> labels{};
  std::array<double, 3> types{};
  for (std::int64_t e = 0; e < g.num_edges(); ++e) {
    EXPECT_TRUE(g.arrays().weights[e] >= 2 && g.arrays().weights[e] < 3);
    sum += g.arrays().weights[e];
    labels.at(g.arrays().edge_labels.view()[e]) += 1;
  }
  for (std::int64_t v = 0; v < g.num_vertices(); ++v) { types.at(g.arrays().node_types.view()[v]) += 1; }
  // The mean of m uniform numbers has sigma 1 / sqrt(12 m); a cell of m with probability p, sqrt(m p (1 - p)).
  EXPECT_NEAR(sum / 50'000, 2.5, 5 / std::sqrt(12 * 50'000.0));
  for (double const c : labels) { EXPECT_NEAR(c, 10'000, 5 * std::sqrt(50'000 * .2 * .8)); }
  for (double const c : types) { EXPECT_NEAR(c, 5000 / 3.0, 5 * std::sqrt(5000 / 3.0 * 2 / 3)); }
}

TEST(generate, lognormal_weights_have_the_moments_of_their_logarithm)
{
  edge_attributes extra;
  extra.weight_sigma = 3;
  auto const g = generate_er({100'000, 100'000, 1}, {}, extra);
  ASSERT_TRUE(g.has_weights());
  g.validate();
  double mean = 0, square = 0;
  auto const n = static_cast<double>(g.num_edges());
  for (float const w : g.arrays().weights) {
    mean += std::log(w) / n;
    square += std::log(w) * std::log(w) / n;
  }
  EXPECT_NEAR(mean, 0, 5 * 3 / std::sqrt(n));
  EXPECT_NEAR(square, 9, 5 * 9 * std::sqrt(2 / n));
}

TEST(generate, refuses_parameters_out_of_range)
{
  auto const rmat = [](rmat_params const& p, edge_attributes const& extra = {}) {
    return test::message_of<error>([&] { (void)generate_rmat(p, {}, extra); });
  };
  EXPECT_EQ(rmat({0, 16}), "generate_rmat: scale is 0, expected 1 to 31");
  EXPECT_EQ(rmat({32, 16}), "generate_rmat: scale is 32, expected 1 to 31");
  EXPECT_EQ(rmat({4, -1}), "generate_rmat: edge_factor is -1, expected 0 to 1048576");
  EXPECT_EQ(rmat({4, std::nan("")}), "generate_rmat: edge_factor is nan, expected 0 to 1048576");
  EXPECT_EQ(rmat({4, 1, .9, .1, .1}),
            "generate_rmat: a, b, c are 0.9, 0.1, 0.1, expected numbers >= 0 with a sum of at most 1");
  EXPECT_TRUE(rmat({31, 1e6}).starts_with("generate_rmat: building the graph: "));
  edge_attributes extra;
  extra.has_weights = true;
  extra.weight_min = extra.weight_max = 1;
  EXPECT_EQ(rmat({4, 1}, extra), "generate_rmat: weights from 1 to 1, expected 0 <= min < max");
  extra = {};
  extra.weight_sigma = 11;
  EXPECT_EQ(rmat({4, 1}, extra), "generate_rmat: weight_sigma is 11, expected 0 (uniform weights) to 10");
  extra = {};
  extra.num_labels = 65537;
  EXPECT_EQ(rmat({4, 1}, extra), "generate_rmat: num_labels is 65537, expected 0 (no labels) to 65536");
  extra = {};
  extra.num_node_types = -1;
  EXPECT_EQ(rmat({4, 1}, extra), "generate_rmat: num_node_types is -1, expected 0 (no types) to 65536");

  EXPECT_EQ(test::message_of<error>([] {
              (void)generate_er({0, 5}, {});
            }),
            "generate_er: 5 edges, expected none without vertices");
  EXPECT_EQ(test::message_of<error>([] {
              (void)generate_er({-1, 0}, {});
            }),
            "generate_er: num_vertices is -1, expected 0 to "
            "4294967295");
  EXPECT_EQ(test::message_of<error>([] {
              (void)generate_er({5, -5}, {});
            }),
            "generate_er: num_edges is -5, expected 0 or more");
  auto const law = [](powerlaw_params const& p) {
    return test::message_of<error>([&] { (void)generate_powerlaw(p, {}); });
  };
  EXPECT_EQ(law({0}), "generate_powerlaw: num_vertices is 0, expected 1 to 4294967295");
  EXPECT_EQ(law({5, 0}), "generate_powerlaw: exponent is 0, expected above 0 and at most 20");
  EXPECT_EQ(law({5, 2, 0}), "generate_powerlaw: min_degree is 0, expected 1 or more");
  EXPECT_EQ(law({5, 2, 9, 8}), "generate_powerlaw: max_degree is 8, expected min_degree, 9, to 4294967295");
  EXPECT_TRUE(test::message_of<error>([] {
                (void)generate_regular(regular_graph::complete, 4'000'000'000);
              }).starts_with("generate_regular: building the graph: "));
}

}  // namespace
}  // namespace tendril
