// The steps that the kernels of mini-batches are made of, one after the other on this machine: the table that is never
// cleared, the sums that begin anew with each batch, the bounds of what a batch can become. They need no GPU.

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/batches/bounds.hpp"
#include "gpu/batches/expected.hpp"
#include "gpu/batches/ranks.hpp"
#include "gpu/batches/table.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {
namespace {

using namespace gpu;

/// As std::mt19937, whose numbers are wider than they say.
class random_words {
 public:
  using result_type = std::uint32_t;
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }
  [[nodiscard]] static constexpr std::uint32_t min() { return 0; }
  [[nodiscard]] static constexpr std::uint32_t max() { return 0xffffffffU; }

 private:
  std::mt19937 engine_{1};
};

/// What the launches do, slot by slot: all picks go in, then what came first gets its number.
class serial_numbers {
 public:
  explicit serial_numbers(std::size_t slots) : slots_(slots, numbered_slot{0, 0}) {}

  [[nodiscard]] number_table table() { return {slots_.data(), static_cast<std::uint32_t>(slots_.size() - 1)}; }

  /// Numbers of keys (group, vertex), from `known` of each group on, in their order.
  [[nodiscard]] std::vector<std::uint32_t> number(std::vector<std::pair<std::uint32_t, vertex_id>> const& keys,
                                                  std::uint32_t first_stamp,
                                                  std::map<std::uint32_t, std::uint32_t>& known,
                                                  std::vector<std::uint32_t> const& order)
  {
    std::vector<std::uint32_t> at(keys.size());
    for (std::uint32_t const s : order) {
      at[s] = table().insert(stamped(first_stamp + keys[s].first, keys[s].second), first_stamp, s);
    }
    std::vector<std::uint32_t> out(keys.size());
    std::vector<std::uint32_t> firsts;
    for (std::uint32_t s = 0; s < keys.size(); ++s) {
      std::uint32_t const x = is_numbered(at[s]) ? at[s] : low_half(table().read(at[s]).value);
      if (x == waiting_at(s)) {
        out[s] = known[keys[s].first]++;
        at[s] = numbered_as(out[s]);
        firsts.push_back(s);
      } else if (is_numbered(x)) {
        out[s] = number_in(x);
      } else {
        EXPECT_LT(position_in(x), s) << "waits for one behind it";
        out[s] = number_in(at[position_in(x)]);
      }
    }
    for (std::uint32_t const s : firsts) {
      std::uint32_t const stamp = first_stamp + keys[s].first;
      std::uint32_t const place = table().insert(stamped(stamp, keys[s].second), first_stamp, s);
      table().set_value(place, stamped(stamp, numbered_as(out[s])));
    }
    return out;
  }

 private:
  std::vector<numbered_slot> slots_;
};

TEST(MinibatchSteps, ATableThatIsNeverClearedNumbersByFirstAppearance)
{
  random_words random;
  serial_numbers numbers(512);
  std::uint32_t stamp = 1;
  for (int call = 0; call < 300; ++call) {
    if (call == 200) { stamp = 0xffffffffU - 300; }  // near the end of all stamps
    std::map<std::pair<std::uint32_t, vertex_id>, std::uint32_t> expected;
    std::map<std::uint32_t, std::uint32_t> known, counts;
    for (int hop = 0; hop < 3; ++hop) {
      std::vector<std::pair<std::uint32_t, vertex_id>> keys(80);
      std::vector<std::uint32_t> order(keys.size());
      for (std::uint32_t s = 0; s < keys.size(); ++s) {
        keys[s] = {random() % 3, random() % 50 == 0 ? 0xfffffffeU : random() % 60};
        order[s] = s;
      }
      std::shuffle(order.begin(), order.end(), random);
      auto const got = numbers.number(keys, stamp, known, order);
      for (std::uint32_t s = 0; s < keys.size(); ++s) {
        auto const [place, is_new] = expected.try_emplace(keys[s], counts[keys[s].first]);
        counts[keys[s].first] += is_new ? 1 : 0;
        ASSERT_EQ(got[s], place->second) << "call " << call << " hop " << hop << " slot " << s;
      }
    }
    for (std::uint32_t group = 0; group < 3; ++group) {
      for (vertex_id v = 0; v < 70; ++v) {
        auto const found = expected.find({group, v});
        ASSERT_EQ(numbers.table().find(stamped(stamp + group, v), stamp),
                  found == expected.end() ? nowhere : found->second);
      }
    }
    stamp += 3 + random() % 3;  // more groups than had vertices
    if (call >= 200 && stamp > 0xffffffffU - 8) {
      numbers = serial_numbers(512);
      stamp = 1;
    }
  }
}

