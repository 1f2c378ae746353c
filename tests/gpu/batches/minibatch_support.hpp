#pragma once

// Mini-batches of a GPU next to the CPU's.

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tendril/minibatch.hpp>

#include "cpu/batches/minibatch_verifier.hpp"
#include "samplers/batches/checks.hpp"  // hops_of
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {

/// Seeds in a GPU's memory.
class gpu_seeds {
 public:
  gpu_seeds(batch_seeds const& from, gpu_exec const& exec)
  {
    for (auto const& list : from.vertices) {
      vertices_.push_back(on_gpu(list, exec));
      spans_.vertices.push_back(vertices_.back().span());
    }
    for (auto const& list : from.times) {
      times_.push_back(on_gpu(list, exec));
      spans_.times.push_back(times_.back().span());
    }
  }
  [[nodiscard]] batch_seeds const& spans() const { return spans_; }

 private:
  std::vector<buffer<vertex_id>> vertices_;
  std::vector<buffer<std::int64_t>> times_;
  batch_seeds spans_;
};

/// Copies of a batch's arrays, wherever they lie.
inline batch_lists copied_lists(minibatch const& from)
{
  auto const list = []<class T>(shared_array<T> const& array) {
    std::vector<std::int64_t> out;
    for (T const value : copied(array)) { out.push_back(whole(value)); }
    return out;
  };
  return lists_of(from, list);
}

inline std::vector<batch_lists> copied_lists(std::vector<minibatch> const& from)
{
  std::vector<batch_lists> out;
  for (auto const& batch : from) { out.push_back(copied_lists(batch)); }
  return out;
}

/// What is wrong with the first batch that differs; nothing if none does.
inline std::string difference(std::vector<batch_lists> const& expected, std::vector<batch_lists> const& got)
{
  if (expected.size() != got.size()) { return fmt::format("{} batches, not {}", got.size(), expected.size()); }
  for (std::size_t i = 0; i < got.size(); ++i) {
    std::string const wrong = difference(expected[i], got[i]);
    if (!wrong.empty()) { return fmt::format("batch {}: {}", i, wrong); }
  }
  return "";
}

/// Fan-outs of all hops and types.
inline std::vector<std::int64_t> fanouts_of(minibatch_params const& params)
{
  std::vector<std::int64_t> out;
  for (auto const& list : params.num_neighbors_of_type) { out.insert(out.end(), list.begin(), list.end()); }
  return out.empty() ? params.num_neighbors : out;
}

/// The executors that make batches of such a graph with such parameters: sizes that have to be waited for can't be captured,
/// a task of the queue and the one launch of a batch make no more picks than lanes can, and that launch has 10 jobs at most.
inline std::vector<minibatch_executor> executors_of(hetero_graph const& graph, minibatch_params const& params)
{
  std::vector<minibatch_executor> out{minibatch_executor::automatic, minibatch_executor::hops};
  auto const fanouts = fanouts_of(params);
  auto const are_all = [&](std::int64_t most) {
    return std::all_of(fanouts.begin(), fanouts.end(), [&](std::int64_t k) { return k >= 0 && k <= most; });
  };
  if (are_all(4096)) { out.push_back(minibatch_executor::graph); }
  bool const races = params.weighted && !params.replace;
  if (params.choice == neighbor_choice::labor) { return out; }
  std::size_t const jobs = graph.edge_types().size() * static_cast<std::size_t>(samplers::hops_of(params));
  if (!races && are_all(64) && params.subgraph == subgraph_type::directional && jobs >= 1 && jobs <= 10) {
    out.push_back(minibatch_executor::fused);
  }
  if (params.frontier == batch_frontier::all && are_all(races ? 32 : 64)) {
    out.push_back(minibatch_executor::persistent);
  }
  return out;
}

class minibatch_gpu_test : public gpu_test {
 protected:
  /// Compares batches 3, made by every executor, with the CPU's.
  void compare(hetero_graph const& host, hetero_graph const& there, minibatch_params const& params,
               batch_seeds const& seeds)
  {
    SCOPED_TRACE(name_of(params) + (seeds.times.empty() ? "" : " timed seeds"));
    gpu_seeds const own(seeds, exec);
    minibatch_sampler cpu(host, params, {.num_threads = 1});
    batch_lists const expected = copied_lists(cpu.sample(seeds, 3));
    for (auto const executor : executors_of(host, params)) {
      minibatch_sampler gpu(there, params, exec, executor);
      EXPECT_EQ(difference(expected, copied_lists(gpu.sample(own.spans(), 3))), "")
          << "executor " << static_cast<int>(executor);
    }
  }

  /// Compares batches made together, those made alone, and the CPU's.
  void compare_many(hetero_graph const& host, hetero_graph const& there, minibatch_params const& params,
                    std::int32_t type, std::vector<vertex_id> const& seeds, std::int64_t batch_size,
                    std::vector<std::int64_t> const& times = {}, batch_numbers numbers = {.first = 0xffffffffffULL})
  {
    SCOPED_TRACE(testing::Message() << name_of(params) << ", " << seeds.size() << " seeds of type " << type << " by "
                                    << batch_size << ", numbers from " << numbers.first << " by " << numbers.step);
    auto const own = on_gpu(seeds, exec);
    auto const own_times = on_gpu(times, exec);
    minibatch_sampler cpu(host, params, {.num_threads = 1});
    auto const expected = copied_lists(cpu.sample_batches(type, seeds, batch_size, numbers, times));
    for (auto const executor : executors_of(host, params)) {
      if (executor == minibatch_executor::hops || executor == minibatch_executor::graph) { continue; }  // as automatic
      minibatch_sampler gpu(there, params, exec, executor);
      auto const got = gpu.sample_batches(type, own.span(), batch_size, numbers, own_times.span());
      EXPECT_EQ(difference(expected, copied_lists(got)), "") << "executor " << static_cast<int>(executor);
    }
  }
};

}  // namespace tendril::test
