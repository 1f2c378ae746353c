// What sampling applications on the CPU have in the library; the growing of samples is engine/applications/cpu.hpp.

#include <tendril/engine/applications/cpu.hpp>

#include <algorithm>
#include <map>
#include <mutex>

#include <tendril/checked.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "cpu/arguments.hpp"  // check_vertices
#include "cpu/picks/philox_lanes.hpp"

namespace tendril::engine {
namespace {

/// The least code that any thread saw.
class least_problem {
 public:
  void add(std::uint64_t code)
  {
    std::lock_guard const lock(mutex_);
    code_ = std::min(code_, code);
  }
  [[nodiscard]] std::uint64_t code() const { return code_; }

 private:
  std::mutex mutex_;
  std::uint64_t code_ = problem_code::none;
};

/// draw_calls_function: a pair of calls a lane.
void draw_calls(rng_key key, std::uint64_t sample, std::uint32_t first, std::uint32_t count, std::uint32_t sample_size,
                std::uint64_t* bits)
{
  thread_local cpu::draw_lanes lanes;
  std::uint32_t const pairs = sample_size / 2 + sample_size % 2;
  std::uint32_t transit = 0;
  std::uint32_t pair = 0;
  std::uint64_t* out = bits;
  for (std::uint64_t left = std::uint64_t{count} * pairs; left > 0;) {
    int const num_lanes = static_cast<int>(std::min<std::uint64_t>(cpu::draw_lanes::max_lanes, left));
    std::uint32_t first_pair = pair;
    for (int l = 0; l < num_lanes; ++l) {
      lanes.item[l] = sample;
      lanes.step[l] = first + transit;
      lanes.draw[l] = pair;
      if (++pair == pairs) {
        pair = 0;
        ++transit;
      }
    }
    cpu::philox_lanes(lanes, 0, num_lanes, key);
    for (int l = 0; l < num_lanes; ++l) {
      *out++ = lanes.low[l];
      if (2 * first_pair + 1 < sample_size) { *out++ = lanes.high[l]; }
      first_pair = first_pair + 1 == pairs ? 0 : first_pair + 1;
    }
    left -= static_cast<std::uint64_t>(num_lanes);
  }
}

/// What each run of samples recorded, [num_steps], by its first sample.
using edges_of_runs = std::map<std::int64_t, std::vector<recorded_edges>>;

/// Puts the runs' edges one after the other.
void gather_edges(edges_of_runs const& runs, samples& out, memory_resource& memory)
{
  for (std::size_t t = 0; t < out.steps.size(); ++t) {
    sampled_step& step = out.steps[t];
    step.edge_offsets = buffer<std::int64_t>(out.num_samples + 1, memory);
    std::int64_t total = 0;
    std::int64_t sample = 0;
    for (auto const& [first, edges] : runs) {
      for (std::int64_t const count : edges[t].counts) {
        step.edge_offsets[sample++] = total;
        total += count;
      }
    }
    step.edge_offsets[sample] = total;
    step.edge_sources = buffer<vertex_id>(total, memory);
    step.edge_targets = buffer<vertex_id>(total, memory);
    std::int64_t at = 0;
    for (auto const& [first, edges] : runs) {
      std::copy(edges[t].sources.begin(), edges[t].sources.end(), step.edge_sources.data() + at);
      std::copy(edges[t].targets.begin(), edges[t].targets.end(), step.edge_targets.data() + at);
      at += static_cast<std::int64_t>(edges[t].sources.size());
    }
  }
}

}  // namespace

samples run_on_cpu(graph const& graph, application_job const& job, std::span<vertex_id const> roots,
                   application_params const& params, cpu_exec const& exec, std::int64_t first_sample,
                   core::domain domain, grow_run const& grow)
{
  cpu::check_in_host_memory(graph);
  TENDRIL_EXPECTS(first_sample >= 0, "first_sample: {}, expected 0 or more", first_sample);
  graph_view const view = graph.view();
  cpu::check_vertices("root", roots, view);
  samples out = allocate_samples(job, params, *exec.memory);
  // Roots are written only where they were copied.
  auto* first_root = const_cast<vertex_id*>(roots.data());
  if (job.traits.replaces_roots) {
    std::copy(roots.begin(), roots.end(), out.roots.begin());
    first_root = out.roots.data();
  }
  std::vector<step_place> const places = make_places(job, out, first_root);
  std::vector<unsigned char> states(
      static_cast<std::size_t>(checked_product("states of samples", job.num_samples, job.traits.state_bytes)));
  application_setup<graph_view> setup =
      make_application_setup(view, job, params, static_cast<std::uint64_t>(first_sample), domain);
  setup.place_table = places.data();
  setup.shape_table = job.shapes.data();
  std::vector<rng_key> const keys = make_call_keys(setup);
  setup.key_table = keys.data();
  setup.states = states.data();
  setup.draw_calls = draw_calls;

  least_problem problem;
  std::mutex mutex;
  edges_of_runs runs;
  std::int64_t done = 0;
  std::int64_t const grain = std::clamp<std::int64_t>(job.num_samples / 256, 1, 256);
  base::parallel_ranges(exec, job.num_samples, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<recorded_edges> edges(job.traits.adds_edges ? job.shapes.size() : 0);
    std::uint64_t const code = grow(setup, begin, end, edges.empty() ? nullptr : edges.data());
    bool const steps_only = code != problem_code::none && problem_code::what(code) == application_problem::steps;
    problem.add(steps_only && !params.checked ? problem_code::none : code);
    std::lock_guard const lock(mutex);
    if (!edges.empty()) { runs.emplace(begin, std::move(edges)); }
    done += end - begin;
    if (exec.on_progress && base::team_member() == 0) { exec.on_progress({"sampling", done, job.num_samples}); }
  });
  throw_application_problem(problem.code(), job, setup.first_sample, view.num_vertices);
  if (job.traits.adds_edges) { gather_edges(runs, out, *exec.memory); }
  return out;
}

}  // namespace tendril::engine
