// Dynamic walks on a graph in parts by structs that are compiled with the program: those of run_dynamic_walk on the whole graph, to
// the byte, whatever the ranks, threads and delays.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/engine/walks/cpu.hpp>
#include <tendril/engine/walks/parts_cpu.hpp>
#include <tendril/generate.hpp>
#include <tendril/walk_parts.hpp>

#include "cpu/walks/dynamic_walks.hpp"
#include "dist/failure_of.hpp"
#include "dist/restless_engine.hpp"
#include "examples/metapath2vec_walk.hpp"
#include "support/graph_forms.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"
#include "support/walk_counts.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t first_walk = 0xfffffff0LL;

/// Everything that a struct may read on the parts of a graph.
struct all_of_state_walk {
  [[nodiscard]] TENDRIL_HD float weight(auto const& s, auto const& e) const
  {
    float out = e.weight() * static_cast<float>(1 + e.label()) + static_cast<float>(e.index() % 5 + e.position() % 3);
    if (e.target() == s.previous) { out *= 0.5F; }
    if (e.target() == s.start) { out *= 3; }
    out += static_cast<float>(s.graph.node_types[e.target()] + (static_cast<std::uint64_t>(s.step) + s.walk) % 2);
    return out + static_cast<float>(e.row().degree() % 3 + (e.target() < s.graph.num_vertices / 2 ? 1 : 0));
  }
  [[nodiscard]] TENDRIL_HD bool stop(auto const& s) const { return s.vertex % 31 == 7; }
  [[nodiscard]] TENDRIL_HD bool may_start(auto const& s) const { return s.start % 5 != 0; }
};

/// The largest weight of a vertex is that of the whole graph.
struct largest_weight_walk {
  [[nodiscard]] TENDRIL_HD float weight(auto const&, auto const& e) const { return e.weight(); }
  [[nodiscard]] TENDRIL_HD float bound(auto const& s) const { return s.largest_weight; }
};

template <class W>
rows rows_of_ranks(graph const& g, int num_ranks, W const& walk, dynamic_walk_params const& params,
                   std::vector<vertex_id> const& starts)
{
  auto const width = static_cast<std::ptrdiff_t>(params.length) + 1;
  rows out{std::vector<vertex_id>(starts.size() * static_cast<std::size_t>(width)),
           std::vector<std::int32_t>(starts.size())};
  auto const work = [&](transport& ranks) {
    cpu_exec exec;
    exec.num_threads = 1 + ranks.rank() % 2;
    graph_part part = part_of(g, {.num_parts = num_ranks}, ranks.rank());
    sharded_walker sharded(std::move(part), part_walk_of(walk), params, ranks, exec);
    walk_range const mine = walks_of({ranks.rank(), num_ranks}, std::ssize(starts));
    auto const own =
        std::span(starts).subspan(static_cast<std::size_t>(mine.first), static_cast<std::size_t>(mine.size));
    walks const made = sharded.run(own, first_walk + mine.first, exec);
    std::copy(made.vertices.begin(), made.vertices.end(), out.vertices.begin() + width * mine.first);
    std::copy(made.lengths.begin(), made.lengths.end(), out.lengths.begin() + mine.first);
  };
  run_ranks(num_ranks, work, transport::seconds(60), num_ranks == 3 ? restless(7) : engine_wrapper{});
  return out;
}

template <class W>
void compare(graph const& g, W const& walk, dynamic_walk_params const& params)
{
  auto const starts = starts_everywhere(g, 2);
  rows const expected = rows_of(run_dynamic_walk(g, walk, starts, params, {}, first_walk));
  counted_walks const expected_counts = counts_of(expected, g.num_vertices());
  auto const make = [&](graph_part part, transport& ranks) {
    return sharded_walker(std::move(part), part_walk_of(walk), params, ranks);
  };
  for (int const n : is_sanitized ? std::vector{1, 3} : std::vector{1, 2, 3, 4, 7}) {
    EXPECT_EQ(rows_of_ranks(g, n, walk, params, starts), expected) << n << " ranks";
    EXPECT_EQ(counts_of_ranks(g, n, starts, first_walk, make), expected_counts) << n << " ranks";
  }
  for (graph const& parts : in_compressed_forms(g)) {
    EXPECT_EQ(rows_of_ranks(parts, 3, walk, params, starts), expected) << to_string(parts.form());
  }
}

