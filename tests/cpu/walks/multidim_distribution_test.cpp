// Roots and neighbours of multi-dimensional walks are drawn as documented: short walks against brute force, long ones
// against the stationary distribution, a root of degree 2^20 against ranges. Each fit is shown to notice a wrong rule.

#include <gtest/gtest.h>

#include <tendril/multidim.hpp>

#include "cpu/walks/exact_walks.hpp"  // outcome, fits
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t many_sets = 80'000;

/// How a set of roots could be kept wrongly.
enum class planted { nothing, stale_degrees };

/// The probability of every sequence (slot, vertex, slot, vertex, …) of a sample, from the definition.
class exact_multidim {
 public:
  exact_multidim(graph const& graph, multidim_params const& params, planted bias = planted::nothing)
      : graph_(graph.csr()), params_(params), bias_(bias)
  {
  }

  [[nodiscard]] outcome_probabilities from(std::vector<vertex_id> const& roots) const
  {
    outcome_probabilities out;
    follow(roots, roots, {}, 1.0, out);
    return out;
  }

 private:
  void follow(std::vector<vertex_id> const& roots, std::vector<vertex_id> const& set, outcome const& done,
              double probability, outcome_probabilities& out) const
  {
    auto const full = static_cast<std::size_t>(2 * params_.length);
    std::vector<double> weights;
    double sum = 0;
    auto const& judged = bias_ == planted::stale_degrees ? roots : set;
    for (auto const v : judged) {
      weights.push_back(params_.choose == root_choice::uniform ? 1.0 : graph_.degree(v));
      sum += weights.back();
    }
    if (done.size() == full || sum == 0) {
      outcome ended = done;
      ended.resize(full, no_vertex);
      out[ended] += probability;
      return;
    }
    for (std::size_t slot = 0; slot < set.size(); ++slot) {
      double const chosen = probability * weights[slot] / sum;
      std::uint32_t const degree = graph_.degree(set[slot]);
      if (chosen > 0 && degree == 0) {
        outcome ended = done;
        ended.resize(full, no_vertex);
        out[ended] += chosen;
      }
      for (std::uint32_t i = 0; i < degree && chosen > 0; ++i) {
        auto next_set = set;
        next_set[slot] = graph_.neighbor(set[slot], i);
        outcome next = done;
        next.push_back(static_cast<vertex_id>(slot));
        next.push_back(next_set[slot]);
        follow(roots, next_set, next, chosen / degree, out);
      }
    }
  }

  csr_arrays graph_;
  multidim_params params_;
  planted bias_;
};

outcome_counts count_samples(graph const& g, multidim_params const& params, std::vector<vertex_id> const& roots)
{
  auto const m = static_cast<std::int64_t>(roots.size());
  std::vector<vertex_id> all;
  for (std::int64_t i = 0; i < many_sets; ++i) { all.insert(all.end(), roots.begin(), roots.end()); }
  multidim_walks const out = multidim_walk(g, all, m, params);
  outcome_counts counts;
  for (std::int64_t i = 0; i < many_sets; ++i) {
    outcome steps;
    for (std::int64_t t = 0; t < params.length; ++t) {
      steps.push_back(static_cast<vertex_id>(out.slots[i * params.length + t]));  // -1 becomes no_vertex
      steps.push_back(out.vertices[i * (m + params.length) + m + t]);
    }
    ++counts[steps];
  }
  return counts;
}

/// Degrees 4, 2, 3, 1, 1, 0; parallel edges from 2, a self loop at 4.
graph make_multidim_web()
{
  return make_graph(6, {{0, 1}, {0, 2}, {0, 3}, {0, 5}, {1, 0}, {1, 2}, {2, 0}, {2, 3}, {2, 3}, {3, 4}, {4, 4}});
}

TEST(MultidimDistribution, ShortWalksByBruteForce)
{
  graph const g = make_multidim_web();
  for (auto const choose : {root_choice::by_degree, root_choice::uniform}) {
    for (std::uint64_t const seed : {1U, 2U}) {
      for (auto const& roots : std::vector<std::vector<vertex_id>>{{0}, {0, 1}, {2, 5, 1}, {3, 3, 0}, {1, 2, 3, 4}}) {
        multidim_params const params{.length = 2, .choose = choose, .seed = seed};
        EXPECT_TRUE(fits(count_samples(g, params, roots), exact_multidim(g, params).from(roots), 0.08))
            << "roots " << ::testing::PrintToString(roots)
            << (choose == root_choice::uniform ? ", uniform" : ", by degree");
      }
    }
  }
}

TEST(MultidimDistribution, ThreeSteps)
{
  graph const g = make_multidim_web();
  for (auto const choose : {root_choice::by_degree, root_choice::uniform}) {
    multidim_params const params{.length = 3, .choose = choose, .seed = 3};
    EXPECT_TRUE(fits(count_samples(g, params, {0, 2}), exact_multidim(g, params).from({0, 2}), 0.15));
  }
}

TEST(MultidimDistribution, TheOtherChoiceOfRootsWouldBeNoticed)
{
  graph const g = make_multidim_web();
  for (auto const choose : {root_choice::by_degree, root_choice::uniform}) {
    multidim_params const right{.length = 2, .choose = choose};
    multidim_params const wrong{
        .length = 2, .choose = choose == root_choice::uniform ? root_choice::by_degree : root_choice::uniform};
    std::vector<vertex_id> const roots = {0, 1, 2};
    EXPECT_FALSE(fits(count_samples(g, right, roots), exact_multidim(g, wrong).from(roots), 0.08));
  }
}

