// Applications of the general engine that tendril sample runs: layer, and those that come as text.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include <tendril/custom_application.hpp>
#include <tendril/error.hpp>
#include <tendril/layer_sampling.hpp>

#include "catalogue.hpp"
#include "sample_job.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

std::string text_of(std::string const& path)
{
  std::ifstream file(path, std::ios::binary);
  if (!file) { throw io_error(fmt::format("{}: cannot open", path)); }
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "tries=3", "p=0.5", "fanouts=10,5".
custom_parameter parse_parameter(std::string const& text)
{
  auto const equals = text.find('=');
  auto const fail = [&] {
    throw argument_error(
        fmt::format("--param: '{}', expected NAME=VALUE, where VALUE is a number, or numbers as in 10,5", text));
  };
  if (equals == 0 || equals == std::string::npos) { fail(); }
  std::vector<double> fractions;
  std::vector<std::int64_t> integers;
  for (auto const& part : split(std::string_view(text).substr(equals + 1))) {
    std::size_t end = 0;
    double number = 0;
    try {
      number = std::stod(part, &end);
    } catch (std::exception const&) {
      fail();
    }
    if (end != part.size()) { fail(); }
    fractions.push_back(number);
    if (part.find_first_not_of("+-0123456789") == std::string::npos) {
      integers.push_back(parse_integer(part.front() == '+' ? part.substr(1) : part, "--param", "a number below 2^63"));
    }
  }
  custom_parameter out;
  out.name = text.substr(0, equals);
  bool const whole = integers.size() == fractions.size();
  if (fractions.size() == 1) {
    if (whole) {
      out.value = integers.front();
    } else {
      out.value = fractions.front();
    }
  } else if (whole) {
    out.value = std::move(integers);
  } else {
    out.value = std::move(fractions);
  }
  return out;
}

/// The compiler's messages keep their lines, and name the file that they are about.
[[noreturn]] void throw_compile_failure(std::string message, std::string const& path)
{
  if (message.find('\n') == std::string::npos) { throw argument_error(message); }
  constexpr std::string_view name = "application.cpp:";
  for (auto at = message.find(name); at != std::string::npos; at = message.find(name, at + path.size() + 1)) {
    message.replace(at, name.size(), path + ":");
  }
  while (message.ends_with('\n')) { message.pop_back(); }
  throw source_error(message);
}

void take(samples&& made, sample_place const& place, sample_part& part)
{
  for (std::size_t t = 0; t < made.steps.size(); ++t) {
    sampled_step& step = made.steps[t];
    std::string const name = fmt::format("step{}.", t);
    auto vertices = place.bring(std::move(step.vertices));
    part.vertices += count_vertices(vertices);
    part.add(name + "vertices", {step.num_slots}, std::move(vertices));
    if (!step.sizes.empty()) { part.add(name + "sizes", {}, place.bring(std::move(step.sizes))); }
    if (!step.edge_offsets.empty()) {
      part.edges += step.edge_sources.size();
      part.add_offsets(name + "edge_offsets", place.bring(std::move(step.edge_offsets)));
      part.add_ragged(name + "edge_sources", place.bring(std::move(step.edge_sources)));
      part.add_ragged(name + "edge_targets", place.bring(std::move(step.edge_targets)));
    }
  }
  if (!made.roots.empty()) { part.add("roots", {made.num_roots}, place.bring(std::move(made.roots))); }
}

/// What any application becomes: run(graph, roots, exec, first_sample).
template <class Run>
catalogue_job job_of_steps(sample_job const& job, std::shared_ptr<buffer<vertex_id> const> const& seeds,
                           std::vector<planned_step> steps, Run run)
{
  std::int64_t const num_roots = job.more.roots.value_or(1);
  catalogue_job out;
  out.num_samples = seeds->size() / num_roots;
  std::int64_t slots = 0;
  for (auto const& step : steps) { slots += step.num_slots; }
  out.run_size = samples_a_part(4.0 * static_cast<double>(std::max<std::int64_t>(slots, 1)));
  out.plan.steps = std::move(steps);
  out.agreements = agreements_on_seeds(job, seeds);
  out.begin = [seeds, num_roots](result_file& file, walk_range samples) {
    std::vector<std::int64_t> shape{samples.size};
    if (num_roots > 1) { shape.push_back(num_roots); }
    file.add_whole("seeds", shape, seeds_of(*seeds, samples, num_roots));
  };
  out.make = [=, first_sample = job.more.first_sample](sample_place const& at, std::int64_t first, std::int64_t count,
                                                       sample_part& part) {
    auto const there = at.put(seeds_of(*seeds, {first, count}, num_roots));
    take(at.run([&](graph const& g, auto const& exec) { return run(g, there.span(), exec, first_sample + first); }), at,
         part);
  };
  return out;
}

std::shared_ptr<buffer<vertex_id> const> root_sets(sample_job const& job, sample_place const& place)
{
  std::int64_t const num_roots = job.more.roots.value_or(1);
  auto seeds =
      std::make_shared<buffer<vertex_id> const>(job.seeds(place.host_graph().num_vertices(), place.host_exec()));
  if (seeds->size() % num_roots != 0) {
    throw argument_error(fmt::format("--roots: {} seeds, expected a multiple of {}", seeds->size(), num_roots));
  }
  return seeds;
}

int max_steps_of(catalogue_options const& options)
{
  std::int64_t const steps = options.max_steps.value_or(0);
  if (steps > 0x7fffffff) { throw argument_error(fmt::format("--max-steps: {}, expected at most 2147483647", steps)); }
  return static_cast<int>(steps);
}

std::string describe_roots(std::int64_t num_seeds, std::int64_t num_roots)
{
  return num_roots == 1 ? counted(num_seeds, "seed", "seeds")
                        : fmt::format("{} of {} roots", counted(num_seeds / num_roots, "sample", "samples"), num_roots);
}

layer_params layer_params_of(sample_job const& job)
{
  auto const& more = job.more;
  layer_params params;
  params.layer_size = more.layer_size.value_or(params.layer_size);
  params.max_size = more.max_size.value_or(params.max_size);
  params.max_steps = max_steps_of(more);
  params.unique = more.unique;
  params.seed = job.seed;
  params.executor = more.chosen_executor();
  params.gpu_memory = more.gpu_bytes();
  return params;
}

}  // namespace

