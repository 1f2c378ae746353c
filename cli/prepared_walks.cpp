#include "prepared_walks.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/multidim.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

#include "ranks.hpp"

namespace tendril::cli {
namespace {

/// Some walks of a job, without a sink: they keep their logical ids.
/// @param starts       Of all walks.
/// @param table_bytes  What tables take of --memory.
walk_stream_job stream_of(walk_job const& job, walk_range range, start_source starts, std::int64_t table_bytes = 0)
{
  walk_stream_job out;
  out.num_walks = range.size;
  out.first_walk = job.first_walk + range.first;
  out.starts = [all = std::move(starts), range](std::int64_t first, std::span<vertex_id> into) {
    all(range.first + first, into);
  };
  out.batch_bytes = job.gpu_bytes();
  if (std::int64_t const memory = job.host_bytes(); memory > 0) {
    out.graph_bytes = memory / 2;
    out.batch_bytes = memory - out.graph_bytes - std::min(table_bytes, memory / 4);
  }
  return out;
}

/// Without the bar of reading and planning: a stream has its own.
cpu_exec without_progress(cpu_exec exec)
{
  exec.on_progress = {};
  return exec;
}

}  // namespace

namespace {

/// What a job of plain walks is, before anything is planned.
struct plain_job {
  walk_params params;
  std::shared_ptr<std::optional<buffer<vertex_id>> const> list;  ///< Of starts.
  prepared_walks out;
};

plain_job plain_job_of(walk_job const& job, job_part part, graph_facts const& facts, cpu_exec const& exec)
{
  plain_job made{job.params(facts),
                 std::make_shared<std::optional<buffer<vertex_id>> const>(job.starts(facts.num_vertices, exec)),
                 {}};
  auto const& list = *made.list;
  if (!job.starts_file.empty()) { expect_same_vertices("--starts", list->span()); }
  made.out.job_walks = job.count_walks(list ? list->size() : facts.num_vertices);
  made.out.range = walks_of(part, made.out.job_walks);
  made.out.num_walks = made.out.range.size;
  made.out.length = made.params.length;
  made.out.row = made.params.length + 1;
  return made;
}

/// Completes what is said of a planned job.
prepared_walks planned_job_of(plain_job made, walk_job const& job, sampling_plan const& plan)
{
  prepared_walks& out = made.out;
  auto const& list = *made.list;
  out.plan = plan;
  out.description = fmt::format("{} ({})", describe(job.app, made.params), to_string(plan.rule));
  out.params = params_json(made.params);
  out.metadata = {{"rule", std::string(to_string(plan.rule))}};
  out.stream =
      stream_of(job, out.range, list ? starts_from(list->span(), job.walks_each()) : every_vertex(job.walks_each()),
                plan.table_bytes);
  return std::move(out);
}

}  // namespace

prepared_walks prepare_plain_walks(walk_job const& job, job_part part, graph const& g, cpu_exec const& exec)
{
  plain_job made = plain_job_of(job, part, facts_of(g, {}), exec);
  auto const list = made.list;
  walk_params const params = made.params;
  std::int64_t const num_walks = made.out.num_walks;
  gpu_set const gpus = job.gpus();
  // Of each GPU, or of the CPU; a walker checks the length too.
  auto const walks = std::make_shared<std::vector<walker>>();
  if (gpus.empty()) {
    walks->emplace_back(g, params, num_walks, exec);
  } else {
    auto const copies = graph_on_gpus(g, gpus, job.graph_bytes(), job.graph_room.spread, params);
    deal(
        gpus.size(), gpus.size(), 1,
        [&](int, std::int64_t i, std::int64_t) {
          graph const& copy = copies[static_cast<std::size_t>(i)];
          return walker(copy, params, num_walks, gpu_exec(copy.device()));
        },
        [&](std::int64_t, std::int64_t, walker&& planned) { walks->push_back(std::move(planned)); });
  }
  prepared_walks out = planned_job_of(std::move(made), job, walks->front().plan());
  out.there = walks->front().input();
  out.run = [walks, list, on_gpu = !gpus.empty(), here = without_progress(exec)](walk_stream_job const& stream) {
    return on_gpu ? stream_walks(*walks, stream) : stream_walks(walks->front(), stream, here);
  };
  return out;
}

prepared_walks prepare_sharded_walks(walk_job const& job, graph_part part, graph_facts const& facts, transport& ranks,
                                     sharded_walk_report& report, cpu_exec const& exec)
{
  plain_job made = plain_job_of(job, {ranks.rank(), ranks.size()}, facts, exec);
  auto const list = made.list;
  gpu_set const gpus = job.gpus();
  auto const walks =
      gpus.empty()
          ? std::make_shared<sharded_walker>(std::move(part), made.params, made.out.job_walks, ranks, exec)
          : std::make_shared<sharded_walker>(std::move(part), made.params, made.out.job_walks, ranks, gpu_exec(gpus));
  prepared_walks out = planned_job_of(std::move(made), job, walks->plan());
  out.run = [walks, list, &report, here = without_progress(exec)](walk_stream_job const& stream) {
    report = walks->stream(stream, here);
    walk_stream_report all;
    all.num_walks = report.num_walks;
    all.steps = report.steps;
    all.walk_seconds = all.seconds = report.seconds;
    return all;
  };
  return out;
}

prepared_walks prepare_multidim_walks(walk_job const& job, job_part part, graph const& g, cpu_exec const& exec)
{
  multidim_params const params = job.multidim();
  std::int64_t const m = job.num_roots();
  std::int64_t const walks_each = job.walks_each();
  auto const sets = std::make_shared<buffer<vertex_id> const>(job.root_sets(g, exec));
  if (!job.starts_file.empty()) { expect_same_vertices("--starts", sets->span()); }
  prepared_walks out;
  out.job_walks = job.count_walks(sets->size() / m);
  walk_range const range = walks_of(part, out.job_walks);
  out.range = range;
  out.num_walks = range.size;
  out.length = params.length;
  out.row = m + params.length;
  out.description = describe(params, m);
  out.params = params_json(params, m);
  out.metadata = {{"num_roots", std::to_string(m)}};
  out.stream = stream_of(job, range, starts_from(sets->span(), walks_each, m));
  gpu_set const gpus = job.gpus();
  walk_params const visits{.length = params.length};
  auto copies =
      gpus.empty() ? std::vector{g} : graph_on_gpus(g, gpus, job.graph_bytes(), job.graph_room.spread, visits);
  out.there = copies.front();
  out.run = [copies = std::move(copies), sets, m, params, on_gpu = !gpus.empty(),
             here = without_progress(exec)](walk_stream_job const& stream) {
    return on_gpu ? stream_multidim_walks(copies, m, params, stream)
                  : stream_multidim_walks(copies.front(), m, params, stream, here);
  };
  return out;
}

}  // namespace tendril::cli
