// The vertices that a hop of HGSampling draws have the published probabilities: squares of normalised budgets, one draw
// after another without replacement.

#include <gtest/gtest.h>

#include <tendril/hgt.hpp>

#include "support/small_hetero.hpp"
#include "support/statistics.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t num_batches = 100'000;
constexpr double effect = 0.05;

/// Five papers; papers 0 and 1 are the seeds. Authors of paper 0: 0 and 1; of paper 1: 1, 2, 3 and 3 again. Paper 0 cites
/// author-less paper 2, and paper 1 cites papers 2, 3 and 4. So authors have the budgets 1/2, 1/2 + 1/4, 1/4, 2/4.
hetero_graph papers()
{
  graph const authors = make_graph(5, {{0, 0}, {0, 1}, {1, 1}, {1, 2}, {1, 3}, {1, 3}}, {.weights = false});
  graph const cites = make_graph(5, {{0, 2}, {1, 2}, {1, 3}, {1, 4}}, {.weights = false});
  return {{5, 4}, {{0, 1, authors, {}}, {0, 0, cites, {}}}};
}

std::vector<double> const author_budget = {0.5, 0.75, 0.25, 0.5};

/// Calls visit(batch) for batches of the seeds 0 and 1.
template <class Visit>
void for_each_batch(hetero_graph const& graph, hgt_params const& params, Visit visit)
{
  constexpr std::int64_t together = 2'000;
  std::vector<vertex_id> seeds;
  for (std::int64_t b = 0; b < together; ++b) { seeds.insert(seeds.end(), {0, 1}); }
  for (std::int64_t first = 0; first < num_batches; first += together) {
    for (minibatch const& batch : hgt_sample_batches(graph, 0, seeds, 2, params, cpu_exec{.num_threads = 1},
                                                     {.first = static_cast<std::uint64_t>(first)})) {
      visit(batch);
    }
  }
}

/// How often each author is the one that is drawn.
std::vector<std::int64_t> drawn_authors(hgt_params const& params)
{
  std::vector<std::int64_t> counts(4, 0);
  for_each_batch(papers(), params, [&](minibatch const& batch) { ++counts[batch.vertices[1].node[0]]; });
  return counts;
}

TEST(HgtDistribution, OneDrawFollowsTheSquaredBudgets)
{
  auto const counts = drawn_authors({{{0}, {1}}, 7});
  std::vector<double> squares;
  for (double const b : author_budget) { squares.push_back(b * b); }
  expect_distribution(counts, squares, effect);
  EXPECT_FALSE(drawn_from(counts, author_budget, effect)) << "budgets that aren't squared must not pass";
}

TEST(HgtDistribution, SeveralDrawsAreMadeOneAfterAnother)
{
  std::vector<std::int64_t> counts(16, 0);
  for_each_batch(papers(), {{{0}, {2}}, 8},
                 [&](minibatch const& batch) { ++counts[batch.vertices[1].node[0] * 4 + batch.vertices[1].node[1]]; });
  std::vector<double> expected(16, 0);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      double rest = 0;
      for (std::size_t c = 0; c < 4; ++c) { rest += c == a ? 0 : author_budget[c] * author_budget[c]; }
      if (a != b) {
        expected[a * 4 + b] = author_budget[a] * author_budget[a] * author_budget[b] * author_budget[b] / rest;
      }
    }
  }
  expect_distribution(counts, expected, effect);
}

/// A paper that joins in the first hop changes the budgets of the second, and what is left of the first stays.
TEST(HgtDistribution, BudgetsGrowFromHopToHop)
{
  // Authors of paper 2: 0 and 2. Hop 1 draws one of the papers 2, 3, 4 by (1 + 1/3)^2, (1/3)^2, (1/3)^2 and no author.
  graph const authors = make_graph(5, {{0, 0}, {0, 1}, {1, 1}, {1, 2}, {1, 3}, {1, 3}, {2, 0}, {2, 2}});
  graph const cites = make_graph(5, {{0, 2}, {1, 2}, {1, 3}, {1, 4}});
  hetero_graph const graph({5, 4}, {{0, 1, authors, {}}, {0, 0, cites, {}}});
  std::vector<std::int64_t> paper(5, 0), author(4, 0);
  for_each_batch(graph, {{{1, 0}, {0, 1}}, 9}, [&](minibatch const& batch) {
    ++paper[batch.vertices[0].node[2]];
    if (batch.vertices[0].node[2] == 2) { ++author[batch.vertices[1].node[0]]; }
  });
  expect_distribution(paper, {0, 0, 16, 1, 1}, effect);
  expect_distribution(author, {1, 0.5625, 0.5625, 0.25}, effect);  // budgets 1/2 + 1/2, 3/4, 1/4 + 1/2, 2/4
}

/// Hops draw anew: the vertices that a hop drew tell nothing about those of another batch or hop.
TEST(HgtDistribution, BatchesAreIndependent)
{
  std::vector<std::int64_t> counts(16, 0);
  vertex_id last = no_vertex;
  for_each_batch(papers(), {{{0}, {1}}, 10}, [&](minibatch const& batch) {
    vertex_id const author = batch.vertices[1].node[0];
    if (last != no_vertex) { ++counts[last * 4 + author]; }
    last = last == no_vertex ? author : no_vertex;  // pairs that don't overlap
  });
  std::vector<double> expected;
  for (double const a : author_budget) {
    for (double const b : author_budget) { expected.push_back(a * a * b * b); }
  }
  expect_distribution(counts, expected, 0.06);
}

}  // namespace
}  // namespace tendril::test