TEST(MultidimDistribution, DegreesThatAreNotKeptUpToDateWouldBeNoticed)
{
  graph const g = make_graph(3, {{0, 1}, {0, 2}, {0, 0}, {1, 0}, {2, 0}, {2, 1}});
  multidim_params const params{.length = 2};
  EXPECT_TRUE(fits(count_samples(g, params, {0, 1}), exact_multidim(g, params).from({0, 1}), 0.08));
  EXPECT_FALSE(
      fits(count_samples(g, params, {0, 1}), exact_multidim(g, params, planted::stale_degrees).from({0, 1}), 0.08));
}

/// How often each edge (in CSR order) is step `length` of a sample with roots {0, 1, 2, 3}.
std::vector<std::int64_t> last_edges(graph const& g, multidim_params const& params)
{
  constexpr std::int64_t m = 4;
  std::vector<vertex_id> roots;
  for (std::int64_t i = 0; i < many_sets; ++i) { roots.insert(roots.end(), {0, 1, 2, 3}); }
  multidim_walks const out = multidim_walk(g, roots, m, params);
  csr_arrays const view = g.csr();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(g.num_edges()));
  for (std::int64_t i = 0; i < many_sets; ++i) {
    vertex_id const* const row = out.vertices.data() + i * (m + params.length);
    std::int32_t const* const slots = out.slots.data() + i * params.length;
    vertex_id from = row[slots[params.length - 1]];
    for (std::int64_t t = 0; t < params.length - 1; ++t) {
      if (slots[t] == slots[params.length - 1]) { from = row[m + t]; }
    }
    for (edge_id e = view.indptr[from]; e < view.indptr[from + std::int64_t{1}]; ++e) {
      if (view.indices[e] == row[m + params.length - 1]) { ++counts[static_cast<std::size_t>(e)]; }
    }
  }
  return counts;
}

TEST(MultidimDistribution, EveryEdgeIsSampledAlikeInTheLongRun)
{
  // Ribeiro and Towsley, theorem 5.2: on a connected graph that is not bipartite the edges that a frontier samples are
  // uniform. After one step they are not.
  std::vector<test_edge> edges;
  auto const join = [&](vertex_id u, vertex_id v) {
    edges.push_back({u, v});
    edges.push_back({v, u});
  };
  for (vertex_id v = 1; v < 12; ++v) { join(0, v); }
  for (vertex_id v = 1; v < 8; ++v) { join(v, v + 1); }
  graph const g = make_graph(12, edges);
  std::vector<double> const alike(edges.size(), 1.0);
  EXPECT_TRUE(drawn_from(last_edges(g, {.length = 150}), alike, 0.05));
  EXPECT_FALSE(drawn_from(last_edges(g, {.length = 1}), alike, 0.05));
}

class MultidimHub : public ::testing::Test {
 protected:
  static constexpr std::size_t degree = (std::size_t{1} << 20U) + 3;
  static constexpr std::size_t parts = 64;

  /// How often each of 64 ranges of the hub's neighbours is reached in one step, in numbers that keep `bits` bits.
  static std::vector<std::int64_t> reached(std::uint32_t bits)
  {
    graph const star = make_star(std::vector<float>(degree, 1));
    std::vector<vertex_id> const roots(static_cast<std::size_t>(2 * many_sets), 0);
    multidim_walks const out = multidim_walk(star, roots, 2, {.length = 1});
    std::vector<std::int64_t> counts(parts);
    for (std::int64_t i = 0; i < many_sets; ++i) {
      std::uint64_t const neighbor = (out.vertices[i * 3 + 2] - 1) & ((std::uint64_t{1} << bits) - 1);
      ++counts[neighbor * parts / degree];
    }
    return counts;
  }
};

TEST_F(MultidimHub, EveryNeighbourIsReachedAlike)
{
  EXPECT_TRUE(drawn_from(reached(32), std::vector<double>(parts, 1), 0.05));
}

TEST_F(MultidimHub, DrawsOfSixteenBitsWouldBeNoticed)
{
  EXPECT_FALSE(drawn_from(reached(16), std::vector<double>(parts, 1), 0.05));
}

TEST_F(MultidimHub, ARootWithOneEdgeBesideAHubIsChosenAsSeldomAsItsDegreeSays)
{
  // Vertex 0 leads to all, `leaf` to 0 alone. Uniformly the leaf is chosen half of the time.
  constexpr std::size_t size = std::size_t{1} << 17U;
  buffer<edge_id> indptr(static_cast<std::int64_t>(size) + 1);
  buffer<vertex_id> indices(static_cast<std::int64_t>(size));
  std::fill(indptr.begin(), indptr.end(), static_cast<edge_id>(size));
  indptr[0] = 0;
  indptr[1] = static_cast<edge_id>(size) - 1;
  for (std::size_t e = 0; e + 1 < size; ++e) { indices[static_cast<std::int64_t>(e)] = static_cast<vertex_id>(e + 1); }
  indices[static_cast<std::int64_t>(size) - 1] = 0;
  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  graph const g(std::move(arrays));
  constexpr std::int64_t n = 4 << 20;
  std::vector<vertex_id> roots(static_cast<std::size_t>(2 * n));
  for (std::size_t i = 0; i < roots.size(); i += 2) { roots[i] = 1; }
  auto const leaf_steps = [&](root_choice choose) {
    multidim_walks const out = multidim_walk(g, roots, 2, {.length = 1, .choose = choose});
    return std::count(out.slots.begin(), out.slots.end(), 0);
  };
  // Binomial with n = 2^22 and p = 2^-17.
  EXPECT_NEAR(static_cast<double>(leaf_steps(root_choice::by_degree)), 32, 5 * std::sqrt(32.0));
  EXPECT_NEAR(static_cast<double>(leaf_steps(root_choice::uniform)), n / 2.0, 5 * std::sqrt(n / 4.0));
}

}  // namespace
}  // namespace tendril::test