TEST(MinibatchSteps, AMovedTableKeepsWhatIsCurrent)
{
  serial_numbers small(64), large(256);
  std::map<std::uint32_t, std::uint32_t> old_counts, counts;
  (void)small.number({{0, 1}, {0, 2}, {0, 3}}, 1, old_counts, {0, 1, 2});
  auto const now = small.number({{0, 2}, {0, 9}, {0, 2}}, 2, counts, {2, 0, 1});
  for (std::uint32_t at = 0; at < 64; ++at) {
    numbered_slot const held = small.table().read(at);
    if (stamp_of(held.key) >= 2) { large.table().copy_in(held); }
  }
  EXPECT_EQ(large.table().find(stamped(2, 2), 2), now[0]);
  EXPECT_EQ(large.table().find(stamped(2, 9), 2), now[1]);
  EXPECT_EQ(large.table().find(stamped(2, 1), 2), nowhere);
}

// Several keys at once are looked up side by side; also equal ones, and ones that want the same place.
TEST(MinibatchSteps, SeveralKeysGoInAsOneByOne)
{
  random_words random;
  for (int trial = 0; trial < 200; ++trial) {
    std::uint32_t const num_keys = 1 + random() % 300;
    std::vector<numbered_slot> together(1024, numbered_slot{0, 0}), alone(1024, numbered_slot{0, 0});
    number_table const many{together.data(), 1023, nullptr};
    number_table const one{alone.data(), 1023, nullptr};
    for (std::uint32_t first = 0; first < 900; first += 3) {
      insertion items[3];
      for (std::uint32_t i = 0; i < 3; ++i) {
        items[i] = {stamped(7, random() % num_keys), first + i, nowhere, random() % 5 != 0};
        if (items[i].wanted) { (void)one.insert(items[i].key, 7, first + i); }
      }
      many.insert(items, 7);
      for (auto const& item : items) {
        ASSERT_EQ(item.at == nowhere, !item.wanted);
        if (item.wanted) { ASSERT_EQ(together[item.at].key, item.key); }
      }
    }
    auto const sorted = [](std::vector<numbered_slot> const& slots) {
      std::map<unsigned long long, unsigned long long> out;
      for (auto const& slot : slots) {
        if (slot.key != 0) { EXPECT_TRUE(out.emplace(slot.key, slot.value).second) << "a key is there twice"; }
      }
      return out;
    };
    ASSERT_EQ(sorted(together), sorted(alone));
  }
}

