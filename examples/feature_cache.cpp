// What a cache of features on a GPU would have of an epoch's batches: reads the graph that the first argument names, or
// generates one, samples mini-batches, and prints the share of hits of a cache of a tenth of the rows, by policy. It needs no
// GPU: the cache there does just what the bookkeeping here does.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <iterator>
#include <numeric>
#include <vector>

#include <tendril/feature_cache.hpp>
#include <tendril/generate.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/io.hpp>
#include <tendril/minibatch.hpp>

namespace {

using batch_rows = std::vector<tendril::vertex_id>;

tendril::graph read_or_generate(int argc, char** argv)
{
  if (argc > 1) { return tendril::read_graph(argv[1]); }
  tendril::powerlaw_params params;
  params.num_vertices = 10000;
  params.max_degree = 1000;
  params.min_degree = 4;
  params.seed = 1;
  return tendril::generate_powerlaw(params, {});
}

std::vector<batch_rows> sample_an_epoch(tendril::hetero_graph const& graph)
{
  std::vector<tendril::vertex_id> seeds(
      static_cast<std::size_t>(std::min<std::int64_t>(graph.num_vertices()[0], 2048)));
  std::iota(seeds.begin(), seeds.end(), tendril::vertex_id{0});
  tendril::minibatch_params params;
  params.num_neighbors = {10, 5};
  tendril::minibatch_sampler sampler(graph, params);
  std::vector<batch_rows> batches;
  for (tendril::minibatch const& batch : sampler.sample_batches(0, seeds, 64)) {
    batches.emplace_back(batch.vertices[0].node.begin(), batch.vertices[0].node.end());
  }
  return batches;
}

/// The share of the rows that a cache has, which is filled with `content` and knows `params.window` batches at a time.
double hit_rate(std::vector<batch_rows> const& batches, tendril::row_cache_params const& params,
                batch_rows const& content)
{
  tendril::row_cache cache(params);
  cache.fill(content);
  std::size_t seen = 0;
  std::int64_t hits = 0, rows = 0;
  for (std::size_t number = 0; number < batches.size(); ++number) {
    while (seen < std::min(batches.size(), number + static_cast<std::size_t>(params.window))) {
      cache.see(batches[seen++]);
    }
    tendril::cache_step const step = cache.serve();  // step.missed come from host memory, the others from the cache
    hits += step.num_hits();
    rows += std::ssize(step.sources);
  }
  return rows == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(rows);
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    tendril::hetero_graph const graph(read_or_generate(argc, argv));
    std::vector<batch_rows> const batches = sample_an_epoch(graph);
    tendril::row_cache_params params;
    params.num_rows = graph.num_vertices()[0];
    params.num_slots = params.num_rows / 10;

    std::cout << "lookahead " << hit_rate(batches, params, {}) << '\n';
    params.policy = tendril::cache_policy::lru;
    params.window = 1;
    std::cout << "lru       " << hit_rate(batches, params, {}) << '\n';
    params.policy = tendril::cache_policy::fixed;
    std::vector<double> const degrees = tendril::neighbor_counts(graph)[0];
    std::cout << "degree    " << hit_rate(batches, params, tendril::best_rows(degrees, params.num_slots)) << '\n';
    std::vector<double> const ranks = tendril::pageranks(graph)[0];
    std::cout << "pagerank  " << hit_rate(batches, params, tendril::best_rows(ranks, params.num_slots)) << '\n';
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
