// tendril walk: random walks into a file, in batches, so that memory does not grow with their number.

#include <algorithm>
#include <array>
#include <future>
#include <limits>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/walk.hpp>
#include <tendril/write_walks.hpp>

#include "common.hpp"
#include "help.hpp"
#include "text.hpp"
#include "verbs.hpp"
#include "walk_job.hpp"

namespace tendril::cli {
namespace {

constexpr std::int64_t batch_bytes = std::int64_t{64} << 20;  // of vertices: large against any per-batch cost

struct walk_command {
  graph_source source;
  common_options common;
  walk_job job;
  std::string output;
  std::string dtype;

  void run() const;
};

/// Which walk starts where: walk i from start i / walks_each.
struct start_list {
  std::optional<buffer<vertex_id>> vertices;  // nothing: every vertex of the graph
  std::int64_t num_starts = 0;
  std::int64_t walks_each = 1;

  [[nodiscard]] std::int64_t num_walks() const { return num_starts * walks_each; }

  void fill(std::int64_t first, std::span<vertex_id> starts) const
  {
    for (std::size_t i = 0; i < starts.size(); ++i) {
      std::int64_t const start = (first + static_cast<std::int64_t>(i)) / walks_each;
      starts[i] = vertices ? (*vertices)[start] : static_cast<vertex_id>(start);
    }
  }
};

start_list make_starts(walk_job const& job, graph const& g, cpu_exec const& exec)
{
  start_list list;
  list.walks_each = job.walks_each();
  list.vertices = job.starts(g, exec);
  list.num_starts = list.vertices ? list.vertices->size() : g.num_vertices();
  if (list.num_starts > 0 && list.walks_each > std::numeric_limits<std::int64_t>::max() / list.num_starts) {
    throw argument_error(fmt::format("--walks: {} from each of {} starts, expected less than 2^63 walks",
                                     list.walks_each, list.num_starts));
  }
  return list;
}

struct outcome {
  std::int64_t steps = 0;
  double sample_seconds = 0;
};

/// Walks batch by batch; while one is written, the next is made.
outcome walk_into(walk_writer& writer, walker const& walks, start_list const& starts, std::int64_t first_walk,
                  cpu_exec const& exec, progress_bar& bar)
{
  struct batch {
    buffer<vertex_id> vertices;
    buffer<std::int32_t> lengths;
  };
  std::int64_t const row = walks.params().length + 1;
  std::int64_t const total = starts.num_walks();
  std::int64_t const rows = std::clamp<std::int64_t>(batch_bytes / 4 / row, 1, std::max<std::int64_t>(total, 1));

  std::array<batch, 2> batches;
  buffer<vertex_id> from(rows);
  cpu_exec writing = exec;
  writing.on_progress = {};  // the bar belongs to this thread
  outcome result;
  std::future<void> pending;  // its destructor waits, also when a walk throws
  for (std::int64_t first = 0, k = 0; first < total; first += rows, ++k) {
    auto const n = static_cast<std::size_t>(std::min(rows, total - first));
    auto& [vertices, lengths] = batches[static_cast<std::size_t>(k % 2)];
    if (vertices.empty()) {
      vertices = buffer<vertex_id>(rows * row);
      lengths = buffer<std::int32_t>(rows);
    }
    starts.fill(first, from.span().first(n));
    cpu_exec walking = exec;
    if (bar.enabled()) {
      walking.on_progress = [&](progress const& report) {
        double const share =
            report.total > 0 ? static_cast<double>(report.done) / static_cast<double>(report.total) : 0;
        bar.update("walking", first + static_cast<std::int64_t>(share * static_cast<double>(n)), total, "steps",
                   static_cast<double>(row - 1));
      };
    }
    stopwatch const sampling;
    walks.run_into(from.span().first(n), first_walk + first, vertices.data(), lengths.data(), walking);
    result.sample_seconds += sampling.seconds();
    for (auto const length : lengths.span().first(n)) { result.steps += length; }
    bar.update("walking", first + static_cast<std::int64_t>(n), total, "steps", static_cast<double>(row - 1));
    if (pending.valid()) { pending.get(); }
    pending = std::async(std::launch::async, [&writer, &writing, row, n, v = vertices.data(), l = lengths.data()] {
      writer.append({v, n * static_cast<std::size_t>(row)}, {l, n}, writing);
    });
  }
  if (pending.valid()) { pending.get(); }
  return result;
}

std::map<std::string, std::string> file_metadata(walk_job const& job, walk_params const& params, graph const& g,
                                                 std::string const& path, sampling_plan const& plan)
{
  return {{"format", "tendril-walks"},
          {"app", job.app},
          {"params", params_json(params).dump()},
          {"seed", std::to_string(params.seed)},
          {"first_walk", std::to_string(job.first_walk)},
          {"rule", std::string(to_string(plan.rule))},
          {"graph", graph_name(g, path)},
          {"version", TENDRIL_VERSION}};
}

void walk_command::run() const
{
  stopwatch const overall;
  bool const to_stdout = output == "-";
  if (to_stdout && common.json) { throw argument_error("--json: standard output is taken by -o -, expected a file"); }
  walk_format const format = walk_format_of(output);  // before anything that takes time
  std::optional<element_type> type;
  if (!dtype.empty()) { type = parse_element_type(dtype); }

  progress_bar bar(!common.quiet);
  cpu_exec const exec = common.exec(bar);
  graph const g = source.read(exec);
  double const read_seconds = overall.seconds();

  walk_params const params = job.params(g);
  start_list const starts = make_starts(job, g, exec);
  stopwatch const planning;
  walker const walks(g, params, starts.num_walks(), exec);
  double const plan_seconds = planning.seconds();

  walk_file_info info;
  info.num_walks = starts.num_walks();
  info.length = params.length;
  info.num_vertices = g.num_vertices();
  info.type = type;
  info.metadata = file_metadata(job, params, g, source.path, walks.plan());
  walk_writer writer(output, info);
  auto const [steps, sample_seconds] = walk_into(writer, walks, starts, job.first_walk, exec, bar);
  writer.commit();
  bar.clear();
  double const seconds = overall.seconds();
  double const rate = sample_seconds > 0 ? static_cast<double>(steps) / sample_seconds : 0;

  if (common.json) {
    print(json{{"graph", describe_json(g, source.path)},
               {"app", job.app},
               {"params", params_json(params)},
               {"seed", params.seed},
               {"first_walk", job.first_walk},
               {"num_walks", starts.num_walks()},
               {"steps", steps},
               {"plan", plan_json(walks.plan())},
               {"output", output},
               {"output_bytes", file_bytes(output)},
               {"threads", common.num_threads()},
               {"read_seconds", read_seconds},
               {"plan_seconds", plan_seconds},
               {"sample_seconds", sample_seconds},
               {"seconds", seconds},
               {"steps_per_second", rate},
               {"peak_memory_bytes", peak_memory()},
               {"version", TENDRIL_VERSION}});
  } else if (!common.quiet) {
    std::string const summary = fmt::format(
        "graph   {}\njob     {}, {} ({})\nsteps   {} in {}: {} steps/s\noutput  {}\ntotal   {}, {} of memory at most\n",
        describe(g, source.path), counted(starts.num_walks(), "walk", "walks"), describe(job.app, params),
        to_string(walks.plan().rule), grouped(steps), duration(sample_seconds), si(rate),
        to_stdout ? std::string("standard output")
                  : fmt::format("{} ({}{})", output, bytes_text(file_bytes(output)),
                                format == walk_format::text
                                    ? std::string()
                                    : fmt::format(", {} [{}, {}]",
                                                  to_string(type.value_or(vertex_element_type(g.num_vertices()))),
                                                  starts.num_walks(), params.length + 1)),
        duration(seconds), bytes_text(peak_memory()));
    std::fputs(summary.c_str(), to_stdout ? stderr : stdout);
  }
}

}  // namespace

void add_walk(CLI::App& application)
{
  auto command = std::make_shared<walk_command>();
  CLI::App* const verb =
      application.add_subcommand("walk", "Random walks from every vertex, or from the ones you name");
  command->source.add_to(*verb);
  verb->add_option("-o,--output", command->output, "Walks as .npy, .safetensors or .txt (one a line); - for text here")
      ->required()
      ->type_name("OUT");
  verb->add_option("--app", command->job.app, "deepwalk, ppr, restart, node2vec or metapath [deepwalk]")
      ->type_name("APP");
  verb->add_flag("--weighted", command->job.weighted, "Choose edges in proportion to their weights");
  verb->add_option("--rule", command->job.rule, "How an edge is chosen: auto, scan, reject, alias or its [auto]")
      ->type_name("RULE");
  verb->add_option("--seed", command->job.seed, "Seed: the same one gives the same walks [0]")
      ->check(natural())
      ->type_name("S");
  verb->add_option("--dtype", command->dtype, "int32 or int64 for .npy and .safetensors [int32 where ids fit]")
      ->type_name("TYPE");
  verb->add_option("--device", command->job.device, "Where to run: cpu [cpu]")->type_name("DEVICE");
  command->job.add_to(*verb);
  command->common.add_to(*verb);
  verb->footer(
      "Without --starts or --num-starts, walk i of vertex v is row v * W + i, and that is its logical id: any split\n"
      "of the work gives the same walks. Past its end a walk holds -1; in text its line ends.\n"
      "\n"
      "Examples:\n"
      "  tendril walk graph.npz -o walks.npy                                   DeepWalk: 10 walks of 80 steps a "
      "vertex\n"
      "  tendril walk graph.npz -o walks.txt --app node2vec --p 2 --q 0.5      corpus for word2vec\n"
      "  tendril walk graph.npz -o ppr.npy --app ppr --stop-prob 0.2 --starts users.txt --walks 1000\n"
      "  tendril walk films.npz -o apa.npy --app metapath --metapath wrote,written_by --length 100\n"
      "  tendril walk graph.npz -o - --num-starts 5 --length 8                 five short walks on the screen");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
