// What each suite measures.

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tendril/engine/applications/apps.hpp>
#include <tendril/engine/applications/cpu.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/io.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include "base/parallel.hpp"  // num_threads
#include "bench/ceilings.hpp"
#include "bench/compressed.hpp"
#include "bench/dist.hpp"
#include "bench/features.hpp"
#include "bench/forms.hpp"
#include "bench/gpu_applications.hpp"
#include "bench/gpu_features.hpp"
#include "bench/gpu_khop.hpp"
#include "bench/gpu_layers.hpp"
#include "bench/gpu_minibatch_picks.hpp"
#include "bench/gpu_placed.hpp"
#include "bench/gpu_placed_walks.hpp"
#include "bench/gpu_replicas.hpp"
#include "bench/gpu_samplers.hpp"
#include "bench/gpu_stream.hpp"
#include "bench/gpu_subgraphs.hpp"
#include "bench/gpu_walks.hpp"
#include "bench/measure.hpp"
#include "bench/minibatch.hpp"
#include "bench/placement_policies.hpp"
#include "bench/prefixes.hpp"
#include "bench/report.hpp"
#include "bench/rmat_spec.hpp"
#include "bench/scratch_folder.hpp"
#include "bench/start_vertices.hpp"
#include "bench/tables.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_gathers = 40'000'000;
constexpr std::int64_t num_walkers = 1 << 19U;
constexpr std::int64_t walk_length = 80;
constexpr std::int64_t num_roots = 40'000;

constexpr char pairs[] = "two dependent gathers";
constexpr char gathers[] = "independent gathers";

/// A graph and what jobs on it share.
struct bed {
  graph g;
  std::string name;
  std::vector<vertex_id> starts;
  buffer<vertex_id> rows;
  buffer<std::int32_t> lengths;
};

std::shared_ptr<bed> make_bed(options const& o)
{
  auto out = std::make_shared<bed>();
  bool const is_file = !is_rmat_spec(o.graph);
  out->g = is_file ? read_graph(o.graph, {}, o.exec) : make_rmat(o.graph, o.exec);
  out->name = is_file ? std::filesystem::path(o.graph).filename().string() : o.graph;
  out->starts = make_starts(out->g.csr(), num_walkers);
  out->rows = buffer<vertex_id>(num_walkers * (walk_length + 1));
  out->lengths = buffer<std::int32_t>(num_walkers);
  return out;
}

cpu_exec with_threads(cpu_exec exec, int threads)
{
  exec.num_threads = threads;
  return exec;
}

/// Steps a second of a planned walk; its tables are built before the clock starts.
std::function<double()> walk_job(std::shared_ptr<bed> const& b, walk_params params, cpu_exec const& exec)
{
  params.length = walk_length;
  auto const w = std::make_shared<walker>(b->g, params, std::int64_t{1} << 24U, exec);
  return [b, w, exec] {
    double const seconds = seconds_of([&] { w->run_into(b->starts, 0, b->rows.data(), b->lengths.data(), exec); });
    std::int64_t steps = 0;
    for (auto const l : b->lengths) { steps += l; }
    return static_cast<double>(steps) / seconds;
  };
}

std::function<double()> khop_job(std::shared_ptr<bed> const& b, khop_params params, cpu_exec const& exec)
{
  return [b, params, exec] {
    std::int64_t slots = 0;
    double const seconds = seconds_of([&] {
      auto const trees =
          khop_sample(b->g, std::span(b->starts).first(static_cast<std::size_t>(num_roots)), params, exec);
      for (auto const& hop : trees.hops) { slots += hop.vertices.size(); }
    });
    return static_cast<double>(slots) / seconds;
  };
}

void add_ceilings(session& s, std::shared_ptr<bed> const& b, int threads)
{
  s.add("sequential read", "1 GiB", "B/s", "", [threads] { return sequential_read(std::int64_t{1} << 30U, threads); });
  s.add(gathers, "4 bytes, from all neighbours", "gathers/s", "",
        [b, threads] { return independent_gathers(b->g.csr(), num_gathers, threads); });
  s.add(pairs, "offset pair, then neighbour", "pairs/s", "",
        [b, threads] { return dependent_gather_pairs(b->g.csr(), num_gathers, threads); });
}

