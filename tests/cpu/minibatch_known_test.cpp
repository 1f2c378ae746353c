// Mini-batches of one type and without times are those of the first release that made them: a digest of many.

#include <gtest/gtest.h>

#include "cpu/plain_batch.hpp"
#include "cpu/small_graphs.hpp"

namespace tendril::test {
namespace {

/// FNV-1a of 64-bit words.
class digest {
 public:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001B3ULL; }
  template <class List>
  void add_all(List const& list)
  {
    add(static_cast<std::uint64_t>(list.size()));
    for (auto const x : list) { add(static_cast<std::uint64_t>(x)); }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325ULL;
};

/// 300 vertices of 0 to 40 edges, and one of 5,000; weights are small integers, some 0. No library's random numbers.
graph known_graph()
{
  std::uint64_t state = 1;
  auto const below = [&](std::uint64_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33U) % n;
  };
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 300; ++v) {
    for (std::uint64_t k = v == 7 ? 5000 : v % 9 == 0 ? 0 : below(41); k > 0; --k) {
      edges.push_back({v, static_cast<vertex_id>(below(300)), static_cast<float>(below(6))});
    }
  }
  return make_graph(300, edges);
}

TEST(MinibatchKnown, BatchesStayWhatTheyWere)
{
  graph const g = known_graph();
  std::vector<vertex_id> const seeds = {7, 0, 299, 7, 9, 100, 42, 41};
  digest all;
  for (std::vector<std::int64_t> const& fanouts :
       {std::vector<std::int64_t>{3, 2, 2}, {-1}, {4, -1}, {40, 1}, {600}, {20, 0, 2}}) {
    for (int bits = 0; bits < 24; ++bits) {
      minibatch_params params{.num_neighbors = fanouts,
                              .replace = (bits & 1) != 0,
                              .weighted = (bits & 2) != 0,
                              .disjoint = (bits & 4) != 0};
      params.subgraph = static_cast<subgraph_type>(bits / 8);
      params.seed = static_cast<std::uint64_t>(bits) << 30U;
      plain_batch const out = sampled_batch(g, seeds, params, {}, static_cast<std::uint64_t>(bits) * 77);
      all.add_all(out.row);
      all.add_all(out.col);
      all.add_all(out.node);
      all.add_all(out.edge);
      all.add_all(out.batch);
      all.add_all(out.num_sampled_nodes);
      all.add_all(out.num_sampled_edges);
    }
  }
  EXPECT_EQ(all.value(), 11704656049933273908U);
}

}  // namespace
}  // namespace tendril::test