TEST(DynamicWalksOfRanks, AreThoseOfTheWholeGraph)
{
  graph const g = make_zoo(3);
  compare(g, moody_walk{}, {.length = 12, .seed = 5});
  compare(g, edge_bounded_moody_walk{}, {.length = 12, .dead_ends = dead_end::repeat});
  for (auto const rule : {sampling_rule::automatic, sampling_rule::scan}) {
    compare(g, bounded_moody_walk{}, {.length = 15, .stop_prob = 0.05, .restart_prob = 0.2, .rule = rule});
    compare(g, largest_weight_walk{}, {.length = 9, .dead_ends = dead_end::repeat, .rule = rule});
  }
  compare(g, all_of_state_walk{}, {.length = 20, .restart_prob = 0.1, .seed = 9});
  compare(g, metapath2vec_walk{{0, 1, 2, 1}, 4}, {.length = 10});
}

TEST(DynamicWalksOfRanks, TellTheirRule)
{
  graph const g = make_zoo(3);
  auto const rule_of = [&](auto const& walk, sampling_rule asked) {
    sampling_rule out{};
    run_ranks(1, [&](transport& ranks) {
      out = sharded_walker(part_of(g, {.num_parts = 1}, 0), part_walk_of(walk), {.length = 4, .rule = asked}, ranks)
                .plan()
                .rule;
    });
    return out;
  };
  EXPECT_EQ(rule_of(moody_walk{}, sampling_rule::automatic), sampling_rule::scan);
  EXPECT_EQ(rule_of(bounded_moody_walk{}, sampling_rule::automatic), sampling_rule::reject);
  EXPECT_EQ(rule_of(bounded_moody_walk{}, sampling_rule::scan), sampling_rule::scan);
}

TEST(DynamicWalksOfRanks, NameWhatIsWrong)
{
  graph const g = make_zoo(3);
  auto const said = [&](auto walk_of, dynamic_walk_params const& params) {
    return failure_of(3, [&](transport& ranks) {
      sharded_walker sharded(part_of(g, {.num_parts = 3}, ranks.rank()), walk_of(ranks.rank()), params, ranks);
      (void)sharded.run(std::vector<vertex_id>{0, 1, 2}, 3 * ranks.rank());
    });
  };
  std::string const other =
      said([](int rank) { return rank == 2 ? part_walk_of(moody_walk{}) : part_walk_of(all_of_state_walk{}); },
           {.length = 4});
  EXPECT_NE(other.find("rank 2"), std::string::npos) << other;
  EXPECT_NE(other.find("moody_walk of 1 bytes"), std::string::npos) << other;
  std::string const weight =
      said([](int) { return part_walk_of(wrong_walk{.walk = 4, .step = 2, .from = 0, .value = -3}); }, {.length = 4});
  EXPECT_NE(weight.find("weight: -3 at walk"), std::string::npos) << weight;
  EXPECT_NE(weight.find("step 2"), std::string::npos) << weight;
  std::string const rule =
      said([](int) { return part_walk_of(moody_walk{}); }, {.length = 4, .rule = sampling_rule::reject});
  EXPECT_NE(rule.find("reject"), std::string::npos) << rule;
  std::string const length = said([](int) { return part_walk_of(moody_walk{}); }, {.length = 0});
  EXPECT_NE(length.find("length: 0"), std::string::npos) << length;
  std::string const nothing = said([](int) { return part_walk(); }, {.length = 4});
  EXPECT_NE(nothing.find("walk on parts: no function"), std::string::npos) << nothing;
}

}  // namespace
}  // namespace tendril::test
