// A rule that is asked for is used or refused: every rule with every kind of sampler. Used means that the plan names it and
// that the samples are those of this rule and no other; refused, that one line names the rules that would do.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/engine/walks/cpu.hpp>
#include <tendril/generate.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

using enum sampling_rule;

/// Everything that a call returned.
using sample_words = std::vector<std::int64_t>;

/// What a kind of sampler does with a rule: the rule of the plan, and the samples.
struct sampled {
  sampling_rule planned;
  sample_words words;
};

/// Checks one row of the table. @param usable  The rules that the row allows beside auto, in the order of messages.
/// @param sample  Of a rule. @throws argument_error.
template <class Sample>
void expect_row(std::string const& sampler, std::vector<sampling_rule> const& usable, Sample sample)
{
  SCOPED_TRACE(sampler);
  std::string expected = "auto";
  for (std::size_t i = 0; i < usable.size(); ++i) {
    expected += (i + 1 < usable.size() ? ", " : " or ") + std::string(to_string(usable[i]));
  }
  std::map<sample_words, sampling_rule> seen;
  for (auto const rule : {uniform, scan, reject, alias, its}) {
    if (std::find(usable.begin(), usable.end(), rule) == usable.end()) {
      EXPECT_EQ(message_of<argument_error>([&] { (void)sample(rule); }),
                "rule " + std::string(to_string(rule)) + ": not for " + sampler + ", expected " + expected);
      continue;
    }
    sampled const got = sample(rule);
    EXPECT_EQ(got.planned, rule);
    auto const [other, is_new] = seen.emplace(got.words, rule);
    EXPECT_TRUE(is_new) << to_string(rule) << " gives the samples of " << to_string(other->second);
  }
  sampled const chosen = sample(automatic);
  ASSERT_TRUE(seen.contains(chosen.words)) << "auto is none of the rules";
  EXPECT_EQ(seen.at(chosen.words), chosen.planned);
}

graph const& input()
{
  static graph const g = generate_rmat({.scale = 7, .edge_factor = 16, .seed = 2}, {.symmetrize = true},
                                       {.has_weights = true, .weight_sigma = 2, .num_labels = 3, .num_node_types = 3});
  return g;
}

sampled walked(walk_params params, sampling_rule rule)
{
  params.length = 12;
  params.rule = rule;
  auto const starts = starts_everywhere(input(), 8);
  walks const out = random_walk(input(), starts, params);
  return {plan_walk(input(), params, 1).rule, {out.vertices.begin(), out.vertices.end()}};
}

sampled grown(khop_params params, sampling_rule rule)
{
  params.fanouts = {3, 2};
  params.rule = rule;
  auto const seeds = starts_everywhere(input(), 8);
  sampled out{plan_khop(input(), params, 1).rule, {}};
  for (tree_hop const& hop : khop_sample(input(), seeds, params).hops) {
    out.words.insert(out.words.end(), hop.vertices.begin(), hop.vertices.end());
  }
  return out;
}

TEST(Rules, OfWalks)
{
  expect_row("unweighted walks", {uniform, scan}, [](auto rule) { return walked({}, rule); });
  expect_row("weighted walks", {scan, reject, alias, its}, [](auto rule) { return walked({.weighted = true}, rule); });
  expect_row("unweighted walks biased by p and q", {scan, reject}, [](auto rule) { return walked({.p = 2}, rule); });
  expect_row("weighted walks biased by p and q", {scan, reject, alias},
             [](auto rule) { return walked({.weighted = true, .p = 2}, rule); });
}

TEST(Rules, OfWalksAlongAMetapath)
{
  for (auto const of : {metapath_kind::edge_labels, metapath_kind::vertex_types}) {
    walk_params params{.metapath = {0, 2, 1}, .metapath_of = of};
    expect_row("unweighted walks", {uniform, scan}, [&](auto rule) { return walked(params, rule); });
    params.weighted = true;
    expect_row("weighted walks", {scan, reject, alias, its}, [&](auto rule) { return walked(params, rule); });
  }
}

TEST(Rules, OfTrees)
{
  expect_row("unweighted trees", {uniform}, [](auto rule) { return grown({}, rule); });
  expect_row("unweighted trees", {uniform}, [](auto rule) { return grown({.replace = true}, rule); });
  expect_row("weighted trees without replacement", {scan}, [](auto rule) { return grown({.weighted = true}, rule); });
  expect_row("weighted trees with replacement", {alias, its},
             [](auto rule) { return grown({.replace = true, .weighted = true}, rule); });
}

/// Weights of 1, with and without a bound.
struct unbounded_walk {
  [[nodiscard]] float weight(auto const&, auto const&) const { return 1; }
};
struct bounded_walk : unbounded_walk {
  [[nodiscard]] float bound(auto const&) const { return 1; }
};

/// Dynamic walks have no plan: their walks alone show the rule.
template <class Walk>
sample_words dynamic_words(sampling_rule rule)
{
  auto const starts = starts_everywhere(input(), 2);
  walks const out = run_dynamic_walk(input(), Walk{}, starts, {.length = 12, .rule = rule});
  return {out.vertices.begin(), out.vertices.end()};
}

TEST(Rules, OfDynamicWalks)
{
  EXPECT_NE(dynamic_words<bounded_walk>(scan), dynamic_words<bounded_walk>(reject));
  EXPECT_EQ(dynamic_words<bounded_walk>(automatic), dynamic_words<bounded_walk>(reject));
  EXPECT_EQ(dynamic_words<unbounded_walk>(automatic), dynamic_words<unbounded_walk>(scan));
  EXPECT_EQ(dynamic_words<unbounded_walk>(scan), dynamic_words<bounded_walk>(scan));
  EXPECT_EQ(message_of<argument_error>([] { (void)dynamic_words<unbounded_walk>(reject); }),
            "rule reject: not for a dynamic walk without bound(state), expected auto or scan");
  for (auto const rule : {uniform, alias, its}) {
    EXPECT_EQ(message_of<argument_error>([&] { (void)dynamic_words<bounded_walk>(rule); }),
              "rule " + std::string(to_string(rule)) + ": not for dynamic walks, expected auto, scan or reject");
  }
}

}  // namespace
}  // namespace tendril::test