std::string describe(sampling_plan const& plan)
{
  return fmt::format("{}/{}", to_string(plan.rule), to_string(plan.layout));
}

void add_walk(session& s, std::shared_ptr<bed> const& b, std::string const& name, walk_params const& params,
              std::string const& text, std::string const& ceiling, cpu_exec const& exec)
{
  auto const plan = plan_walk(b->g, params, std::int64_t{1} << 24U, exec);
  s.add(name, text.empty() ? describe(plan) : fmt::format("{}; {}", text, describe(plan)), "steps/s", ceiling,
        walk_job(b, params, exec));
}

std::vector<row> run_ceilings(options const& o)
{
  auto const b = make_bed(o);
  session s(b->name, o.repeats);
  add_ceilings(s, b, base::num_threads(o.exec));
  return s.run();
}

std::vector<row> run_walks(options const& o)
{
  auto const b = make_bed(o);
  int const threads = base::num_threads(o.exec);
  session s(b->name, o.repeats);
  add_ceilings(s, b, threads);
  s.add("uniform, one walker at a time", "plain loop", "steps/s", pairs,
        [b, threads] { return plain_walk(b->g.csr(), std::span(b->starts).first(1U << 17U), walk_length, threads); });
  walk_params p;
  add_walk(s, b, "uniform", p, "", pairs, o.exec);
  p.stop_prob = 0.2;
  add_walk(s, b, "ppr", p, "stop 0.2", pairs, o.exec);
  p.stop_prob = 0;
  p.restart_prob = 0.1;
  add_walk(s, b, "restart", p, "restart 0.1", pairs, o.exec);
  p.restart_prob = 0;
  if (b->g.has_edge_labels()) {
    p.metapath = {0, 1, 2, 3, 4};
    add_walk(s, b, "metapath", p, "labels 0..4", pairs, o.exec);
    p.metapath.clear();
  }
  p.p = 2;
  p.q = 0.5;
  add_walk(s, b, "node2vec", p, "p=2 q=0.5", pairs, o.exec);
  if (b->g.has_weights()) {
    p.weighted = true;
    add_walk(s, b, "weighted node2vec", p, "p=2 q=0.5", pairs, o.exec);
    p.p = p.q = 1;
    add_walk(s, b, "weighted", p, "", pairs, o.exec);
    p.rule = sampling_rule::reject;
    add_walk(s, b, "weighted by rejection", p, "", pairs, o.exec);
    p.rule = sampling_rule::its;
    add_walk(s, b, "weighted by inverse transform", p, "", pairs, o.exec);
  }
  auto rows = s.run();
  append_ratio(rows, "uniform", "uniform, one walker at a time", 3);
  append_ratio(rows, "weighted", "uniform", 0.5);
  append_ratio(rows, "node2vec", "uniform", 0.15);
  append_ratio(rows, "weighted node2vec", "uniform", 0.12);
  return rows;
}

std::vector<row> run_sample(options const& o)
{
  auto const b = make_bed(o);
  session s(b->name, o.repeats);
  add_ceilings(s, b, base::num_threads(o.exec));
  khop_params k;
  s.add("k-hop (25,10)", "40,000 roots", "edges/s", gathers, khop_job(b, k, o.exec));
  k.replace = true;
  s.add("k-hop (25,10) with replacement", "40,000 roots", "edges/s", gathers, khop_job(b, k, o.exec));
  s.add("k-hop (25,10) by the general API", "40,000 roots, with replacement", "edges/s", gathers, [b, exec = o.exec] {
    auto const roots = std::span<vertex_id const>(b->starts).first(static_cast<std::size_t>(num_roots));
    double const seconds = seconds_of([&] {
      (void)run_application(b->g, apps::khop{2, {25, 10}}, roots, 1, {}, exec);
    });
    return static_cast<double>(num_roots * 275) / seconds;
  });
  k.replace = false;
  k.fanouts = {15, 10, 5};
  s.add("k-hop (15,10,5)", "40,000 roots", "edges/s", gathers, khop_job(b, k, o.exec));
  if (b->g.has_weights()) {
    k.fanouts = {25, 10};
    k.weighted = k.replace = true;
    s.add("weighted k-hop (25,10) with replacement", "40,000 roots", "edges/s", gathers, khop_job(b, k, o.exec));
  }
  return s.run();
}

