// The share of reads that a placement says it keeps on the GPU is what other samples of the same job read there.
//
// The placement is chosen by the counts of one set of samples and told by them as well. A list that these samples read by
// chance looks hot, so a naive estimate promises too much: by 5 to 8 % of all reads on the graphs here. The reads that the
// share is compared with are counted one by one from samples of another seed.

#include <tendril/place.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

#include "place/placement.hpp"

namespace tendril {
namespace {

constexpr int scale = 15;
constexpr std::uint64_t other_seed = 12345;

graph rmat()
{
  build_options build;
  build.symmetrize = true;
  return compress(generate_rmat({.scale = scale}, build), graph_form::packed);
}
graph web() { return compress(generate_web({.num_vertices = 1 << scale, .edge_factor = 20}, {}), graph_form::packed); }

/// Reads of lists, in sectors of 32 bytes: one for each pick, at most the whole list.
class plain_reads {
 public:
  explicit plain_reads(graph const& g)
      : g_(g.view()),
        bytes_an_edge_(4.0 * static_cast<double>(g.arrays().compressed.words.size()) /
                       static_cast<double>(g.num_edges())),
        counts_(static_cast<std::size_t>(g.num_vertices()))
  {
  }
  void add(vertex_id v, double picks)
  {
    if (v != no_vertex) {
      counts_[v] += static_cast<float>(std::min(picks, std::ceil(bytes_an_edge_ * g_.degree(v) / 32)));
    }
  }
  [[nodiscard]] std::vector<float> const& counts() const { return counts_; }

 private:
  graph_view g_;
  double bytes_an_edge_;
  std::vector<float> counts_;
};

std::vector<float> reads_of(graph const& g, walk_params job)
{
  job.seed = other_seed;
  plain_reads reads(g);
  auto const starts = random_vertices(g.num_vertices(), 10'000, other_seed);
  auto const made = random_walk(g, starts.span(), job);
  for (std::int64_t w = 0; w < made.num_walks; ++w) {
    for (int step = 0; step < made.lengths[w]; ++step) { reads.add(made.vertices[w * (job.length + 1) + step], 1); }
  }
  return reads.counts();
}

std::vector<float> reads_of(graph const& g, khop_params job)
{
  job.seed = other_seed;
  plain_reads reads(g);
  auto const roots = random_vertices(g.num_vertices(), 20'000, other_seed);
  auto const trees = khop_sample(g, roots.span(), job);
  for (vertex_id const v : roots) { reads.add(v, static_cast<double>(job.fanouts[0])); }
  for (vertex_id const v : trees.hops[0].vertices) { reads.add(v, static_cast<double>(job.fanouts[1])); }
  return reads.counts();
}

std::vector<float> reads_of(graph const& g, minibatch_params job)
{
  job.seed = other_seed;
  plain_reads reads(g);
  auto const seeds = random_vertices(g.num_vertices(), 20 * place_params{}.batch_size, other_seed);
  minibatch_sampler sampler(hetero_graph(g), job);
  for (auto const& batch : sampler.sample_batches(0, seeds.span(), place_params{}.batch_size)) {
    auto const& vertices = batch.vertices[0];
    std::int64_t at = 0;
    for (std::size_t hop = 0; hop < job.num_neighbors.size(); ++hop) {
      for (std::int64_t const end = at + vertices.num_sampled[hop]; at < end; ++at) {
        reads.add(vertices.node[at], static_cast<double>(job.num_neighbors[hop]));
      }
    }
  }
  return reads.counts();
}

/// @param most_wrong  Of the estimate. The counted share is exact to less than a thousandth: it is of 0.5 M reads or more.
template <class Job>
void expect_honest(graph const& g, Job const& job, double most_wrong)
{
  auto const& lists = g.arrays().compressed;
  auto const starts = place::block_starts(lists, {});
  auto const expected = count_visits(g, {.job = job});
  auto const counted = reads_of(g, job);
  for (double const share : {0.1, 0.25, 0.5, 0.75}) {
    auto const bytes = static_cast<std::int64_t>(share * static_cast<double>(starts[starts.size() - 1]));
    auto const plan = place::plan_placement(lists, starts.span(), expected.span(), {}, bytes, {});
    double const said = place::share_on_gpu(lists, plan, expected.span(), {});
    double const read = place::share_on_gpu(lists, plan, counted, {});
    EXPECT_NEAR(said, read, most_wrong) << share;
    EXPECT_GT(read, share) << "lists that are read more than others are kept";
  }
}

TEST(VisitsShare, OfWalks)
{
  expect_honest(rmat(), walk_params{}, 0.015);
  expect_honest(web(), walk_params{}, 0.03);
}

TEST(VisitsShare, OfTrees)
{
  expect_honest(rmat(), khop_params{}, 0.015);
  expect_honest(web(), khop_params{}, 0.03);
}

TEST(VisitsShare, OfMinibatches)
{
  expect_honest(rmat(), minibatch_params{.num_neighbors = {15, 10, 5}}, 0.015);
  expect_honest(web(), minibatch_params{.num_neighbors = {15, 10, 5}}, 0.03);
}

}  // namespace
}  // namespace tendril