TEST(MinibatchSteps, WhatIsExpectedFollowsWhatWas)
{
  expected_sizes sizes;
  EXPECT_EQ(sizes.of(2, 1000), 1000);
  EXPECT_FALSE(sizes.is_sure());
  sizes.learn(2, 1000, 10'000);
  sizes.learn(2, 500, 10'000);  // the largest share counts
  sizes.end_group(false);
  EXPECT_TRUE(sizes.is_sure());
  EXPECT_EQ(sizes.of(2, 100'000), 12'256);
  EXPECT_EQ(sizes.of(2, 100), 100);
  EXPECT_EQ(sizes.of(1, 100'000), 100'000) << "nothing was learnt of that one";
  sizes.end_group(true);
  EXPECT_EQ(sizes.of(2, 100'000), 100'000);
  sizes.end_group(false);
  EXPECT_EQ(sizes.of(2, 100'000), 18'256);
}

TEST(MinibatchSteps, ATableThatIsFullSaysSo)
{
  std::vector<numbered_slot> slots(4096, numbered_slot{0, 0});
  unsigned long long full = 0;
  number_table const table{slots.data(), 4095, &full};
  auto const insert = [&](std::uint32_t stamp, std::uint32_t count) {
    std::uint32_t missing = 0;
    for (std::uint32_t v = 0; v < count; ++v) {
      missing += table.insert(stamped(stamp, v), stamp, v) == nowhere ? 1 : 0;
    }
    return missing;
  };
  EXPECT_EQ(insert(1, 2730), 0);  // two thirds
  EXPECT_EQ(full, 0);
  EXPECT_EQ(insert(2, 5000), 5000 - 4096);  // what is older makes room, and no more than that
  EXPECT_EQ(full, 1);
  full = 0;
  EXPECT_EQ(insert(3, 2730), 0);
  EXPECT_EQ(full, 0);
}

// A call may use less of a table than the one before, and more again.
TEST(MinibatchSteps, PartsOfATableAreTablesThemselves)
{
  std::vector<numbered_slot> slots(1 << 14, numbered_slot{0, 0});
  std::uint32_t stamp = 0;
  for (std::uint32_t const size : {1U << 14U, 1U << 10U, 1U << 12U, 1U << 10U, 1U << 14U}) {
    ++stamp;
    number_table const table{slots.data(), size - 1, nullptr};
    std::uint32_t const count = size * 2 / 3;
    std::vector<std::uint32_t> at(count);
    for (std::uint32_t v = 0; v < count; ++v) { at[v] = table.insert(stamped(stamp, v), stamp, v); }
    for (std::uint32_t v = 0; v < count; ++v) {
      ASSERT_LT(at[v], size);
      ASSERT_EQ(table.read(at[v]).value, stamped(stamp, waiting_at(v)));
      table.set_value(at[v], stamped(stamp, numbered_as(v)));
    }
    for (std::uint32_t v = 0; v < count; ++v) { ASSERT_EQ(table.find(stamped(stamp, v), stamp), v); }
    EXPECT_EQ(table.find(stamped(stamp, count), stamp), nowhere);
  }
}

// Many batches have parts of a table of their own, in the order of their stamps, wherever the first one is.
TEST(MinibatchSteps, BatchesHavePartsOfATable)
{
  constexpr std::uint32_t num_slots = 1U << 19U;
  for (std::uint32_t const num_batches : {2U, 7U, 16U, 1000U}) {
    for (std::uint32_t const first_stamp : {1U, 77U, 0xfffff000U}) {
      std::vector<numbered_slot> slots(num_slots, numbered_slot{0, 0});
      unsigned long long full = 0;
      number_table table{slots.data(), num_slots - 1, &full};
      table.cut({2 * num_batches, num_batches});  // of two types
      std::uint32_t const count = num_slots / 2 / (2 * num_batches);
      std::uint32_t const part = std::max(1U << 16U, std::bit_ceil(2 * num_slots / num_batches));
      EXPECT_EQ(table.part, part < num_slots ? part - 1 : 0xffffffffU);
      for (std::uint32_t i = 0; i < 2 * num_batches; ++i) {
        std::uint32_t const stamp = first_stamp + i;
        auto const begin = static_cast<std::uint32_t>(stamp * table.step >> 16U);
        for (std::uint32_t v = 0; v < count; ++v) {
          std::uint32_t const at = table.insert(stamped(stamp, v), first_stamp, v);
          ASSERT_NE(at, nowhere);
          if (part < num_slots) { ASSERT_LT((at - begin) % num_slots, part + most_probes); }
        }
      }
      EXPECT_EQ(full, 0);
      for (std::uint32_t i = 0; i < 2 * num_batches; ++i) {
        for (std::uint32_t v = 0; v < count; ++v) {
          std::uint32_t const stamp = first_stamp + i;
          std::uint32_t const at = table.insert(stamped(stamp, v), first_stamp, count + v);
          ASSERT_EQ(slots[at].key, stamped(stamp, v));
          ASSERT_EQ(slots[at].value, stamped(stamp, waiting_at(v)));
        }
      }
    }
  }
}

TEST(MinibatchSteps, SumsBeginAnewWithEachBatch)
{
  random_words random;
  for (int trial = 0; trial < 500; ++trial) {
    std::uint32_t const density = 1 + random() % 40;
    rank_sum before{random() % 100, random() % 100, random() % 2 == 0};
    std::uint32_t edges = before.edges, firsts = before.firsts;
    bool cut = before.cut;
    for (int r = 0; r < 4; ++r) {
      rank_row row;
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        row.edges |= (random() % 3 != 0 ? 1U : 0U) << lane;
        row.firsts |= (random() % 3 == 0 ? 1U : 0U) << lane;
        row.heads |= (random() % density == 0 ? 1U : 0U) << lane;
      }
      row.firsts &= row.edges;
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if ((row.heads >> lane & 1U) != 0) {
          edges = firsts = 0;
          cut = true;
        }
        ASSERT_EQ(rank_in_row(row, lane, before), (rank_sum{edges, firsts, cut})) << lane;
        edges += row.edges >> lane & 1U;
        firsts += row.firsts >> lane & 1U;
      }
      before = behind_row(row, before);
      ASSERT_EQ(before, (rank_sum{edges, firsts, cut}));
    }
  }
}

TEST(MinibatchSteps, StretchesJoinInAnyOrder)
{
  random_words random;
  for (int trial = 0; trial < 1000; ++trial) {
    rank_sum part[3];
    for (auto& p : part) { p = {random() % 9, random() % 9, random() % 3 == 0}; }
    ASSERT_EQ(joined(joined(part[0], part[1]), part[2]), joined(part[0], joined(part[1], part[2])));
    auto const word = tile_word::of(tile_word::so_far, {0x7fffffff, 0x7ffffffeU, false});
    ASSERT_EQ(tile_word::what(word), tile_word::so_far);
    ASSERT_EQ(tile_word::edges(word), 0x7fffffffU);
    ASSERT_EQ(tile_word::firsts(word), 0x7ffffffeU);
  }
}

/// The bounds of one batch, whose sizes are those of `made`.
void expect_within(hetero_graph const& graph, minibatch_params const& params, batch_seeds const& seeds,
                   minibatch const& made)
{
  batch_limits limits{graph.num_vertices(), {}, params.disjoint, params.frontier == batch_frontier::all};
  for (auto const& type : graph.edge_types()) {
    std::int64_t degree = 0;
    for (vertex_id v = 0; v < type.edges.num_vertices(); ++v) {
      degree = std::max<std::int64_t>(degree, type.edges.csr().degree(v));
    }
    bool const labor = params.choice == neighbor_choice::labor;
    limits.edges.push_back({static_cast<std::size_t>(type.from), static_cast<std::size_t>(type.to),
                            type.edges.num_edges(), params.replace, labor ? degree : -1});
  }
  std::vector<size_bound> sizes;
  for (auto const& list : seeds.vertices) { sizes.push_back({std::ssize(list), std::ssize(list)}); }
  batch_bounds bounds(limits, 1, sizes);
  for (std::size_t h = 0; h < params.num_neighbors.size(); ++h) {
    for (std::size_t t = 0; t < limits.edges.size(); ++t) {
      EXPECT_LE(made.edges[t].num_expanded[h], bounds.frontier(limits.edges[t].from).each);
      auto const picks = bounds.take(t, params.num_neighbors[h]);
      EXPECT_LE(made.edges[t].num_sampled[h], picks.each);
      EXPECT_EQ(picks.each, picks.total);
    }
    bounds.end_hop();
  }
  for (std::size_t type = 0; type < sizes.size(); ++type) {
    EXPECT_LE(made.vertices[type].node.size(), bounds.nodes(type).each);
  }
  for (std::size_t t = 0; t < limits.edges.size(); ++t) {
    EXPECT_LE(made.edges[t].row.size(), bounds.edges(t).each);
    EXPECT_LE(made.edges[t].indptr.size(), bounds.expanded(t).each + 1);
  }
}

TEST(MinibatchSteps, BoundsAreNeverBelowWhatABatchBecomes)
{
  hetero_graph const graph = make_hetero_zoo(21, false);
  for (auto const& fanouts : {std::vector<std::int64_t>{4, 3}, {0, 5}, {200, 1}, {30, 30, 30}, {2, 2, 2, 2}}) {
    for (auto const& params : every_way(false, false, fanouts)) {
      if (params.subgraph != subgraph_type::directional) { continue; }
      for (seed_lists const& lists : {three_type_seeds(), middle_type_seeds()}) {
        SCOPED_TRACE(name_of(params));
        batch_seeds const seeds = lists.spans(false);
        minibatch_sampler sampler(graph, params);
        expect_within(graph, params, seeds, sampler.sample(seeds));
      }
    }
  }
}

TEST(MinibatchSteps, BoundsOfHugeFanoutsStopGrowing)
{
  batch_limits const limits{{1 << 30}, {{0, 0, std::int64_t{1} << 40U, true}}, true, true};
  batch_bounds bounds(limits, 1000, {{1 << 20, 1 << 30}});
  for (int h = 0; h < 10; ++h) {
    EXPECT_LE(bounds.take(0, 0x7fffffff).total, unbounded);
    bounds.end_hop();
  }
  EXPECT_EQ(bounds.edges(0).total, unbounded);
  EXPECT_LE(bounds.all_nodes(), unbounded);
}

}  // namespace
}  // namespace tendril::test
