#include "walk_batches.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <memory>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/multidim.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>
#include <tendril/walk_stream.hpp>

namespace tendril::cli {
namespace {

constexpr std::int64_t batch_bytes = std::int64_t{64} << 20;  // of vertices: large against any per-batch cost

std::int64_t batch_capacity(std::int64_t row, std::int64_t num_walks)
{
  return std::clamp<std::int64_t>(batch_bytes / 4 / row, 1, std::max<std::int64_t>(num_walks, 1));
}

/// Consecutive walks, in memory that the next batch but one uses again.
struct walk_batch {
  buffer<vertex_id> vertices;    ///< [capacity, row]
  buffer<std::int32_t> lengths;  ///< [capacity]
};

/// Walks on this machine's cores.
struct cpu_job {
  std::int64_t num_walks, row, capacity;  ///< `capacity`: walks of a batch.
  cpu_exec exec;

  /// Makes the walks [first, first + size) of the job, size <= capacity.
  std::function<void(std::int64_t first, std::int64_t size, walk_batch& batch, cpu_exec const& walking)> make;

  walk_outcome operator()(walk_sink const& sink, walk_watch const& watch) const;
};

/// Walks batch by batch; while the sink has one, the next is made.
walk_outcome cpu_job::operator()(walk_sink const& sink, walk_watch const& watch) const
{
  std::array<walk_batch, 2> batches;
  walk_outcome result;
  std::future<void> pending;  // its destructor waits, also when a walk throws
  for (std::int64_t first = 0, k = 0; first < num_walks; first += capacity, ++k) {
    std::int64_t const size = std::min(capacity, num_walks - first);
    auto& batch = batches[static_cast<std::size_t>(k % 2)];
    cpu_exec walking = exec;
    walking.on_progress = {};
    if (watch) {
      walking.on_progress = [&](progress const& report) {
        double const share =
            report.total > 0 ? static_cast<double>(report.done) / static_cast<double>(report.total) : 0;
        watch(first + static_cast<std::int64_t>(share * static_cast<double>(size)));
      };
    }
    stopwatch const sampling;
    make(first, size, batch, walking);
    result.sample_seconds += sampling.seconds();
    auto const n = static_cast<std::size_t>(size);
    for (auto const length : batch.lengths.span().first(n)) { result.steps += length; }
    if (watch) { watch(first + size); }
    if (pending.valid()) { pending.get(); }
    pending = std::async(std::launch::async, [&sink, &batch, &result, n, width = static_cast<std::size_t>(row)] {
      stopwatch const writing;
      sink(batch.vertices.span().first(n * width), batch.lengths.span().first(n));
      result.write_seconds += writing.seconds();
    });
  }
  if (pending.valid()) { pending.get(); }
  return result;
}

/// A stream of walks on a GPU, as the library runs it.
using gpu_stream = std::function<walk_stream_report(walk_stream_job const& job)>;

/// What runs a stream for `tendril walk`.
std::function<walk_outcome(walk_sink const&, walk_watch const&)> gpu_job(walk_job const& job, std::int64_t num_walks,
                                                                         start_source starts, gpu_stream stream)
{
  walk_stream_job whole;
  whole.num_walks = num_walks;
  whole.first_walk = job.first_walk;
  whole.starts = std::move(starts);
  whole.gpu_bytes = job.gpu_bytes();
  return [whole, stream = std::move(stream)](walk_sink const& sink, walk_watch const& watch) {
    walk_stream_job todo = whole;
    todo.sink = [&sink](walk_rows const& rows) { sink(rows.vertices, rows.lengths); };
    if (watch) {
      todo.on_progress = [&watch](progress const& report) { watch(report.done); };
    }
    auto const report = stream(todo);
    return walk_outcome{report.steps, report.walk_seconds, report.copy_seconds, report.sink_seconds};
  };
}

}  // namespace

walk_batches plain_walks(walk_job const& job, graph const& g, cpu_exec const& exec)
{
  walk_params const params = job.params(g);
  auto const list = std::make_shared<std::optional<buffer<vertex_id>> const>(job.starts(g, exec));
  std::int64_t const walks_each = job.walks_each();
  walk_batches out;
  out.num_walks = job.count_walks(*list ? (*list)->size() : g.num_vertices());
  out.length = params.length;
  auto const gpu = job.gpu();
  auto const walks =
      std::make_shared<walker>(gpu ? walker(to_gpu(g, gpu_exec(*gpu)), params, out.num_walks, gpu_exec(*gpu))
                                   : walker(g, params, out.num_walks, exec));  // checks the length too
  out.row = params.length + 1;
  out.plan = walks->plan();
  out.description = fmt::format("{} ({})", describe(job.app, params), to_string(out.plan->rule));
  out.params = params_json(params);
  out.metadata = {{"rule", std::string(to_string(out.plan->rule))}};
  start_source const from = *list ? starts_from((*list)->span(), walks_each) : every_vertex(walks_each);
  if (gpu) {
    out.run = gpu_job(job, out.num_walks, from, [walks, list, gpu](walk_stream_job const& stream) {
      return stream_walks(*walks, stream, gpu_exec(*gpu));
    });
    return out;
  }
  std::int64_t const capacity = batch_capacity(out.row, out.num_walks);
  auto const starts = std::make_shared<buffer<vertex_id>>(capacity);
  out.run = cpu_job{out.num_walks, out.row, capacity, exec,
                    [walks, list, from, starts, capacity, row = out.row, first_walk = job.first_walk](
                        std::int64_t first, std::int64_t size, walk_batch& batch, cpu_exec const& walking) {
                      if (batch.vertices.empty()) {
                        batch.vertices = buffer<vertex_id>(checked_product("walks of a batch", capacity, row));
                        batch.lengths = buffer<std::int32_t>(capacity);
                      }
                      auto const here = starts->span().first(static_cast<std::size_t>(size));
                      from(first, here);
                      walks->run_into(here, first_walk + first, batch.vertices.data(), batch.lengths.data(), walking);
                    }};
  return out;
}

walk_batches multidim_walks_of(walk_job const& job, graph const& g, cpu_exec const& exec)
{
  multidim_params const params = job.multidim();
  std::int64_t const m = job.num_roots();
  std::int64_t const walks_each = job.walks_each();
  (void)multidim_walk(g, {}, m, params, exec);  // checks the parameters before roots are read
  auto const sets = std::make_shared<buffer<vertex_id> const>(job.root_sets(g, exec));
  walk_batches out;
  out.num_walks = job.count_walks(sets->size() / m);
  out.length = params.length;
  out.row = m + params.length;
  out.description = describe(params, m);
  out.params = params_json(params, m);
  out.metadata = {{"num_roots", std::to_string(m)}};
  start_source const from = starts_from(sets->span(), walks_each, m);
  if (auto const gpu = job.gpu()) {
    graph const there = to_gpu(g, gpu_exec(*gpu));
    out.run = gpu_job(job, out.num_walks, from, [there, sets, m, params, gpu](walk_stream_job const& stream) {
      return stream_multidim_walks(there, m, params, stream, gpu_exec(*gpu));
    });
    return out;
  }
  std::int64_t const capacity = batch_capacity(out.row, out.num_walks);
  auto const roots = std::make_shared<buffer<vertex_id>>(checked_product("roots of a batch", capacity, m));
  out.run = cpu_job{out.num_walks, out.row, capacity, exec,
                    [g, sets, from, roots, m, params, first_walk = job.first_walk](
                        std::int64_t first, std::int64_t size, walk_batch& batch, cpu_exec const& walking) {
                      auto const here = roots->span().first(static_cast<std::size_t>(size * m));
                      from(first, here);
                      auto made = multidim_walk(g, here, m, params, walking, first_walk + first);
                      batch = {std::move(made.vertices), std::move(made.lengths)};
                    }};
  return out;
}

}  // namespace tendril::cli
