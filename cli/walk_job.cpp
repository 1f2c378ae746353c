#include "walk_job.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/starts.hpp>

#include "help.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

constexpr std::array<std::string_view, 6> apps{"deepwalk", "ppr", "restart", "node2vec", "metapath", "multidim"};

constexpr std::int64_t default_length = 80;
constexpr std::int64_t default_walks = 10;  // from every vertex, as DeepWalk and node2vec do
constexpr std::int64_t default_num_roots = 100;
constexpr double default_stop_prob = 0.15;  // PageRank's damping of 0.85
constexpr double default_restart_prob = 0.15;

/// The entries of a metapath: numbers, or names where the graph has them.
std::vector<label_id> parse_metapath(std::string const& list, std::vector<std::string> const& names)
{
  std::vector<label_id> labels;
  for (auto const& part : split(list)) {
    auto const named = std::find(names.begin(), names.end(), part);
    if (named != names.end()) {
      labels.push_back(static_cast<label_id>(named - names.begin()));
      continue;
    }
    std::uint16_t number = 0;
    auto const [end, failure] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (failure != std::errc{} || end != part.data() + part.size()) {
      throw argument_error(fmt::format("--metapath: '{}', expected a number from 0 to 65535{}", part,
                                       names.empty() ? std::string(" (this graph has no names)")
                                                     : fmt::format(" or one of {}", fmt::join(names, ", "))));
    }
    labels.push_back(number);
  }
  return labels;
}

}  // namespace

bool walk_job::is_app(std::string_view name) { return std::find(apps.begin(), apps.end(), name) != apps.end(); }

void walk_job::add_to(CLI::App& verb)
{
  auto const group = "Walks";
  verb.add_option("--length", length, "Steps per walk [80; metapath: once through the schema; multidim: 100]")
      ->type_name("L")
      ->group(group);
  verb.add_option("--walks", walks_per_start,
                  "Walks from each start [10; 1 with --starts or --num-starts; multidim: 1]")
      ->type_name("W")
      ->group(group);
  auto* const file =
      verb.add_option("--starts", starts_file,
                      "Start from the vertices in FILE (.npy, or text with one id per line; -: standard input)")
          ->type_name("FILE")
          ->group(group);
  verb.add_option("--num-starts", num_starts, "Start from N vertices, drawn at random with replacement")
      ->type_name("N")
      ->group(group)
      ->excludes(file);
  verb.add_option("--p", p, "node2vec: return parameter; the step back has weight 1/P [1]")
      ->type_name("P")
      ->group(group);
  verb.add_option("--q", q, "node2vec: in-out parameter; a step away has weight 1/Q [1]")->type_name("Q")->group(group);
  verb.add_option("--stop-prob", stop_prob, "Probability that a walk ends before each step [0; ppr: 0.15]")
      ->type_name("X")
      ->group(group);
  verb.add_option("--restart-prob", restart_prob,
                  "Probability of a jump to the start instead of a step [0; restart: 0.15]")
      ->type_name("X")
      ->group(group);
  verb.add_option("--metapath", metapath,
                  "Sequence of labels or types to follow, repeated: numbers or names, as in 0,1,2")
      ->type_name("LIST")
      ->group(group);
  verb.add_option("--metapath-of", metapath_of,
                  "Meaning of --metapath: edges (edge labels) or vertices (vertex types) [edges]")
      ->check(one_of_names<metapath_kind>())
      ->type_name("WHAT")
      ->group(group);
  verb.add_option("--dead-end", dead_end, "At a dead end: stop the walk, or repeat the vertex: stop or repeat [stop]")
      ->check(one_of_names<tendril::dead_end>())
      ->type_name("WHAT")
      ->group(group);
  verb.add_option("--roots", roots, "multidim: roots per sample; each start is then a set of M vertices [100]")
      ->type_name("M")
      ->group(group);
  verb.add_option("--root-choice", root_choice,
                  "multidim: choice of a root: degree (in proportion to it) or uniform [degree]")
      ->check(one_of_names<tendril::root_choice>())
      ->type_name("HOW")
      ->group(group);
  verb.add_option("--first-walk", first_walk, "Logical id of the first walk [0]")->type_name("ID")->group(group);
  verb.add_option("--gpu-memory", gpu_memory,
                  "cuda: maximum GPU memory for batches of walks, as in 64M [half of the free memory]")
      ->type_name("BYTES")
      ->group(group);
  graph_room.add_to(verb, group);
  verb.add_option("--memory", memory,
                  "cpu: for a mapped graph that memory does not hold: memory for its pages and for walks, as in 8G; "
                  "the graph is then read in order, region by region [pages are read where walkers are]")
      ->type_name("BYTES")
      ->group(group);
}

