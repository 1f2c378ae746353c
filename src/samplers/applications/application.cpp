// The parts of sampling applications that don't depend on where they run: what was asked for in, shapes and memory, or one
// clear line, out.

#include <tendril/engine/applications/support.hpp>

#include <algorithm>

#include <tendril/checked.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::engine {
namespace {

constexpr std::int64_t most_slots = 0x7fffffff;

/// A step after one with `previous` slots a sample.
step_shape make_step(application_traits const& traits, int step, step_request const& request, std::int64_t previous)
{
  step_shape out;
  out.num_transits = request.num_transits < 0 ? previous : request.num_transits;
  out.sample_size = request.sample_size;
  out.unique = request.unique;
  TENDRIL_EXPECTS(out.sample_size >= 1 && out.sample_size <= most_slots,
                  "application: sample_size({}) is {}, expected 1 to {}", step, out.sample_size, most_slots);
  TENDRIL_EXPECTS(out.num_transits >= 1 && out.num_transits <= most_slots,
                  "application: {} transits at step {}, expected 1 to {}", out.num_transits, step, most_slots);
  TENDRIL_EXPECTS(
      traits.own_transits || out.num_transits <= previous,
      "application: num_transits({}) is {}, expected at most the {} {} of the step before, or a step_transits()", step,
      out.num_transits, previous, step == 0 ? "roots" : "slots");
  out.num_slots = traits.collective ? out.sample_size : out.num_transits * out.sample_size;
  TENDRIL_EXPECTS(out.num_slots <= most_slots, "application: {} slots a sample at step {}, expected at most {}",
                  out.num_slots, step, most_slots);
  out.by_pairs = core::fast_divisor(static_cast<std::uint32_t>((out.sample_size + 1) / 2));
  out.by_transits = core::fast_divisor(static_cast<std::uint32_t>(out.num_transits));
  return out;
}

}  // namespace

bool application_job::counts() const
{
  return traits.collective || traits.until_done ||
         std::any_of(shapes.begin(), shapes.end(), [](step_shape const& shape) { return shape.unique; });
}

application_job make_job(application_traits const& traits, int num_steps,
                         std::function<step_request(int)> const& request, std::int64_t num_root_ids,
                         std::int64_t num_roots, application_params const& params)
{
  TENDRIL_EXPECTS(num_roots >= 1 && num_roots <= most_slots, "num_roots: {}, expected 1 to {}", num_roots, most_slots);
  TENDRIL_EXPECTS(num_root_ids % num_roots == 0, "roots: {} vertices, expected whole rows of {}", num_root_ids,
                  num_roots);
  if (traits.until_done) {
    TENDRIL_EXPECTS(params.max_steps >= 1 && params.max_steps < problem_code::most_steps,
                    "max_steps: {}, expected 1 to {} for an application that runs until_done", params.max_steps,
                    problem_code::most_steps - 1);
    num_steps = params.max_steps;
  }
  TENDRIL_EXPECTS(num_steps >= 1 && num_steps < problem_code::most_steps,
                  "application: steps() is {}, expected 1 to {}, or until_done", num_steps,
                  problem_code::most_steps - 1);
  TENDRIL_EXPECTS(params.max_steps == 0 || num_steps <= params.max_steps,
                  "application: steps() is {}, expected at most max_steps, {}", num_steps, params.max_steps);
  application_job job;
  job.traits = traits;
  job.num_roots = num_roots;
  job.num_samples = num_root_ids / num_roots;
  TENDRIL_EXPECTS(job.num_samples < std::int64_t{1} << 36U, "roots: {} samples, expected less than 2^36",
                  job.num_samples);
  std::int64_t previous = num_roots;
  for (int step = 0; step < num_steps; ++step) {
    job.shapes.push_back(make_step(traits, step, request(step), previous));
    previous = job.shapes.back().num_slots;
  }
  return job;
}

samples allocate_samples(application_job const& job, application_params const& params, memory_resource& memory)
{
  samples out;
  out.num_samples = job.num_samples;
  out.num_roots = job.num_roots;
  out.order = params.order;
  out.steps.resize(job.shapes.size());
  for (std::size_t t = 0; t < job.shapes.size(); ++t) {
    sampled_step& step = out.steps[t];
    step.num_transits = job.shapes[t].num_transits;
    step.sample_size = job.shapes[t].sample_size;
    step.num_slots = job.shapes[t].num_slots;
    step.first_slot = out.row_size;
    out.row_size += step.num_slots;
    if (params.order == sample_order::per_step) {
      step.vertices = buffer<vertex_id>(checked_product("slots of a step", job.num_samples, step.num_slots), memory);
    }
    if (job.counts()) { step.sizes = buffer<std::int32_t>(job.num_samples, memory); }
  }
  if (params.order == sample_order::per_sample) {
    out.vertices = buffer<vertex_id>(checked_product("samples", job.num_samples, out.row_size), memory);
  } else {
    out.row_size = 0;
  }
  if (job.traits.replaces_roots) {
    out.roots = buffer<vertex_id>(checked_product("roots of samples", job.num_samples, job.num_roots), memory);
  }
  return out;
}

std::vector<step_place> make_places(application_job const& job, samples& out, vertex_id* roots)
{
  std::vector<step_place> places{{roots, job.num_roots, job.num_roots, nullptr}};
  for (std::size_t t = 0; t < job.shapes.size(); ++t) {
    places.push_back({out.first(t), out.stride(t), out.steps[t].num_slots, out.steps[t].sizes.data()});
  }
  return places;
}

application_setup<graph_view> make_application_setup(graph_view const& graph, application_job const& job,
                                                     application_params const& params, std::uint64_t first_sample,
                                                     core::domain domain)
{
  application_setup<graph_view> setup;
  setup.graph = graph;
  setup.seed = params.seed;
  setup.domain = domain;
  setup.num_samples = job.num_samples;
  setup.first_sample = first_sample;
  setup.num_steps = static_cast<std::int32_t>(job.shapes.size());
  setup.until_done = job.traits.until_done;
  setup.state_bytes = job.traits.state_bytes;
  return setup;
}

std::vector<rng_key> make_call_keys(application_terms const& setup)
{
  std::vector<rng_key> keys;
  keys.reserve(static_cast<std::size_t>(setup.num_steps));
  for (std::int32_t step = 0; step < setup.num_steps; ++step) { keys.push_back(call_key(setup, step, 0)); }
  return keys;
}

void throw_application_problem(std::uint64_t code, application_job const& job, std::uint64_t first_sample,
                               std::int64_t num_vertices)
{
  if (code == problem_code::none) { return; }
  std::uint64_t const sample = first_sample + static_cast<std::uint64_t>(problem_code::sample(code));
  std::int32_t const step = problem_code::step(code);
  switch (problem_code::what(code)) {
    case application_problem::root:
      throw argument_error(
          fmt::format("sample {}: a root is out of range, the graph has {} vertices", sample, num_vertices));
    case application_problem::transit:
      throw argument_error(fmt::format(
          "sample {}, step {}: step_transits() returned a vertex that is out of range, the graph has {} vertices",
          sample, step, num_vertices));
    case application_problem::steps:
      throw argument_error(fmt::format("sample {}: it still grows after {} steps, expected it to end within max_steps",
                                       sample, job.shapes.size()));
    default:
      throw argument_error(
          fmt::format("sample {}, step {}: next() returned a vertex that is out of range, the graph has {} vertices",
                      sample, step, num_vertices));
  }
}

}  // namespace tendril::engine
