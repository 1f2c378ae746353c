// Mini-batches and features of a graph in three parts, on ranks that ask each other at any time. The ranks are threads here that
// talk over TCP; processes on several machines do it alike.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <tendril/generate.hpp>
#include <tendril/partition.hpp>
#include <tendril/rank_service.hpp>
#include <tendril/sharded_features.hpp>
#include <tendril/sharded_minibatch.hpp>
#include <tendril/tcp.hpp>

int main()
{
  constexpr int num_ranks = 3;
  tendril::graph const whole = tendril::generate_regular(tendril::regular_graph::ring, 1000, 2);
  tendril::minibatch_params const params{.num_neighbors = {3, 2}};
  std::vector<std::int64_t> degrees(1000, 2);  // a feature: 8 bytes a vertex
  tendril::feature_table const table(std::as_bytes(std::span(degrees)), {"int64", {1000}});

  std::vector<tendril::tcp_listener> listeners;
  std::vector<std::string> addresses;  // which a launcher would exchange
  for (int r = 0; r < num_ranks; ++r) { addresses.push_back(listeners.emplace_back("127.0.0.1").address()); }
  std::atomic<int> equal{0};
  auto const work = [&](int rank) {
    using namespace std::chrono_literals;
    tendril::rank_service ranks(listeners[static_cast<std::size_t>(rank)].connect(rank, addresses, "a job", 20s));
    tendril::graph_part const part = tendril::part_of(whole, {.num_parts = num_ranks}, rank);
    tendril::sharded_minibatch_sampler sampler(part, params, ranks);
    tendril::sharded_features features(tendril::rows_of_part(table, part), part.info.bounds, ranks);
    for (int b = 0; b <= rank; ++b) {  // unequally many: a rank that has ended goes on answering
      std::vector<tendril::vertex_id> const seeds{0, 333, 666, 999};
      auto const number = static_cast<std::uint64_t>(b);
      tendril::minibatch const made = sampler.sample(seeds, number);
      tendril::minibatch const expected = tendril::neighbor_sample(whole, seeds, params, {}, number);
      auto const& node = made.vertices[0].node;
      std::vector<std::int64_t> const ids(node.begin(), node.end());
      std::vector<std::int64_t> rows(ids.size());
      features.gather(ids, std::as_writable_bytes(std::span(rows)));
      bool const same =
          std::equal(node.begin(), node.end(), expected.vertices[0].node.begin(), expected.vertices[0].node.end());
      equal += same && rows == std::vector<std::int64_t>(rows.size(), 2) ? 1 : 0;
    }
  };
  std::vector<std::thread> threads;
  for (int r = 0; r < num_ranks; ++r) { threads.emplace_back(work, r); }
  for (std::thread& t : threads) { t.join(); }
  std::printf("%d of 6 batches are those of the whole graph\n", equal.load());
  return equal == 6 ? 0 : 1;
}
