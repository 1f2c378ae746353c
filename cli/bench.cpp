// `tendril bench`: this machine's ceilings, then each job as a figure and as a share of its ceiling.

#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "bench/bench.hpp"
#include "common.hpp"
#include "ranks.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace tendril::cli {
namespace {

struct bench_verb {
  bench::options options;
  std::string device = "cpu";
  std::string hosts;
  int threads = 0;
};

}  // namespace

void add_bench(CLI::App& application)
{
  auto const verb = std::make_shared<bench_verb>();
  CLI::App* const app =
      application.add_subcommand("bench", "Measure this machine's ceilings, and compare jobs with them");
  app->add_option("SUITE", verb->options.suite, fmt::format("What to measure: {}", fmt::join(bench::suites(), ", ")))
      ->required();
  app->add_option("--graph", verb->options.graph,
                  "rmat:SCALE[:EDGE_FACTOR] or a file; for compressed, forms, policies, prefixes and on a GPU also "
                  "web:VERTICES[xEDGE_FACTOR][:FORM]; on a "
                  "GPU also g1, g1l, g2, rmat24, youtube, patents, livejournal, orkut, "
                  "twitter, friendster, products, reddit, papers100m; separate several by commas [rmat:22:16, for dist "
                  "rmat:20:16; on a GPU the graphs of the suite's goals]")
      ->type_name("GRAPH");
  app->add_option("--repeats", verb->options.repeats, "Number of rounds; results are medians over the rounds")
      ->capture_default_str();
  app->add_option(
      "--only", verb->options.only,
      "Compressed, forms, and walks and minibatch on a GPU: run only ceilings, and jobs (executors) whose "
      "name contains this; dist: only uniform or node2vec walks, on GPUs only \"copies\" of the graph, on several "
      "\"one graph\" or \"one table\" over all, \"parts\", or \"parts on 4\" GPUs");
  app->add_option(
         "--gpu-share", verb->options.gpu_share,
         "placed and placed-walks: shares of the neighbours' lists that lie on the GPU; the others lie in host memory")
      ->type_name("LIST")
      ->capture_default_str();
  app->add_option("--simulate", verb->hosts,
                  "dist: also plan for these numbers of hosts, from what is measured here, as in 2,16,1000; on several "
                  "GPUs for so many GPUs")
      ->type_name("HOSTS");
  app->add_option("--bandwidth", verb->options.bandwidth, "dist: GB/s that a host, or GPU, of the plan sends")
      ->capture_default_str();
  app->add_option("--latency", verb->options.latency, "dist: microseconds of a message of the plan")
      ->capture_default_str();
  app->add_option("--device", verb->device,
                  "cpu, cuda or cuda:N; stream, published, samplers, layers, placed and placed-walks need a GPU; dist "
                  "also compares several, cuda:0,1 or cuda:all, with one")
      ->capture_default_str();
  app->add_option("--threads", verb->threads, "Number of threads; 0: every core")->capture_default_str();
  app->add_option("--json", verb->options.json_path, "Also write the results to this file")->type_name("OUT");
  app->footer(
      "Examples:\n"
      "  tendril bench ceilings --graph rmat:20\n"
      "  tendril bench walks --json bench/results/cpu-walks.json\n"
      "  tendril bench sample --graph graph.safetensors --threads 1\n"
      "  tendril bench forms --graph graph.safetensors\n"
      "  tendril bench walks --device cuda --graph g1,g2\n"
      "  tendril bench stream --device cuda --graph g1\n"
      "  tendril bench placed --device cuda --graph rmat24 --gpu-share 0.5\n"
      "  tendril bench dist --simulate 2,16,1000 --bandwidth 25\n"
      "  tendril bench dist --device cuda:all\n"
      "  tendril bench dist --device cuda:all --graph rmat24 --simulate 8,32 --bandwidth 50\n"
      "  mpirun -n 2 tendril bench dist --threads 1");
  app->callback([verb] {
    verb->options.ranks = job_ranks();
    verb->options.gpus = parse_devices(verb->device);
    if (!verb->options.gpus.empty()) { verb->options.gpu = verb->options.gpus[0]; }
    verb->options.exec.num_threads = verb->threads;
    if (!verb->hosts.empty()) {
      verb->options.hosts = parse_integers(verb->hosts, "--simulate", "numbers of hosts, as in 2,16,1000");
    }
    bench::run(verb->options);
  });
}

}  // namespace tendril::cli