std::vector<row> run_scaling(options const& o)
{
  auto const b = make_bed(o);
  int const threads = base::num_threads(o.exec);
  session s(b->name, o.repeats);
  walk_params weighted;
  weighted.weighted = b->g.has_weights();
  std::vector<std::string> names;
  for (int const t : {1, threads}) {
    auto const exec = with_threads(o.exec, t);
    auto const on = [&](char const* job) { return fmt::format("{} on {} thread{}", job, t, t == 1 ? "" : "s"); };
    s.add(on(pairs), "", "pairs/s", "", [b, t] { return dependent_gather_pairs(b->g.csr(), num_gathers, t); });
    add_walk(s, b, on("uniform"), {}, "", on(pairs), exec);
    add_walk(s, b, on("weighted"), weighted, "", on(pairs), exec);
    s.add(on("k-hop (25,10)"), "40,000 roots", "edges/s", "", khop_job(b, {}, exec));
  }
  auto rows = s.run();
  for (char const* job : {pairs, "uniform", "weighted", "k-hop (25,10)"}) {
    append_ratio(rows, fmt::format("{} on {} threads", job, threads), fmt::format("{} on 1 thread", job),
                 0.85 * threads);
  }
  return rows;
}

std::vector<row> run_store(options const& o)
{
  auto const b = make_bed(o);
  auto const folder = std::make_shared<scratch_folder>();
  std::string const text = folder->path / "edges.txt";
  std::string const native = folder->path / "graph.safetensors";
  std::string const small = folder->path / "small.safetensors";
  graph_arrays bare;
  bare.indptr = b->g.arrays().indptr;
  bare.indices = b->g.arrays().indices;
  write_graph(graph(bare), text, {}, o.exec);
  write_graph(b->g, native, {}, o.exec);
  write_graph(generate_regular(regular_graph::ring, 1000), small, {}, o.exec);
  auto const bytes = static_cast<double>(std::filesystem::file_size(text));

  session s(b->name, o.repeats);
  for (int const t : {1, base::num_threads(o.exec)}) {
    auto const exec = with_threads(o.exec, t);
    s.add(fmt::format("reading a text edge list on {} thread{}", t, t == 1 ? "" : "s"), "with its build", "B/s", "",
          [folder, text, exec, bytes] { return bytes / seconds_of([&] { (void)read_graph(text, {}, exec); }); });
  }
  auto const open = [folder](std::string const& path) {
    return [folder, path] { return seconds_of([&] { (void)read_graph(path); }) * 1e3; };
  };
  s.add("opening a small safetensors graph", "1,000 vertices", "ms", "", open(small));
  s.add("opening this graph as safetensors", fmt::format("{} MB", b->g.num_bytes() / 1'000'000), "ms", "",
        open(native));
  return s.run();
}

using suite_function = std::vector<row> (*)(options const&);

/// Where a suite runs: null means not there.
struct suite {
  char const* name;
  suite_function on_cpu, on_gpu;
  char const* gpu_graph;  ///< The graphs of its goals on a GPU.
};

constexpr char main_graph[] = "g1";