void walk_job::check() const
{
  (void)gpu_bytes();
  (void)graph_bytes();
  (void)host_bytes();
  if (!is_app(app)) {
    throw argument_error(fmt::format("--app: '{}', expected one of {}", app, fmt::join(apps, ", ")));
  }
  expect_app(p.has_value(), "--p", "node2vec", app);
  expect_app(q.has_value(), "--q", "node2vec", app);
  expect_app(!metapath.empty(), "--metapath", "metapath", app);
  expect_app(roots.has_value(), "--roots", "multidim", app);
  expect_app(root_choice.has_value(), "--root-choice", "multidim", app);
  if (first_walk < 0) { throw argument_error(fmt::format("--first-walk: {}, expected 0 or more", first_walk)); }
}

walk_params walk_job::without_labels() const
{
  check();
  walk_params params;
  params.length = length.value_or(default_length);
  params.weighted = weighted;
  params.stop_prob = stop_prob.value_or(app == "ppr" ? default_stop_prob : 0);
  params.restart_prob = restart_prob.value_or(app == "restart" ? default_restart_prob : 0);
  params.p = p.value_or(1);
  params.q = q.value_or(1);
  params.second_order = app == "node2vec";
  params.dead_ends = parse_name<tendril::dead_end>("--dead-end", dead_end);
  params.rule = parse_name<sampling_rule>("--rule", rule);
  params.table_bytes = parse_table_bytes(table_bytes);
  if (!params.table_bytes && !memory.empty()) { params.table_bytes = host_bytes() / 4; }
  params.seed = seed;
  if (app == "metapath") {
    if (metapath.empty()) { throw argument_error("--app metapath: --metapath is missing, expected it"); }
    params.metapath_of = parse_name<metapath_kind>("--metapath-of", metapath_of);
    params.metapath.resize(split(metapath).size());
    // As many steps as the schema has edges.
    auto const entries = static_cast<std::int64_t>(params.metapath.size());
    bool const of_edges = params.metapath_of == metapath_kind::edge_labels;
    params.length = length.value_or(of_edges ? entries : std::max<std::int64_t>(entries - 1, 1));
  }
  return params;
}

void walk_job::validate() const
{
  if (is_multidim()) {
    tendril::validate(multidim(), num_roots());
  } else {
    tendril::validate(without_labels());
  }
}

walk_params walk_job::params(graph_facts const& g) const
{
  walk_params params = without_labels();
  if (app == "metapath") {
    bool const of_edges = params.metapath_of == metapath_kind::edge_labels;
    params.metapath = parse_metapath(metapath, of_edges ? g.edge_label_names : g.node_type_names);
  }
  return params;
}

multidim_params walk_job::multidim() const
{
  check();
  struct option {
    bool given;
    std::string_view name;
  };
  for (auto const& [given, name] :
       {option{weighted, "--weighted"}, option{stop_prob.has_value(), "--stop-prob"},
        option{restart_prob.has_value(), "--restart-prob"}, option{dead_end != "stop", "--dead-end"},
        option{rule != "auto", "--rule"}, option{!table_bytes.empty(), "--table-bytes"}}) {
    expect_app(given, name, "another application", app);
  }
  return {length.value_or(multidim_params{}.length),
          parse_name<tendril::root_choice>("--root-choice", root_choice.value_or("degree")), seed};
}

std::int64_t walk_job::num_roots() const
{
  std::int64_t const number = roots.value_or(default_num_roots);
  if (number < 1 || number > max_num_roots) {
    throw argument_error(fmt::format("--roots: {}, expected 1 to {} roots a sample", number, max_num_roots));
  }
  return number;
}

std::int64_t walk_job::host_bytes() const
{
  if (memory.empty()) { return 0; }
  if (!gpus().empty()) { throw argument_error("--memory: --device is cuda, expected cpu"); }
  expect_app(is_multidim(), "--memory", "another application", app);
  constexpr std::int64_t least = 4096;
  std::int64_t const bytes = parse_bytes(memory, "--memory");
  if (bytes < least) { throw argument_error(fmt::format("--memory: {}, expected at least {}", bytes, least)); }
  return bytes;
}

