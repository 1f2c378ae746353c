// Picks for mini-batches on the GPU are the CPU's on the documented draws, slot by slot: for every rule but races, degrees
// from 0 to a million, all kinds of fan-out, vertices of several batches and trees, edges with times and without, and
// fewer vertices than the bound.

#include "gpu/batches/minibatch_picks_support.hpp"
#include "gpu/tables/tables.hpp"
#include "support/gpu_copies.hpp"

namespace tendril::test {
namespace {

class MinibatchPicksOnGpu : public picks_test {};

TEST_F(MinibatchPicksOnGpu, UniformIsTheCpus)
{
  graph const g = make_lists(all_degrees());
  auto const there = all_forms_on_gpu(g, exec);
  order const times(g);
  for (std::uint32_t const k : all_fanouts) {
    frontier const f = make_frontier(g, 4, 7, k % 2 == 0 ? 0 : 1000);
    for (order const* const o : {static_cast<order const*>(nullptr), &times}) {
      SCOPED_TRACE(o == nullptr ? "without times" : "with times");
      compare(g, there, o, f, k, pick_choice::uniform,
              {{"uniform", [&](gpu::expansion const& what) { gpu::pick_uniform(what, false, exec); }}});
      compare(g, there, o, f, k, pick_choice::uniform_replace,
              {{"uniform, replace", [&](gpu::expansion const& what) { gpu::pick_uniform(what, true, exec); }}});
      compare(g, there, o, f, k, pick_choice::last,
              {{"last", [&](gpu::expansion const& what) { gpu::pick_last(what, exec); }}});
    }
  }
}

// Tables in shared memory up to 4,096 picks, and beyond.
TEST_F(MinibatchPicksOnGpu, UniformOfLargeFanoutsIsTheCpus)
{
  graph const g = make_lists(all_degrees());
  auto const there = all_forms_on_gpu(g, exec);
  order const times(g);
  for (std::uint32_t const k : {4095U, 4096U, 4097U, 5000U, 70'000U}) {
    frontier const f = make_frontier(g, 1, 3, 5);
    for (order const* const o : {static_cast<order const*>(nullptr), &times}) {
      compare(g, there, o, f, k, pick_choice::uniform,
              {{"uniform", [&](gpu::expansion const& what) { gpu::pick_uniform(what, false, exec); }}});
      compare(g, there, o, f, k, pick_choice::last,
              {{"last", [&](gpu::expansion const& what) { gpu::pick_last(what, exec); }}});
    }
  }
}

// Repeats among candidates, and chains of them: the fan-out is just below the degree.
TEST_F(MinibatchPicksOnGpu, UniformIsTheCpusWhereCandidatesMeet)
{
  graph const g = make_lists(few_degrees);
  auto const there = all_forms_on_gpu(g, exec);
  for (std::uint32_t k = 1; k <= 132; ++k) {
    compare(g, there, nullptr, make_frontier(g, 10, 40, 0), k, pick_choice::uniform,
            {{"uniform", [&](gpu::expansion const& what) { gpu::pick_uniform(what, false, exec); }}});
  }
}

TEST_F(MinibatchPicksOnGpu, AliasIsTheCpus)
{
  graph const g = make_lists(all_degrees(), {usual_weight, [](std::uint32_t, std::mt19937_64&) { return 0.0F; },
                                             [](std::uint32_t i, std::mt19937_64&) { return i == 2 ? 1e6F : 1e-6F; }});
  auto const there = all_forms_on_gpu(g, exec);
  auto const buckets = gpu::make_alias_buckets(there.front().csr(), exec);
  auto const kept = gpu::make_weight_sums(there.front().csr(), exec);
  auto const sums = gpu::summed_tables::of(&kept);
  for (std::uint32_t const k : {1U, 2U, 5U, 10U, 33U, 64U, 65U, 301U}) {
    compare(g, there, nullptr, make_frontier(g, 2, 7, 77), k, pick_choice::alias,
            {{"alias", [&](gpu::expansion const& what) { gpu::pick_alias(what, buckets.data(), exec); }},
             {"sums", [&](gpu::expansion const& what) { gpu::pick_summed(what, sums, exec); }}});
  }
}

TEST_F(MinibatchPicksOnGpu, NobodyToExpand)
{
  graph const g = make_lists({3, 50, 2000});
  auto const there = all_forms_on_gpu(g, exec);
  order const times(g);
  auto const buckets = gpu::make_alias_buckets(there.front().csr(), exec);
  for (std::int64_t const bound : {0, 1, 500}) {
    frontier f;
    f.groups.resize(1);
    f.bound = bound;
    for (std::uint32_t const k : {3U, 70U}) {
      std::vector<std::pair<std::string, enqueue>> ways;
      ways.emplace_back("uniform", [&](gpu::expansion const& what) { gpu::pick_uniform(what, false, exec); });
      ways.emplace_back("replace", [&](gpu::expansion const& what) { gpu::pick_uniform(what, true, exec); });
      ways.emplace_back("last", [&](gpu::expansion const& what) { gpu::pick_last(what, exec); });
      ways.emplace_back("alias", [&](gpu::expansion const& what) { gpu::pick_alias(what, buckets.data(), exec); });
      compare(g, there, nullptr, f, k, pick_choice::uniform, ways);
    }
  }
}

TEST_F(MinibatchPicksOnGpu, AllNeighboursAreTheLists)
{
  graph const g = make_lists(all_degrees());
  auto const there = all_forms_on_gpu(g, exec);
  order const times(g);
  for (std::int64_t const beyond : {0, 1000}) {
    frontier const f = make_frontier(g, 2, 7, beyond);
    for (order const* const o : {static_cast<order const*>(nullptr), &times}) {
      std::vector<std::int64_t> offsets(static_cast<std::size_t>(f.bound) + 1, 0);
      std::vector<edge_id> expected;
      for (std::size_t i = 0; i < offsets.size() - 1; ++i) {
        if (i < f.vertices.size() && f.vertices[i] != no_vertex) {
          edge_id const first = g.csr().first_edge(f.vertices[i]);
          std::uint32_t const degree = g.csr().degree(f.vertices[i]);
          for (std::uint32_t e = 0; e < degree; ++e) {
            if (o == nullptr) {
              expected.push_back(first + e);
            } else if (o->times[static_cast<std::size_t>(first + e)] <= f.groups[f.group_of[i]].time) {
              expected.push_back(first + o->ordinal[static_cast<std::size_t>(first + e)]);
            }
          }
        }
        offsets[i + 1] = static_cast<std::int64_t>(expected.size());
      }
      for (graph const& form : there) {
        expanded const e = put(form, o, f, 0, static_cast<std::int64_t>(expected.size()) + 10);
        buffer<std::int64_t> const counts = on_gpu(std::vector<std::int64_t>(offsets.size() - 1, untouched), exec);
        gpu::count_all(e.what, const_cast<std::int64_t*>(counts.data()), exec);
        synchronize(exec);
        auto const counted = on_host(counts);
        for (std::int64_t i = 0; i < counted.size(); ++i) {
          auto const at = static_cast<std::size_t>(i);
          ASSERT_EQ(counted[i], offsets[at + 1] - offsets[at]) << i;
        }
        auto const begin = on_gpu(offsets, exec);
        gpu::pick_all(e.what, begin.data(), exec);
        synchronize(exec);
        auto const picked = on_host(e.picked);
        for (std::int64_t i = 0; i < picked.size(); ++i) {
          auto const at = static_cast<std::size_t>(i);
          ASSERT_EQ(picked[i], at < expected.size() ? expected[at] : untouched) << i << " of " << expected.size();
        }
      }
    }
  }
}

}  // namespace
}  // namespace tendril::test