constexpr std::array all_suites{
    suite{"ceilings", run_ceilings, nullptr, main_graph},
    suite{"walks", run_walks, run_gpu_walks, "g1,g1l,g2,rmat24"},
    suite{"sample", run_sample, run_gpu_khop, main_graph},
    suite{"scaling", run_scaling, nullptr, main_graph},
    suite{"store", run_store, nullptr, main_graph},
    suite{"stream", nullptr, run_stream, main_graph},
    suite{"published", nullptr, run_published, "youtube,patents,livejournal,orkut,twitter,friendster"},
    suite{"samplers", nullptr, run_samplers, main_graph},
    suite{"layers", nullptr, run_gpu_layers, main_graph},
    suite{"applications", nullptr, run_gpu_applications, "g1,g2"},
    suite{"subgraphs", nullptr, run_gpu_subgraphs, main_graph},
    suite{"minibatch", run_minibatch, run_minibatch, "rmat24,products,reddit,papers100m"},
    suite{"compressed", run_compressed, run_compressed, "rmat24,web:33554432x16:runs"},
    suite{"placed", nullptr, run_gpu_placed, "rmat24"},
    suite{"policies", run_policies, nullptr, main_graph},
    suite{"placed-walks", nullptr, run_gpu_placed_walks, "rmat24"},
    suite{"forms", run_forms, run_forms, "rmat24"},
    suite{"prefixes", run_prefixes, run_prefixes, "rmat24,web:33554432x16"},
    suite{"tables", run_tables, nullptr, main_graph},
    suite{"features", run_features, run_gpu_features, main_graph},
    suite{"dist", run_dist, run_gpu_replicas, main_graph},
    suite{"minibatch-picks", nullptr, run_gpu_minibatch_picks, "reddit"},
};

suite const& find_suite(std::string const& name)
{
  for (auto const& s : all_suites) {
    if (name == s.name) { return s; }
  }
  throw argument_error(fmt::format("bench: no suite '{}', expected one of {}", name, fmt::join(suites(), ", ")));
}

}  // namespace

std::vector<std::string> suites()
{
  std::vector<std::string> names;
  names.reserve(all_suites.size());
  for (auto const& s : all_suites) { names.emplace_back(s.name); }
  return names;
}

std::string default_graph(std::string const& suite, bool on_gpu)
{
  return on_gpu ? find_suite(suite).gpu_graph : suite == "dist" ? "rmat:20:16" : "rmat:22:16";
}

std::vector<row> run(options const& given)
{
  options o = given;
  suite const& which = find_suite(o.suite);
  if (o.graph.empty()) { o.graph = default_graph(o.suite, o.gpu.has_value()); }
  if (o.repeats < 1) { throw argument_error(fmt::format("repeats: {}, expected 1 or more", o.repeats)); }
  suite_function const function = o.gpu.has_value() ? which.on_gpu : which.on_cpu;
  if (function == nullptr) {
    throw argument_error(o.gpu.has_value() ? fmt::format("bench {}: runs on the CPU, expected --device cpu", o.suite)
                                           : fmt::format("bench {}: runs on a GPU, expected --device cuda", o.suite));
  }
  if (o.gpus.size() > 1 && function != run_gpu_replicas) {
    throw argument_error(
        fmt::format("bench {}: {} GPUs, expected one: only dist measures several", o.suite, o.gpus.size()));
  }
  if (o.ranks != nullptr && function != run_dist) {
    throw argument_error(
        fmt::format("bench {}: started by mpirun as {} ranks, expected one process: only dist on CPUs "
                    "measures ranks",
                    o.suite, o.ranks->size()));
  }
  if (!o.hosts.empty() && function != run_dist && function != run_gpu_replicas) {
    throw argument_error(fmt::format("--simulate: suite {}, expected dist", o.suite));
  }
  if (o.ranks != nullptr && !o.hosts.empty()) {
    throw argument_error("--simulate: started by mpirun, expected one process, which plans from what it measures");
  }
  std::vector<row> rows = function(o);
  if (!o.quiet) { print_table(rows); }
  if (!o.json_path.empty() && (o.ranks == nullptr || o.ranks->rank() == 0)) {
    std::string gpu_name = o.gpu.has_value() ? describe_gpu(*o.gpu).name : std::string();
    if (o.gpus.size() > 1) { gpu_name = fmt::format("{} x {}", o.gpus.size(), gpu_name); }
    write_result_file(o.json_path, rows, base::num_threads(o.exec), gpu_name);
  }
  return rows;
}

}  // namespace tendril::bench