std::int64_t walk_job::gpu_bytes() const
{
  bool const on_gpu = !gpus().empty();
  if (gpu_memory.empty()) { return 0; }
  if (!on_gpu) { throw argument_error("--gpu-memory: --device is cpu, expected cuda"); }
  return parse_bytes(gpu_memory, "--gpu-memory");
}

std::int64_t walk_job::walks_each() const
{
  bool const from_every_vertex = starts_file.empty() && !num_starts.has_value() && !is_multidim();
  std::int64_t const walks = walks_per_start.value_or(from_every_vertex ? default_walks : 1);
  if (walks < 1) { throw argument_error(fmt::format("--walks: {}, expected 1 or more", walks)); }
  return walks;
}

std::int64_t walk_job::count_walks(std::int64_t num_starts_there) const
{
  std::int64_t const walks = checked_product("--walks: walks from all starts", num_starts_there, walks_each());
  (void)checked_sum("--first-walk: ids of walks", first_walk, walks);
  return walks;
}

std::int64_t walk_job::checked_num_starts() const
{
  if (*num_starts < 1) { throw argument_error(fmt::format("--num-starts: {}, expected 1 or more", *num_starts)); }
  return *num_starts;
}

std::optional<buffer<vertex_id>> walk_job::starts(std::int64_t num_vertices, cpu_exec const& exec) const
{
  if (!starts_file.empty()) { return read_vertices(starts_file, num_vertices, exec); }
  if (num_starts.has_value()) { return random_vertices(num_vertices, checked_num_starts(), seed, exec); }
  return std::nullopt;
}

buffer<vertex_id> walk_job::root_sets(graph const& g, cpu_exec const& exec) const
{
  std::int64_t const m = num_roots();
  if (!starts_file.empty()) {
    auto vertices = read_vertices(starts_file, g.num_vertices(), exec);
    if (vertices.size() % m != 0) {
      throw argument_error(
          fmt::format("--starts: {} vertices, expected a multiple of --roots, {}", vertices.size(), m));
    }
    return vertices;
  }
  std::int64_t const sets = num_starts.has_value() ? checked_num_starts() : (g.num_vertices() + m - 1) / m;
  return random_vertices(g.num_vertices(), checked_product("--num-starts: roots of all sets", sets, m), seed, exec);
}

std::string describe(std::string const& app, walk_params const& params)
{
  std::string text = app;
  if (params.weighted) { text += ", weighted"; }
  if (params.second_order) { text += fmt::format(", p {}, q {}", params.p, params.q); }
  if (params.stop_prob > 0) { text += fmt::format(", stop probability {}", params.stop_prob); }
  if (params.restart_prob > 0) { text += fmt::format(", restart probability {}", params.restart_prob); }
  if (!params.metapath.empty()) {
    text += fmt::format(", {} {}", params.metapath_of == metapath_kind::edge_labels ? "edge labels" : "vertex types",
                        fmt::join(params.metapath, ","));
  }
  return text + fmt::format(", {}", counted(params.length, "step", "steps"));
}

std::string describe(multidim_params const& params, std::int64_t num_roots)
{
  return fmt::format("multidim, {} chosen {}, {}", counted(num_roots, "root", "roots"),
                     params.choose == root_choice::uniform ? "uniformly" : "by degree",
                     counted(params.length, "step", "steps"));
}

json params_json(multidim_params const& params, std::int64_t num_roots)
{
  return {{"length", params.length}, {"num_roots", num_roots}, {"root_choice", to_string(params.choose)}};
}

json params_json(walk_params const& params)
{
  json document{{"length", params.length}, {"weighted", params.weighted}};
  if (params.second_order) {
    document["p"] = params.p;
    document["q"] = params.q;
  }
  if (params.stop_prob > 0) { document["stop_prob"] = params.stop_prob; }
  if (params.restart_prob > 0) { document["restart_prob"] = params.restart_prob; }
  if (!params.metapath.empty()) {
    document["metapath"] = params.metapath;
    document["metapath_of"] = to_string(params.metapath_of);
  }
  document["dead_end"] = to_string(params.dead_ends);
  document["rule"] = to_string(params.rule);
  return document;
}

}  // namespace tendril::cli
