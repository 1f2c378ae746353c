// Runs a job of the catalogue into a file, or says what it would do.

#include "catalogue.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>

#include "graph_of_ranks.hpp"
#include "sample_job.hpp"
#include "sample_request.hpp"
#include "share_samples.hpp"
#include "text.hpp"
#include "walk_output.hpp"  // name_of_part

namespace tendril::cli {
namespace {

constexpr double part_bytes = 64 << 20;  // large against any per-call cost

/// An application: what checks its parameters, and what makes its jobs.
struct catalogue_entry {
  std::string_view app;
  void (*validate)(sample_job const& job);
  catalogue_job (*make)(sample_job const& job, sample_place const& place);
};

constexpr catalogue_entry custom_entry{"--app-source", validate_custom, custom_job};
constexpr std::array entries{
    catalogue_entry{"layer", validate_layer, layer_job},      catalogue_entry{"fastgcn", validate_fastgcn, fastgcn_job},
    catalogue_entry{"ladies", validate_ladies, ladies_job},   catalogue_entry{"mvs", validate_mvs, mvs_job},
    catalogue_entry{"labor", validate_labor, labor_job},      catalogue_entry{"cluster", validate_cluster, cluster_job},
    catalogue_entry{"shadow", validate_shadow, shadow_job},   catalogue_entry{"saint-node", validate_saint, saint_job},
    catalogue_entry{"saint-edge", validate_saint, saint_job}, catalogue_entry{"saint-walk", validate_saint, saint_job}};

/// @param job  Passed sample_job::check.
catalogue_entry const& entry_of(sample_job const& job)
{
  if (job.from_source()) { return custom_entry; }
  return *std::find_if(entries.begin(), entries.end(), [&](auto const& entry) { return entry.app == job.app; });
}

/// @param mine  The samples of the file: all, or those of the rank whose file it is.
sample_counts run(catalogue_job const& job, sample_makers const& makers, walk_range mine,
                  std::deque<sample_place> const& places, result_file& file, progress_bar& bar)
{
  sample_counts counts;
  work_beating(makers.ranks, job.ready);
  if (makers.ranks != nullptr) { expect_agreement(*makers.ranks, job.agreements()); }
  work_beating(makers.ranks, [&] {
    if (makers.tells()) { job.begin(file, mine); }
    for (auto const& place : places) { job.prepare(place); }
  });
  place_seconds sampled(makers.num_places);
  bool agreed = makers.writers() == nullptr;
  auto const agree = [&](sample_part const& part, std::int64_t count) {
    if (!std::exchange(agreed, true)) { file.agree(part, count); }
  };
  auto const make = [&](int place, std::int64_t first, std::int64_t count) {
    stopwatch const sampling;
    sample_part part;
    if (count > 0) { job.make(places[static_cast<std::size_t>(place)], mine.first + first, count, part); }
    sampled.add(place, sampling.seconds());
    if (makers.ranks != nullptr) { agree(part, count); }  // on the calling thread
    return part;
  };
  auto const take = [&](std::int64_t first, std::int64_t count, sample_part&& part) {
    stopwatch const writing;
    counts.vertices += part.vertices;
    counts.edges += part.edges;
    file.take(std::move(part), first, count);
    counts.write_seconds += writing.seconds();
  };
  if (mine.size == 0) {  // a file without samples has empty arrays: those of a sample, if the job has one
    sample_part none;
    job.make(places.front(), 0, std::min<std::int64_t>(job.num_samples, 1), none);
    none.clear();
    agree(none, 0);
    take(0, 0, std::move(none));
  }
  share_samples(makers, mine.size, makers.piece(mine.size, job.run_size), make, take,
                [&](std::int64_t done) { bar.update("sampling", done, mine.size, "samples"); });
  counts.seconds = sampled.longest();
  stopwatch const writing;
  file.commit();
  counts.write_seconds += writing.seconds();
  if (transport* const ranks = makers.ranks) {
    counts.vertices = sum_over(ranks, "vertices", counts.vertices);
    counts.edges = sum_over(ranks, "edges", counts.edges);
    counts.sent_bytes = sum_over(ranks, "bytes", ranks->report().sent_bytes);
    counts.seconds = longest_of(ranks, "seconds of sampling", counts.seconds);
  }
  return counts;
}

json plan_json(catalogue_plan const& plan)
{
  if (plan.steps.empty()) {
    return {{"tables", plan.tables}, {"table_bytes", plan.table_bytes}, {"reasons", plan.reasons}};
  }
  json steps = json::array();
  for (auto const& step : plan.steps) {
    steps.push_back({{"num_transits", step.num_transits},
                     {"sample_size", step.sample_size},
                     {"num_slots", step.num_slots},
                     {"executor", to_string(step.executor)},
                     {"sample_seconds", step.sample_seconds},
                     {"transit_seconds", step.transit_seconds},
                     {"reason", step.reason}});
  }
  return {{"steps", steps}};
}

/// "step 0", or "steps 2-79" where plans are alike.
std::string steps_text(std::vector<planned_step> const& steps)
{
  std::string text;
  for (std::size_t first = 0; first < steps.size();) {
    auto const& step = steps[first];
    std::size_t last = first;
    auto const alike = [&](planned_step const& other) {
      return other.num_transits == step.num_transits && other.num_slots == step.num_slots &&
             other.executor == step.executor && other.reason == step.reason;
    };
    while (last + 1 < steps.size() && alike(steps[last + 1])) { ++last; }
    text += fmt::format("{:<8}{}: {}, {} each: {}-parallel\n        {}\n", first == 0 ? "steps" : "",
                        first == last ? std::to_string(first) : fmt::format("{}-{}", first, last),
                        counted(step.num_transits, "transit", "transits"), counted(step.num_slots, "slot", "slots"),
                        to_string(step.executor), step.reason);
    first = last + 1;
  }
  return text;
}

}  // namespace

std::span<vertex_id const> seeds_of(buffer<vertex_id> const& seeds, walk_range samples, std::int64_t of_a_sample)
{
  auto const before = [&](std::int64_t sample) {
    return std::min(checked_product("seeds of samples", sample, of_a_sample), seeds.size());
  };
  std::int64_t const first = before(samples.first);
  return seeds.span().subspan(static_cast<std::size_t>(first),
                              static_cast<std::size_t>(before(samples.first + samples.size) - first));
}

std::function<std::vector<agreement>()> agreements_on_seeds(sample_job const& job,
                                                            std::shared_ptr<buffer<vertex_id> const> const& seeds)
{
  if (job.seeds_file.empty()) {
    return [] { return std::vector<agreement>(); };
  }
  return [seeds] { return std::vector{content_of("--seeds", seeds->span())}; };
}

std::int64_t samples_a_part(double bytes_each)
{
  return static_cast<std::int64_t>(std::clamp(part_bytes / std::max(bytes_each, 1.0), 1.0, part_bytes));
}

std::int64_t count_vertices(buffer<vertex_id> const& vertices)
{
  return vertices.size() - std::count(vertices.begin(), vertices.end(), no_vertex);
}

void validate_catalogue(sample_job const& job) { entry_of(job).validate(job); }

catalogue_job job_of_catalogue(sample_job const& job, sample_place const& place)
{
  auto made = entry_of(job).make(job, place);
  (void)checked_sum("--first-sample: ids of samples", job.more.first_sample, made.num_samples);
  return made;
}

namespace {

/// Where the samples of a job are made: on each GPU of the job, or on the CPU. With --gpu-memory the graph stays in host
/// memory, from which it streams, and so does one that has no room for a struct of the user's, which may read CSR graphs
/// alone.
std::deque<sample_place> places_of(sample_job const& job, gpu_set const& gpus, graph const& g, cpu_exec const& exec)
{
  std::deque<sample_place> places;
  if (gpus.empty()) {
    places.emplace_back(0, g, std::nullopt, std::nullopt, exec);
    return places;
  }
  std::int64_t const bytes = job.graph_bytes();
  bool const spread = job.more.graph_room.spread;
  bool const stays =
      job.more.gpu_bytes() > 0 || (job.from_source() && bytes == 0 && !spread && !fits_on_gpu(g, 0, gpu_exec(gpus[0])));
  auto const copies = stays ? std::vector(static_cast<std::size_t>(gpus.size()), g)
                            : graph_on_gpus(g, gpus, bytes, spread, job.visits());
  for (int i = 0; i < gpus.size(); ++i) {
    places.emplace_back(i, g, gpus[i], copies[static_cast<std::size_t>(i)], exec);
  }
  return places;
}

}  // namespace

void run_catalogue(sample_job const& job, graph_source const& source, common_options const& common,
                   std::string const& output, std::string const& dtype, bool own_files)
{
  stopwatch const overall;
  transport* const ranks = job_ranks();
  gpu_set const gpus = parse_devices(job.device);
  std::string const gpu = describe_gpus(gpus);  // before anything that takes time
  progress_bar bar(common.shown());
  cpu_exec const exec = beating(common.exec(bar), ranks);
  graph_of_ranks const on = read_for_ranks(source, job.device, exec);
  graph const& g = *on.whole;
  if (ranks != nullptr) { expect_agreement(*ranks, {{"the graph", on.digest()}}); }
  double const read_seconds = overall.seconds();
  std::deque<sample_place> const places = places_of(job, gpus, g, exec);
  catalogue_job todo;
  work_beating(ranks, [&] { todo = job_of_catalogue(job, places.front()); });
  double const plan_seconds = overall.seconds() - read_seconds;

  job_part const part = own_files ? job_part{ranks->rank(), ranks->size()} : job_part{};
  walk_range const mine = walks_of(part, todo.num_samples);
  std::int64_t const first_sample = job.more.first_sample + mine.first;
  json params = todo.params;
  params["first_sample"] = first_sample;
  std::string const written = own_files ? name_of_part(output, part) : output;
  element_type const type = dtype.empty() ? vertex_element_type(g.num_vertices()) : parse_element_type(dtype);
  std::string const app = job.from_source() ? todo.params.at("struct").get<std::string>() : job.app;
  metadata about{{"format", "tendril-samples"},
                 {"app", app},
                 {"params", params.dump()},
                 {"seed", std::to_string(job.seed)},
                 {"first_sample", std::to_string(first_sample)},
                 {"num_samples", std::to_string(mine.size)},
                 {"graph", on.facts.name},
                 {"version", TENDRIL_VERSION}};
  if (own_files) { about["part"] = to_string(part); }
  sample_makers const makers{ranks, own_files, static_cast<int>(places.size())};
  result_file file(written, type, about, mine.size, makers, exec);
  sample_counts const counts = run(todo, makers, mine, places, file, bar);
  bar.clear();
  double const seconds = overall.seconds();
  double const rate = counts.seconds > 0 ? static_cast<double>(todo.num_samples) / counts.seconds : 0;

  if (common.json) {
    json document{{"graph", describe_json(on.facts)},
                  {"app", app},
                  {"params", todo.params},
                  {"seed", job.seed},
                  {"num_samples", todo.num_samples},
                  {"sampled_vertices", counts.vertices},
                  {"sampled_edges", counts.edges},
                  {"output", written},
                  {"output_bytes", file_bytes(written)},
                  {"device", job.device},
                  {"threads", common.num_threads()},
                  {"read_seconds", read_seconds},
                  {"plan_seconds", plan_seconds},
                  {"sample_seconds", counts.seconds},
                  {"write_seconds", counts.write_seconds},
                  {"seconds", seconds},
                  {"samples_per_second", rate},
                  {"peak_memory_bytes", peak_memory()},
                  {"version", TENDRIL_VERSION}};
    if (!gpu.empty()) { document["device_name"] = gpu; }
    if (ranks != nullptr) {
      document["ranks"] = {{"size", ranks->size()}, {"sharded", false}, {"sent_bytes", counts.sent_bytes}};
    }
    if (auto const placement = placement_json(places.front().used_graph())) { document["placement"] = *placement; }
    print(document);
  } else if (!common.quiet) {
    print(fmt::format(
        "graph   {}\njob     {}\n{}{}{}samples {}: {}, {} in {} of sampling: {} samples/s\n{}output  {}\n"
        "total   {}, {} of memory at most",
        describe(on.facts), todo.description, gpu.empty() ? std::string() : fmt::format("device  {}\n", gpu),
        placement_line(places.front().used_graph()), ranks_line(ranks, false, counts.sent_bytes),
        grouped(todo.num_samples), counted(counts.vertices, "vertex", "vertices"),
        counted(counts.edges, "edge", "edges"), duration(counts.seconds), si(rate),
        time_line({{"reading", read_seconds},
                   {"planning and tables", plan_seconds},
                   {"sampling", counts.seconds},
                   {"writing", counts.write_seconds}}),
        own_files ? fmt::format("{} and those of the other ranks", written)
                  : fmt::format("{} ({})", written, bytes_text(file_bytes(written))),
        duration(seconds), bytes_text(peak_memory())));
  }
}

void plan_catalogue(sample_job const& job, graph const& g, graph_source const& source, common_options const& common,
                    cpu_exec const& exec)
{
  gpu_set const gpus = parse_devices(job.device);
  gpu_set const first = gpus.empty() ? gpu_set() : gpu_set(gpus[0]);
  std::deque<sample_place> const places = places_of(job, first, g, exec);
  catalogue_job const todo = job_of_catalogue(job, places.front());
  if (common.json) {
    print(json{{"graph", describe_json(g, source.path)},
               {"app", job.from_source() ? todo.params.at("struct").get<std::string>() : job.app},
               {"params", todo.params},
               {"num_samples", todo.num_samples},
               {"device", job.device},
               {"plan", plan_json(todo.plan)}});
    return;
  }
  std::string text = fmt::format("graph   {}\njob     {}\n", describe(g, source.path), todo.description);
  if (todo.plan.steps.empty()) {
    text += fmt::format("tables  {}", todo.plan.tables);
    if (todo.plan.table_bytes > 0) { text += ", " + bytes_text(todo.plan.table_bytes); }
    text += '\n';
    char const* lead = "why     ";
    for (auto const& reason : todo.plan.reasons) {
      text += lead + reason + '\n';
      lead = "        ";
    }
  } else {
    text += steps_text(todo.plan.steps);
  }
  text.pop_back();
  print(text);
}

}  // namespace tendril::cli
