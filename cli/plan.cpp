// tendril plan: which rule and tables a job would use, and why. Runs nothing.

#include <memory>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/minibatch.hpp>

#include "common.hpp"
#include "help.hpp"
#include "sample_job.hpp"
#include "text.hpp"
#include "verbs.hpp"
#include "walk_job.hpp"

namespace tendril::cli {
namespace {

struct plan_command {
  graph_source source;
  common_options common;
  std::string app = "deepwalk", rule = "auto", device = "cpu", table_bytes;
  bool weighted = false;
  std::uint64_t seed = 0;
  walk_job walks;
  sample_job samples;

  void run();
};

/// A plan and the job it is for.
struct planned {
  graph there;  ///< Where the job would run.
  sampling_plan plan;
  std::string job;
  json params;
};

planned plan_walks(walk_job const& job, graph const& g, cpu_exec const& exec)
{
  if (job.is_multidim()) {
    throw argument_error("plan: --app multidim has no choice to make, expected another application");
  }
  walk_params const params = job.params(facts_of(g, {}));
  auto const starts = job.starts(g.num_vertices(), exec);
  std::int64_t const count = job.count_walks(starts ? starts->size() : g.num_vertices());
  gpu_set const gpus = job.gpus();
  graph const there = gpus.empty() ? g : graph_on_gpu(g, gpus[0], job.graph_bytes(), params);
  return {there, gpus.empty() ? plan_walk(g, params, count, exec) : plan_walk(there, params, count, gpu_exec(gpus[0])),
          fmt::format("{}, {}", counted(count, "walk", "walks"), describe(job.app, params)), params_json(params)};
}

/// What applications are there, for a message.
constexpr char const* apps_of_plans =
    "deepwalk, ppr, restart, node2vec, metapath, khop, minibatch, layer, fastgcn, ladies, mvs, labor, cluster, shadow, "
    "saint-node, "
    "saint-edge, saint-walk";

template <class Exec>
sampling_plan plan_of(sample_job const& job, graph const& g, std::int64_t num_seeds, Exec const& exec)
{
  return job.app == "minibatch" ? plan_minibatch(hetero_graph(g), job.minibatch(), exec)
                                : plan_khop(g, job.khop(), num_seeds, exec);
}

planned plan_samples(sample_job const& job, graph const& g, cpu_exec const& exec)
{
  job.check();
  std::int64_t const count = job.seeds(g.num_vertices(), exec).size();
  gpu_set const gpus = parse_devices(job.device);
  graph const there = gpus.empty() ? g : graph_on_gpu(g, gpus[0], job.graph_bytes(), job.visits());
  return {there, gpus.empty() ? plan_of(job, g, count, exec) : plan_of(job, there, count, gpu_exec(gpus[0])),
          fmt::format("{}: {}", counted(count, "seed", "seeds"), job.describe()), job.params_json()};
}

void plan_command::run()
{
  progress_bar bar(common.shown());
  cpu_exec const exec = common.exec(bar);
  for (auto const set : {&walks.app, &samples.app}) { *set = app; }
  for (auto const set : {&walks.rule, &samples.rule}) { *set = rule; }
  for (auto const set : {&walks.device, &samples.device}) { *set = device; }
  for (auto const set : {&walks.table_bytes, &samples.table_bytes}) { *set = table_bytes; }
  walks.weighted = samples.weighted = weighted;
  walks.seed = samples.seed = seed;
  samples.more.length = walks.length;
  samples.more.roots = walks.roots;
  samples.more.graph_room = walks.graph_room;
  bool const of_samples = sample_job::is_app(app) || samples.from_source();
  if (!of_samples && !walk_job::is_app(app)) {
    throw argument_error(fmt::format("--app: '{}', expected one of {}", app, apps_of_plans));
  }
  bool const of_catalogue = of_samples && samples.is_of_catalogue();
  if (!of_samples && !walks.is_multidim()) {
    walks.validate();
  } else if (of_samples) {
    samples.check();
    samples.validate();
  }

  (void)describe_gpus(parse_devices(device));  // before anything that takes time
  graph const g = source.read_for(device, exec);
  if (of_catalogue) {
    plan_catalogue(samples, g, source, common, exec);
    return;
  }
  auto const [there, plan, job, params] = of_samples ? plan_samples(samples, g, exec) : plan_walks(walks, g, exec);
  bar.clear();
  if (common.json) {
    json document{{"graph", describe_json(g, source.path)},
                  {"app", app},
                  {"params", params},
                  {"device", device},
                  {"plan", plan_json(plan)}};
    if (auto const placement = placement_json(there)) { document["placement"] = *placement; }
    print(document);
    return;
  }
  std::string tables(to_string(plan.layout));
  if (plan.table_bytes > 0) { tables += ", " + bytes_text(plan.table_bytes); }
  if (plan.grouped_by_label) { tables += ", grouped by label"; }
  if (plan.table_bytes_refused > 0) { tables += fmt::format("; {} refused", bytes_text(plan.table_bytes_refused)); }
  std::string text = fmt::format("graph   {}\n{}job     {}\nrule    {}\ntables  {}\n", describe(g, source.path),
                                 placement_line(there), job, to_string(plan.rule), tables);
  if (plan.rule == sampling_rule::reject || (plan.rule == sampling_rule::alias && app == "node2vec")) {
    text += fmt::format("trials  {:.2f} a step expected\n", plan.expected_trials);
  }
  char const* lead = "why     ";
  for (auto const& reason : plan.reasons) {
    text += lead + reason + '\n';
    lead = "        ";
  }
  text.pop_back();
  print(text);
}

}  // namespace

void add_plan(CLI::App& application)
{
  auto command = std::make_shared<plan_command>();
  CLI::App* const verb = application.add_subcommand("plan", "Show how a job would run, and why, without running it");
  command->source.add_to(*verb);
  verb->add_option("--app", command->app, "Application of walk or sample [deepwalk]")->type_name("APP");
  verb->add_flag("--weighted", command->weighted, "Choose edges in proportion to their weights");
  verb->add_option("--rule", command->rule,
                   "Rule that chooses an edge: auto, uniform, scan, reject, alias or its [auto]")
      ->type_name("RULE");
  add_table_bytes(*verb, command->table_bytes, "");
  verb->add_option("--seed", command->seed, "Accepted, as by walk and sample, but does not affect the plan [0]")
      ->check(natural())
      ->type_name("S");
  verb->add_option("--device", command->device, "Device: cpu, cuda or cuda:N [cpu]")->type_name("DEVICE");
  // A command line of walk or sample can be planned as it is: where its result would go changes no plan.
  for (auto const* const name : {"-o,--output", "--dtype"}) {
    verb->add_option_function<std::string>(name, [](std::string const&) {})->group("");
  }
  command->walks.add_to(*verb);
  command->samples.add_to(*verb, true);
  command->common.add_to(*verb, false);
  verb->footer(
      "plan accepts the options of 'tendril walk' and 'tendril sample': replace the verb to see the plan of a "
      "command.\n"
      "\n"
      "Examples:\n"
      "  tendril plan graph.npz --app node2vec --p 2 --q 0.5\n"
      "  tendril plan graph.npz --app deepwalk --weighted --walks 1000\n"
      "  tendril plan graph.npz --app metapath --metapath 0,1,2 --device cuda\n"
      "  tendril plan graph.npz --app khop --fanouts 25,10 --num-seeds 1024 --json\n"
      "  tendril plan graph.npz --app minibatch --weighted --replace --device cuda\n"
      "  tendril plan graph.npz --app layer --device cuda                      shows the executor of each step");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
