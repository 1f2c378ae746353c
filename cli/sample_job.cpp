#include "sample_job.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tendril/error.hpp>
#include <tendril/starts.hpp>

#include "help.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

constexpr std::array<std::string_view, 2> apps{"khop", "minibatch"};
constexpr std::int64_t default_batch_size = 1024;

std::vector<std::int64_t> parse_fanouts(std::string const& list)
{
  return parse_integers(list, "--fanouts", "neighbours of each hop as in 25,10, or -1 for all");
}

subgraph_type parse_subgraph(std::string const& name)
{
  if (name == "bidirectional") { return subgraph_type::bidirectional; }
  return name == "induced" ? subgraph_type::induced : subgraph_type::directional;
}

}  // namespace

bool sample_job::is_app(std::string_view name) { return std::find(apps.begin(), apps.end(), name) != apps.end(); }

void sample_job::add_to(CLI::App& verb)
{
  auto const group = "Samples";
  verb.add_option("--fanouts", fanouts, "Neighbours of each vertex, hop by hop; -1: all of them [25,10]")
      ->type_name("LIST")
      ->group(group);
  auto* const file =
      verb.add_option("--seeds", seeds_file, "Seeds from FILE (.npy, or text with one id a line) [every vertex]")
          ->type_name("FILE")
          ->group(group);
  verb.add_option("--num-seeds", num_seeds, "N different seeds drawn at random")
      ->type_name("N")
      ->group(group)
      ->excludes(file);
  verb.add_flag("--replace", replace, "Draw with replacement")->group(group);
  verb.add_flag("--edges", edges, "khop: also write the position of each sampled edge")->group(group);
  verb.add_option("--first-root", first_root, "khop: logical id of the first seed [0]")->type_name("ID")->group(group);
  verb.add_option("--batch-size", batch_size, "minibatch: seeds of each batch [1024]")->type_name("B")->group(group);
  verb.add_option("--first-batch", first_batch, "minibatch: number of the first batch [0]")
      ->type_name("ID")
      ->group(group);
  verb.add_flag("--disjoint", disjoint, "minibatch: one subgraph a seed, no vertex shared")->group(group);
  verb.add_option("--subgraph", subgraph, "minibatch: directional, bidirectional or induced [directional]")
      ->check(one_of({"directional", "bidirectional", "induced"}))
      ->type_name("TYPE")
      ->group(group);
}

void sample_job::check() const
{
  if (!is_app(app)) {
    throw argument_error(fmt::format("--app: '{}', expected one of {}", app, fmt::join(apps, ", ")));
  }
  if (app != "khop") { expect_cpu(device, "mini-batches are made"); }
  expect_app(edges, "--edges", "khop", app);
  expect_app(first_root != 0, "--first-root", "khop", app);
  expect_app(rule != "auto", "--rule", "khop", app);
  expect_app(batch_size.has_value(), "--batch-size", "minibatch", app);
  expect_app(first_batch != 0, "--first-batch", "minibatch", app);
  expect_app(disjoint, "--disjoint", "minibatch", app);
  expect_app(subgraph != "directional", "--subgraph", "minibatch", app);
  if (first_root < 0) { throw argument_error(fmt::format("--first-root: {}, expected 0 or more", first_root)); }
  if (first_batch < 0) { throw argument_error(fmt::format("--first-batch: {}, expected 0 or more", first_batch)); }
  if (seeds_each() < 1) { throw argument_error(fmt::format("--batch-size: {}, expected 1 or more", seeds_each())); }
}

khop_params sample_job::khop() const
{
  khop_params params;
  params.fanouts = parse_fanouts(fanouts);
  params.replace = replace;
  params.weighted = weighted;
  params.rule = parse_sampling_rule(rule);
  params.seed = seed;
  return params;
}

minibatch_params sample_job::minibatch() const
{
  minibatch_params params;
  params.num_neighbors = parse_fanouts(fanouts);
  params.replace = replace;
  params.weighted = weighted;
  params.disjoint = disjoint;
  params.subgraph = parse_subgraph(subgraph);
  params.seed = seed;
  params.batch = static_cast<std::uint64_t>(first_batch);
  return params;
}

std::int64_t sample_job::seeds_each() const { return batch_size.value_or(default_batch_size); }

buffer<vertex_id> sample_job::seeds(graph const& g, cpu_exec const& exec) const
{
  if (!seeds_file.empty()) { return read_vertices(seeds_file, g.num_vertices(), exec); }
  if (num_seeds.has_value()) {
    if (*num_seeds < 1 || *num_seeds > g.num_vertices()) {
      throw argument_error(
          fmt::format("--num-seeds: {}, expected 1 to {}, the vertices of the graph", *num_seeds, g.num_vertices()));
    }
    return random_distinct_vertices(g.num_vertices(), *num_seeds, seed, exec);
  }
  buffer<vertex_id> all(g.num_vertices());
  std::iota(all.begin(), all.end(), vertex_id{0});
  return all;
}

std::string sample_job::describe() const
{
  std::string text = fmt::format("{} {}, {}", app, fanouts, replace ? "with replacement" : "without replacement");
  if (weighted) { text += ", weighted"; }
  if (app == "minibatch") {
    text += fmt::format(", {} a batch", counted(seeds_each(), "seed", "seeds"));
    if (disjoint) { text += ", disjoint"; }
    if (subgraph != "directional") { text += ", " + subgraph; }
  }
  return text;
}

json sample_job::params_json() const
{
  json document{{"fanouts", parse_fanouts(fanouts)}, {"replace", replace}, {"weighted", weighted}};
  if (app == "khop") {
    document["rule"] = rule;
    document["first_root"] = first_root;
  } else {
    document["batch_size"] = seeds_each();
    document["first_batch"] = first_batch;
    document["disjoint"] = disjoint;
    document["subgraph"] = subgraph;
  }
  return document;
}

}  // namespace tendril::cli
