// HGSampling holds what its definition says, worked out serially with sets and maps; threads, bulk calls, the form of the
// graph and the order of the seeds change nothing.

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/hgt.hpp>

#include "core/float_bits.hpp"
#include "core/race.hpp"
#include "cpu/batches/minibatch_known.hpp"
#include "cpu/batches/minibatch_verifier.hpp"
#include "support/messages.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {
namespace {

/// Edge types as lists: [edge type][from] of neighbours, in the graph's order.
std::vector<std::vector<vertex_id>> neighbors_of(graph const& g)
{
  std::vector<std::vector<vertex_id>> out(static_cast<std::size_t>(g.num_vertices()));
  g.view().visit([&](auto const& view) {
    for (std::size_t v = 0; v < out.size(); ++v) {
      auto const row = view.row(static_cast<vertex_id>(v));
      for (std::uint32_t i = 0; i < row.degree(); ++i) { out[v].push_back(row.neighbor(i)); }
    }
  });
  return out;
}

/// The batch by docs/reproducibility.md.
batch_lists expected_hgt_batch(hetero_graph const& graph, seed_lists const& seeds, hgt_params const& params,
                               std::uint64_t batch)
{
  std::size_t const types = graph.num_vertices().size();
  std::vector<std::vector<std::vector<vertex_id>>> edges;
  for (auto const& type : graph.edge_types()) { edges.push_back(neighbors_of(type.edges)); }
  batch_lists out;
  out.vertices.resize(types);
  std::vector<std::map<vertex_id, std::uint64_t>> budget(types);
  std::vector<std::map<vertex_id, std::int64_t>> number(types);
  std::vector<std::size_t> expanded(types, 0);
  auto const join = [&](std::size_t t, vertex_id v) {
    if (number[t].emplace(v, std::ssize(out.vertices[t].node)).second) { out.vertices[t].node.push_back(v); }
    budget[t].erase(v);
  };
  for (std::size_t t = 0; t < types; ++t) {
    for (vertex_id const v : seeds.vertices[t]) { join(t, v); }
    out.vertices[t].num_sampled.push_back(std::ssize(out.vertices[t].node));
  }
  auto const key = core::make_key(params.seed, core::domain::hgt, batch);
  for (std::size_t hop = 0; hop < params.num_samples[0].size(); ++hop) {
    for (std::size_t e = 0; e < edges.size(); ++e) {
      auto const from = static_cast<std::size_t>(graph.edge_types()[e].from);
      auto const to = static_cast<std::size_t>(graph.edge_types()[e].to);
      for (std::size_t i = expanded[from]; i < out.vertices[from].node.size(); ++i) {
        auto const& list = edges[e][static_cast<std::size_t>(out.vertices[from].node[i])];
        for (vertex_id const s : list) {
          if (number[to].count(s) > 0) { continue; }
          auto const whole = static_cast<long double>(std::uint64_t{1} << 40U) / static_cast<long double>(list.size());
          budget[to][s] += static_cast<std::uint64_t>(whole + 0.5L);
        }
      }
    }
    for (std::size_t t = 0; t < types; ++t) { expanded[t] = out.vertices[t].node.size(); }
    for (std::size_t t = 0; t < types; ++t) {
      std::vector<std::pair<std::uint32_t, vertex_id>> race;
      for (auto const& [v, sum] : budget[t]) {
        float const b = static_cast<float>(sum) / 0x1p40F;
        auto const block = core::draw_block(key, v, static_cast<std::uint32_t>(hop | t << 16U), 0);
        race.emplace_back(core::race_key(core::exponential(block.low()), b * b), v);
      }
      std::sort(race.begin(), race.end());
      auto const count = std::min(static_cast<std::size_t>(params.num_samples[t][hop]), race.size());
      for (std::size_t i = 0; i < count; ++i) { join(t, race[i].second); }
      out.vertices[t].num_sampled.push_back(static_cast<std::int64_t>(count));
    }
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    auto const& type = graph.edge_types()[e];
    auto const from = static_cast<std::size_t>(type.from);
    auto const to = static_cast<std::size_t>(type.to);
    std::vector<std::int64_t> first(1, 0);
    for (auto const& list : edges[e]) { first.push_back(first.back() + std::ssize(list)); }
    batch_lists::of_edges made;
    made.indptr.push_back(0);
    for (std::size_t i = 0; i < out.vertices[from].node.size(); ++i) {
      auto const v = static_cast<std::size_t>(out.vertices[from].node[i]);
      for (std::size_t k = 0; k < edges[e][v].size(); ++k) {
        auto const it = number[to].find(edges[e][v][k]);
        if (it == number[to].end()) { continue; }
        made.row.push_back(static_cast<std::int64_t>(i));
        made.col.push_back(it->second);
        made.edge.push_back(first[v] + static_cast<std::int64_t>(k));
      }
      made.indptr.push_back(std::ssize(made.edge));
    }
    made.first_expanded = {0};
    made.num_expanded = {std::ssize(out.vertices[from].node)};
    out.edges.push_back(made);
  }
  return out;
}

std::vector<hgt_params> const every_budget = {{{{3, 2}, {4, 4}, {1, 1}}, 5},
                                              {{{0, 0}, {0, 0}, {0, 0}}, 1},
                                              {{{1, 1, 1, 1}, {0, 2, 0, 2}, {9, 9, 9, 9}}, 2},
                                              {{{1000, 1000}, {1000, 1000}, {1000, 1000}}, 3},
                                              {{{10}, {10}, {0}}, 4}};

TEST(Hgt, BatchesAreThoseOfTheDefinition)
{
  hetero_graph const graph = make_hetero_zoo(3, false);
  for (auto const& params : every_budget) {
    for (auto const& seeds : {three_type_seeds(), middle_type_seeds()}) {
      for (std::uint64_t const batch : {0ULL, 1ULL, ~0ULL}) {
        auto const expected = expected_hgt_batch(graph, seeds, params, batch);
        for (int const threads : {1, 3}) {
          auto const made = hgt_sample(graph, seeds.spans(false), params, cpu_exec{.num_threads = threads}, batch);
          EXPECT_EQ(difference(expected, lists_of(made)), "") << "batch " << batch << ", threads " << threads;
        }
      }
    }
  }
}

TEST(Hgt, BulkCallsMakeTheSameBatches)
{
  hetero_graph const graph = make_hetero_zoo(3, false);
  hgt_params const params = every_budget[0];
  std::vector<vertex_id> seeds(47);
  for (std::size_t i = 0; i < seeds.size(); ++i) { seeds[i] = static_cast<vertex_id>(i * 5 % 64); }
  for (std::int64_t const size : {1, 10, 100}) {
    for (int const threads : {1, 2, 4}) {
      batch_numbers const numbers{.first = 1ULL << 40U, .step = threads == 2 ? 3U : 1U};
      auto const made = hgt_sample_batches(graph, 0, seeds, size, params, cpu_exec{.num_threads = threads}, numbers);
      ASSERT_EQ(std::ssize(made), (47 + size - 1) / size);
      for (std::size_t b = 0; b < made.size(); ++b) {
        auto const begin = b * static_cast<std::size_t>(size);
        seed_lists own{{{}, {}, {}}, {}};
        for (std::size_t i = begin; i < std::min(begin + static_cast<std::size_t>(size), seeds.size()); ++i) {
          own.vertices[0].push_back(seeds[i]);
        }
        auto const alone = hgt_sample(graph, own.spans(false), params, cpu_exec{}, numbers.first + numbers.step * b);
        EXPECT_EQ(difference(lists_of(alone), lists_of(made[b])), "") << "size " << size << ", batch " << b;
      }
    }
  }
  EXPECT_TRUE(hgt_sample_batches(graph, 0, {}, 5, params).empty());
}

TEST(Hgt, CompressedGraphsGiveTheSameBatches)
{
  hetero_graph const graph = make_hetero_zoo(3, false);
  for (auto const form : {graph_form::packed, graph_form::ef, graph_form::vbyte}) {
    std::vector<edge_type> types = graph.edge_types();
    for (auto& type : types) { type.edges = compress(type.edges, form); }
    hetero_graph const other(graph.num_vertices(), types);
    for (auto const& params : every_budget) {
      auto const seeds = three_type_seeds();
      EXPECT_EQ(difference(lists_of(hgt_sample(graph, seeds.spans(false), params)),
                           lists_of(hgt_sample(other, seeds.spans(false), params))),
                "");
    }
  }
}

TEST(Hgt, TheOrderOfTheSeedsChangesNoDraw)
{
  hetero_graph const graph = make_hetero_zoo(3, false);
  seed_lists const one{{{5, 0, 61, 1}, {}, {}}, {}};
  seed_lists const other{{{1, 61, 0, 5, 1}, {}, {}}, {}};
  auto const a = hgt_sample(graph, one.spans(false), every_budget[0]);
  auto const b = hgt_sample(graph, other.spans(false), every_budget[0]);
  for (std::size_t t = 0; t < 3; ++t) {
    std::size_t const seeds = t == 0 ? 4 : 0;
    EXPECT_EQ(std::vector<vertex_id>(a.vertices[t].node.begin() + seeds, a.vertices[t].node.end()),
              std::vector<vertex_id>(b.vertices[t].node.begin() + seeds, b.vertices[t].node.end()));
  }
  EXPECT_EQ(b.vertices[0].num_sampled[0], 4) << "a seed that is given twice is one vertex";
}

/// Two papers with three authors; paper 1 has one author alone.
TEST(Hgt, SmallGraphsGiveWhatCanBeWorkedOutByHand)
{
  graph const written = make_graph(3, {{0, 0}, {0, 1}, {1, 2}}, {.weights = false, .labels = false});
  graph const writes = make_graph(3, {{0, 0}, {1, 0}, {2, 1}}, {.weights = false, .labels = false});
  hetero_graph const graph({2, 3}, {{0, 1, written, {}}, {1, 0, writes, {}}});
  std::vector<vertex_id> const seed = {0};
  batch_seeds const seeds{{seed, {}}};

  minibatch const all = hgt_sample(graph, seeds, {{{5, 5}, {5, 5}}});  // paper 1 is too far away
  EXPECT_EQ(all.vertices[0].num_sampled, (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_EQ(all.vertices[1].num_sampled, (std::vector<std::int64_t>{0, 2, 0}));
  std::set<vertex_id> const authors(all.vertices[1].node.begin(), all.vertices[1].node.end());
  EXPECT_EQ(authors, (std::set<vertex_id>{0, 1}));
  EXPECT_EQ(all.edges[0].edge.size(), 2);
  EXPECT_EQ(all.edges[1].edge.size(), 2);

  minibatch const one = hgt_sample(graph, seeds, {{{0, 0}, {1, 1}}});  // the rest of a budget stays for the next hop
  EXPECT_EQ(one.vertices[1].num_sampled, (std::vector<std::int64_t>{0, 1, 1}));

  minibatch const none = hgt_sample(graph, batch_seeds{{{}, {}}}, {{{5}, {5}}});
  EXPECT_EQ(none.vertices[0].node.size() + none.vertices[1].node.size() + none.edges[0].edge.size(), 0);
}

TEST(Hgt, ABatchHasOneDigest)
{
  hetero_graph const graph = make_hetero_zoo(3, false);
  std::vector<batch_lists> batches;
  for (std::uint64_t b = 0; b < 20; ++b) {
    batches.push_back(lists_of(hgt_sample(graph, three_type_seeds().spans(false), every_budget[0], {}, b)));
  }
  EXPECT_EQ(digest_of(batches), 0xC658DD77CF57A852ULL);
}

std::string refusal(hetero_graph const& graph, hgt_params const& params, batch_seeds const& seeds)
{
  return message_of<argument_error>([&] { (void)hgt_sample(graph, seeds, params); });
}

TEST(Hgt, BadInputGivesOneLine)
{
  hetero_graph const graph = make_hetero_zoo(3, false);
  auto const lists = three_type_seeds();
  batch_seeds const seeds = lists.spans(false);
  EXPECT_EQ(refusal(graph, {{}}, seeds), "num_samples: 0 lists, expected 1 to 65535: one a vertex type");
  EXPECT_EQ(refusal(graph, {{{1}, {1}}}, seeds), "num_samples: 2 lists, expected one a vertex type: 3");
  EXPECT_EQ(refusal(graph, {{{1}, {1, 2}, {1}}}, seeds),
            "num_samples: 2 hops of vertex type 1, but 1 of vertex type 0, expected as many");
  EXPECT_EQ(refusal(graph, {{{}, {}, {}}}, seeds), "num_samples: 0 hops of vertex type 0, expected 1 to 65535");
  EXPECT_EQ(refusal(graph, {{{1}, {1}, {-1}}}, seeds), "num_samples: -1 at hop 1 of vertex type 2, expected 0 or more");
  EXPECT_EQ(refusal(graph, every_budget[0], {}), "seeds: 0 lists, expected one a vertex type: 3");
  EXPECT_EQ(refusal(graph, every_budget[0], lists.spans(true)),
            "times: given for seeds, expected none: HGSampling reads no times");
  std::vector<vertex_id> const bad = {3, 30};
  EXPECT_EQ(refusal(graph, every_budget[0], {{{}, bad, {}}}),
            "seed 1 of type 1: vertex 30 is out of range, the graph has 30 vertices of that type");
  EXPECT_EQ(refusal(make_hetero_zoo(3, true), every_budget[0], seeds),
            "graph: its edges have times, expected one without: HGSampling reads none");
  EXPECT_EQ(message_of<argument_error>([&] { (void)hgt_sample_batches(graph, 3, bad, 1, every_budget[0]); }),
            "vertex_type: 3, expected one below 3");
  EXPECT_EQ(message_of<argument_error>([&] { (void)hgt_sample_batches(graph, 1, bad, 0, every_budget[0]); }),
            "batch_size: 0, expected 1 to 4294967294");
  hetero_graph const wild({5, 2}, {{0, 1, make_graph(5, {{0, 1}, {3, 4}}), {}}});
  std::vector<vertex_id> const first = {0};
  EXPECT_THROW((void)hgt_sample(wild, {{first, {}}}, {{{1}, {1}}}), format_error);
}

}  // namespace
}  // namespace tendril::test