void validate_layer(sample_job const& job) { validate(layer_params_of(job)); }

catalogue_job layer_job(sample_job const& job, sample_place const& place)
{
  auto const& more = job.more;
  layer_params const params = layer_params_of(job);
  std::int64_t const num_roots = more.roots.value_or(1);
  auto const seeds = root_sets(job, place);
  auto steps = place.run([&](graph const& g, auto const& exec) {
    return plan_layer_sample(g, seeds->size() / num_roots, num_roots, params, exec);
  });
  auto const num_steps = steps.size();
  auto out = job_of_steps(job, seeds, std::move(steps),
                          [=](graph const& g, std::span<vertex_id const> roots, auto const& exec, std::int64_t first) {
                            return layer_sample(g, roots, num_roots, params, exec, first);
                          });
  out.description = fmt::format(
      "{}: layer, {} a step up to {}, {}{}", describe_roots(seeds->size(), num_roots), params.layer_size,
      params.max_size, counted(static_cast<std::int64_t>(num_steps), "step", "steps"), params.unique ? ", unique" : "");
  out.params = {{"layer_size", params.layer_size}, {"max_size", params.max_size}, {"max_steps", num_steps},
                {"unique", params.unique},         {"num_roots", num_roots},      {"first_sample", more.first_sample}};
  return out;
}

namespace {

std::vector<custom_parameter> parameters_of(sample_job const& job)
{
  std::vector<custom_parameter> parameters;
  for (auto const& text : job.more.params) { parameters.push_back(parse_parameter(text)); }
  return parameters;
}

}  // namespace

void validate_custom(sample_job const& job)
{
  (void)parameters_of(job);
  (void)max_steps_of(job.more);
}

catalogue_job custom_job(sample_job const& job, sample_place const& place)
{
  auto const& more = job.more;
  application_params params;
  params.seed = job.seed;
  params.max_steps = max_steps_of(more);
  params.executor = more.chosen_executor();
  params.gpu_memory = more.gpu_bytes();
  params.checked = more.checked;
  std::int64_t const num_roots = more.roots.value_or(1);
  auto const seeds = root_sets(job, place);
  std::string const source = text_of(more.source_file);
  custom_application const application(source, more.struct_name, parameters_of(job));
  try {
    place.run([&](graph const&, auto const& exec) { application.compile(exec); });
  } catch (argument_error const& failure) {
    throw_compile_failure(failure.what(), more.source_file);
  }
  auto out = job_of_steps(job, seeds, place.run([&](graph const& g, auto const& exec) {
    return application.plan(g, seeds->size() / num_roots, num_roots, params, exec);
  }),
                          [=](graph const& g, std::span<vertex_id const> roots, auto const& exec, std::int64_t first) {
                            return application.run(g, roots, num_roots, params, exec, first);
                          });
  out.agreements = [source, of_seeds = out.agreements] {
    auto all = of_seeds();
    all.push_back(content_of("--app-source", source));
    return all;
  };
  out.description =
      fmt::format("{}: {} of {}, {}", describe_roots(seeds->size(), num_roots), application.struct_name(),
                  more.source_file, counted(static_cast<std::int64_t>(out.plan.steps.size()), "step", "steps"));
  out.params = {{"app_source", more.source_file}, {"struct", application.struct_name()},
                {"param", more.params},           {"num_steps", out.plan.steps.size()},
                {"num_roots", num_roots},         {"first_sample", more.first_sample}};
  return out;
}

}  // namespace tendril::cli
