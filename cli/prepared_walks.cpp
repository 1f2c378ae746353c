#include "prepared_walks.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/multidim.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

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

prepared_walks prepare_plain_walks(walk_job const& job, job_part part, graph const& g, cpu_exec const& exec)
{
  walk_params const params = job.params(g);
  auto const list = std::make_shared<std::optional<buffer<vertex_id>> const>(job.starts(g, exec));
  std::int64_t const walks_each = job.walks_each();
  prepared_walks out;
  walk_range const range = walks_of(part, job.count_walks(*list ? (*list)->size() : g.num_vertices()));
  out.num_walks = range.size;
  out.length = params.length;
  auto const gpu = job.gpu();
  out.there = gpu ? graph_on_gpu(g, *gpu, job.graph_bytes(), params) : g;
  auto const walks = std::make_shared<walker>(gpu ? walker(out.there, params, out.num_walks, gpu_exec(*gpu))
                                                  : walker(g, params, out.num_walks, exec));  // checks the length too
  out.row = params.length + 1;
  out.plan = walks->plan();
  out.description = fmt::format("{} ({})", describe(job.app, params), to_string(out.plan->rule));
  out.params = params_json(params);
  out.metadata = {{"rule", std::string(to_string(out.plan->rule))}};
  out.stream = stream_of(job, range, *list ? starts_from((*list)->span(), walks_each) : every_vertex(walks_each),
                         out.plan->table_bytes);
  out.run = [walks, list, gpu, here = without_progress(exec)](walk_stream_job const& stream) {
    return gpu ? stream_walks(*walks, stream, gpu_exec(*gpu)) : stream_walks(*walks, stream, here);
  };
  return out;
}

prepared_walks prepare_multidim_walks(walk_job const& job, job_part part, graph const& g, cpu_exec const& exec)
{
  multidim_params const params = job.multidim();
  std::int64_t const m = job.num_roots();
  std::int64_t const walks_each = job.walks_each();
  auto const sets = std::make_shared<buffer<vertex_id> const>(job.root_sets(g, exec));
  prepared_walks out;
  walk_range const range = walks_of(part, job.count_walks(sets->size() / m));
  out.num_walks = range.size;
  out.length = params.length;
  out.row = m + params.length;
  out.description = describe(params, m);
  out.params = params_json(params, m);
  out.metadata = {{"num_roots", std::to_string(m)}};
  out.stream = stream_of(job, range, starts_from(sets->span(), walks_each, m));
  auto const gpu = job.gpu();
  out.there = gpu ? graph_on_gpu(g, *gpu, job.graph_bytes(), walk_params{.length = params.length}) : g;
  out.run = [there = out.there, sets, m, params, gpu, here = without_progress(exec)](walk_stream_job const& stream) {
    return gpu ? stream_multidim_walks(there, m, params, stream, gpu_exec(*gpu))
               : stream_multidim_walks(there, m, params, stream, here);
  };
  return out;
}

}  // namespace tendril::cli
