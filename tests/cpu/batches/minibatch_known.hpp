#pragma once

// Batches whose digests are known: what CPUs make (minibatch_known_test.cpp) and what GPUs make
// (../gpu/minibatch_known_gpu_test.cpp) are held to the same constants. No library's random numbers take part.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tendril/minibatch.hpp>

#include "cpu/batches/minibatch_verifier.hpp"  // batch_lists
#include "support/small_graphs.hpp"

namespace tendril::test {

/// FNV-1a of 64-bit words.
class digest {
 public:
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001B3ULL; }
  void add_all(std::vector<std::int64_t> const& list)
  {
    add(list.size());
    for (auto const x : list) { add(static_cast<std::uint64_t>(x)); }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325ULL;
};

/// Knuth's linear congruential generator (MMIX), upper bits.
class known_numbers {
 public:
  [[nodiscard]] std::uint64_t below(std::uint64_t n)
  {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33U) % n;
  }

 private:
  std::uint64_t state_ = 1;
};

/// 300 vertices of 0 to 40 edges, and one of 5,000; weights are small integers, some 0.
inline graph known_graph()
{
  known_numbers numbers;
  std::vector<test_edge> edges;
  for (vertex_id v = 0; v < 300; ++v) {
    for (std::uint64_t k = v == 7 ? 5000 : v % 9 == 0 ? 0 : numbers.below(41); k > 0; --k) {
      auto const to = static_cast<vertex_id>(numbers.below(300));
      edges.push_back({v, to, static_cast<float>(numbers.below(6))});
    }
  }
  return make_graph(300, edges);
}

/// Types of 300 and 50 vertices. Of the first to itself the known graph, with times; from the first to the second with
/// times, and back without.
inline hetero_graph known_hetero_graph()
{
  known_numbers numbers;
  auto const between = [&](vertex_id from, std::uint64_t to) {
    std::vector<test_edge> edges;
    for (vertex_id v = 0; v < from; ++v) {
      for (std::uint64_t k = numbers.below(9); k > 0; --k) {
        edges.push_back({v, static_cast<vertex_id>(numbers.below(to)), 1.0F});
      }
    }
    return make_graph(300, edges);
  };
  std::vector<edge_type> types;
  types.push_back({0, 0, known_graph(), {}});
  types.push_back({0, 1, between(300, 50), {}});
  types.push_back({1, 0, between(50, 300), {}});
  for (std::size_t const t : {0U, 1U}) {
    std::vector<std::int64_t> times(static_cast<std::size_t>(types[t].edges.num_edges()));
    for (auto& time : times) { time = static_cast<std::int64_t>(numbers.below(20)) - 5; }
    types[t].order = order_by_time(types[t].edges, times);
  }
  return {{300, 50}, std::move(types)};
}

/// An epoch of batches of 32 seeds: every vertex of type 0 once, in an order of its own.
struct known_epoch {
  std::string name;
  hetero_graph graph;
  minibatch_params params;
  std::uint64_t digest = 0;  ///< Of every list of every batch, in order.

  static constexpr std::int64_t batch_size = 32;
  static constexpr std::uint64_t first_batch = 10;  // as a second epoch's

  [[nodiscard]] static std::vector<vertex_id> seeds()
  {
    std::vector<vertex_id> out;
    for (vertex_id i = 0; i < 300; ++i) { out.push_back((i * 77 + 5) % 300); }  // 77 and 300 share no factor
    return out;
  }
  /// Of each seed, where the graph has times.
  [[nodiscard]] std::vector<std::int64_t> times() const
  {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; graph.has_times() && i < 300; ++i) { out.push_back(i % 17 - 3); }
    return out;
  }
  /// Seeds and times of batch i.
  [[nodiscard]] static batch_seeds cut(std::vector<vertex_id> const& seeds, std::vector<std::int64_t> const& times,
                                       std::size_t i, std::size_t num_types)
  {
    auto const part = [&]<class T>(std::vector<T> const& all) {
      auto const size = static_cast<std::size_t>(batch_size);
      return std::span<T const>(all).subspan(i * size, std::min(size, all.size() - i * size));
    };
    batch_seeds out;
    out.vertices.resize(num_types);
    out.vertices[0] = part(seeds);
    if (!times.empty()) {
      out.times.resize(num_types);
      out.times[0] = part(times);
    }
    return out;
  }
  [[nodiscard]] static std::size_t num_batches() { return 10; }
};

inline std::vector<known_epoch> known_epochs()
{
  std::vector<known_epoch> out;
  out.push_back({"uniform", hetero_graph(known_graph()), {.num_neighbors = {5, 3}, .seed = 7}, 0x5ACED6FDFC9D9040ULL});
  out.push_back({"weighted, all are expanded",
                 hetero_graph(known_graph()),
                 {.num_neighbors = {4, 3}, .weighted = true, .frontier = batch_frontier::all, .seed = 8},
                 0xB7C7E6BD0D716682ULL});
  out.push_back({"several types with times",
                 known_hetero_graph(),
                 {.num_neighbors = {4, 2}, .disjoint = true, .seed = 9},
                 0xBE7EC320F7191E89ULL});
  return out;
}

/// Prints a digest, for readers to compare runs on machines of theirs.
inline void say(known_epoch const& epoch, std::string const& how, std::uint64_t digest)
{
  fmt::print("{:016x} {}: {}\n", digest, epoch.name, how);
}

inline std::uint64_t digest_of(std::vector<batch_lists> const& batches)
{
  digest all;
  for (auto const& batch : batches) {
    for (auto const& v : batch.vertices) {
      for (auto const* list : {&v.node, &v.batch, &v.num_sampled}) { all.add_all(*list); }
    }
    for (auto const& e : batch.edges) {
      for (auto const* list :
           {&e.row, &e.col, &e.edge, &e.indptr, &e.first_expanded, &e.num_expanded, &e.num_sampled}) {
        all.add_all(*list);
      }
    }
  }
  return all.value();
}

/// The digest of batches in every way there was in the first release that made them.
/// @param make  Gives the batch_lists of these seeds of the known graph, with these parameters and this number.
template <class Make>
std::uint64_t digest_of_first_batches(Make const& make)
{
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
      batch_lists const out = make(seeds, params, static_cast<std::uint64_t>(bits) * 77);
      auto const& edges = out.edges.at(0);
      auto const& vertices = out.vertices.at(0);
      for (auto const* list : {&edges.row, &edges.col, &vertices.node, &edges.edge, &vertices.batch,
                               &vertices.num_sampled, &edges.num_sampled}) {
        all.add_all(*list);
      }
    }
  }
  return all.value();
}

constexpr std::uint64_t first_batches_digest = 11704656049933273908U;

}  // namespace tendril::test
