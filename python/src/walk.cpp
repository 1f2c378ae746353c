// Random walks and their plans.

#include <tendril/walk.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <tendril/gpu.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "gpu.hpp"

namespace tendril::python {
namespace {

/// What int64 walks are sampled in: a batch of 32-bit ids that is converted before the next one, so that the memory
/// of a call is its result and little more.
constexpr std::int64_t batch_bytes = std::int64_t{1} << 26;
constexpr std::int64_t gpu_batch_bytes = std::int64_t{1} << 30;  // a launch and a wait each: larger ones

void set_dead_ends(walk_params& params, std::string const& name)
{
  if (name != "stop" && name != "repeat") {
    throw argument_error(fmt::format("walk: dead_end is '{}', expected 'stop' or 'repeat'", name));
  }
  params.dead_ends = name == "stop" ? dead_end::stop : dead_end::repeat;
}

void expect_countable(std::int64_t num_walks, std::int64_t row)
{
  if (num_walks > std::numeric_limits<std::int64_t>::max() / 8 / row) {
    throw memory_error(fmt::format("walk: {} walks of {} vertices each don't fit any memory", num_walks, row));
  }
}

/// How many walks to sample before they are converted.
std::int64_t walks_a_batch(std::int64_t num_walks, std::int64_t row, std::int64_t bytes)
{
  return std::min(num_walks, std::max<std::int64_t>(1024, bytes / 4 / row));
}

/// Walks from `starts` as [n, length + 1] ids and [n] lengths.
std::pair<array_out, array_out> run(graph const& graph, array_in const& starts, walk_params const& params,
                                    bool as_int32, std::int64_t first_walk, int num_threads)
{
  expect_int32_ids(graph, as_int32);
  cpu_exec const exec = make_exec(num_threads);
  auto const num_walks = static_cast<std::int64_t>(starts.size());
  std::int64_t const length = params.length;
  buffer<std::int32_t> lengths;
  buffer<vertex_id> narrow;
  buffer<std::int64_t> wide;
  {
    nb::gil_scoped_release const no_gil;
    shared_array<vertex_id> const from = import_ids(starts, "starts", num_threads);
    walker const planned(graph, params, num_walks, exec);  // checks the length too
    std::int64_t const row = length + 1;
    expect_countable(num_walks, row);
    lengths = buffer<std::int32_t>(num_walks);
    std::int64_t const batch = as_int32 ? num_walks : walks_a_batch(num_walks, row, batch_bytes);
    narrow = buffer<vertex_id>(batch * row);
    if (!as_int32) { wide = buffer<std::int64_t>(num_walks * row); }
    std::int64_t done = 0;
    do {  // once at least: the library checks an empty batch too
      std::int64_t const now = std::min(batch, num_walks - done);
      planned.run_into(from.span().subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(now)),
                       first_walk + done, narrow.data(), lengths.data() + done, exec);
      if (!as_int32) { widen(narrow.data(), wide.data() + done * row, now * row, num_threads); }
      done += now;
    } while (done < num_walks);
  }
  array_out ids = as_int32 ? give<vertex_id, std::int32_t>(std::move(narrow), {num_walks, length + 1})
                           : give(std::move(wide), {num_walks, length + 1});
  return {std::move(ids), give(std::move(lengths), {num_walks})};
}

/// The same on the GPU that holds the graph, from `starts` (every vertex where null), each `repeats` times. Where
/// `by_steps`, memory holds a step of all walks after the other: walk and step change places in the strides.
std::pair<gpu_array, gpu_array> run_gpu(graph const& graph, gpu_ids const* starts, std::int64_t repeats,
                                        walk_params const& params, bool as_int32, std::int64_t first_walk,
                                        bool by_steps, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  expect_int32_ids(graph, as_int32);
  gpu_exec const exec = make_gpu_exec(graph, stream);
  walk_order const order = by_steps ? walk_order::step_major : walk_order::row_major;
  std::int64_t const row = params.length + 1;
  gpu_starts const from = bring(starts, repeats, graph, exec);
  auto const num_walks = static_cast<std::int64_t>(from.ids.size());
  walker const planned(graph, params, num_walks, exec);  // checks the length too
  expect_countable(num_walks, row);

  buffer<std::int32_t> lengths(num_walks, memory_of(exec));
  buffer<vertex_id> narrow;
  buffer<std::int64_t> wide;
  run_on(starts, from, "start", graph, exec, [&] {
    if (as_int32) {
      narrow = buffer<vertex_id>(num_walks * row, memory_of(exec));
      planned.run_into(from.ids, first_walk, narrow.data(), lengths.data(), exec, order);
      return;
    }
    std::int64_t const batch = walks_a_batch(num_walks, row, gpu_batch_bytes);
    buffer<vertex_id> walked(batch * row, gpu_memory(exec.device, exec.stream));
    wide = buffer<std::int64_t>(num_walks * row, memory_of(exec));
    std::int64_t done = 0;
    do {  // once at least: the library checks an empty batch too
      std::int64_t const now = std::min(batch, num_walks - done);
      planned.run_into(from.ids.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(now)),
                       first_walk + done, walked.data(), lengths.data() + done, exec, order);
      if (by_steps) {
        widen_ids(walked.data(), row, now, wide.data() + done, num_walks, exec);
      } else {
        widen_ids(walked.data(), 1, now * row, wide.data() + done * row, now * row, exec);
      }
      done += now;
    } while (done < num_walks);
  });
  auto const ready = std::make_shared<gpu_event const>(exec);
  std::vector<std::int64_t> const shape = {num_walks, row};
  std::vector<std::int64_t> const strides = by_steps ? std::vector<std::int64_t>{1, num_walks} : std::vector{row, 1L};
  gpu_array ids = as_int32 ? give_gpu<vertex_id, std::int32_t>(std::move(narrow), shape, strides, exec.device, ready)
                           : give_gpu(std::move(wide), shape, strides, exec.device, ready);
  return {std::move(ids), give_gpu(std::move(lengths), {num_walks}, exec.device, ready)};
}

sampling_plan plan(graph const& graph, walk_params const& params, std::int64_t num_walks, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return plan_walk(graph, params, num_walks, exec);
}

sampling_plan plan_gpu(graph const& graph, walk_params const& params, std::int64_t num_walks, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  return plan_walk(graph, params, num_walks, make_gpu_exec(graph, stream));
}

}  // namespace

void bind_walk(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<sampling_plan>(module, "SamplingPlan")
      .def_prop_ro("rule", [](sampling_plan const& p) { return std::string(to_string(p.rule)); })
      .def_prop_ro("layout", [](sampling_plan const& p) { return std::string(to_string(p.layout)); })
      .def_ro("grouped_by_label", &sampling_plan::grouped_by_label)
      .def_ro("table_bytes", &sampling_plan::table_bytes)
      .def_ro("table_bytes_built", &sampling_plan::table_bytes_built)
      .def_ro("expected_trials", &sampling_plan::expected_trials)
      .def_ro("reasons", &sampling_plan::reasons);

  nb::class_<walk_params>(module, "WalkParams")
      .def(nb::init<>())
      .def_rw("length", &walk_params::length)
      .def_rw("weighted", &walk_params::weighted)
      .def_rw("stop_prob", &walk_params::stop_prob)
      .def_rw("restart_prob", &walk_params::restart_prob)
      .def_rw("p", &walk_params::p)
      .def_rw("q", &walk_params::q)
      .def_rw("second_order", &walk_params::second_order)
      .def_rw("metapath", &walk_params::metapath)
      .def_rw("seed", &walk_params::seed)
      .def_prop_rw(
          "metapath_of_vertices", [](walk_params const& p) { return p.metapath_of == metapath_kind::vertex_types; },
          [](walk_params& p, bool of_vertices) {
            p.metapath_of = of_vertices ? metapath_kind::vertex_types : metapath_kind::edge_labels;
          })
      .def_prop_rw(
          "dead_end", [](walk_params const& p) { return p.dead_ends == dead_end::stop ? "stop" : "repeat"; },
          &set_dead_ends)
      .def_prop_rw(
          "rule", [](walk_params const& p) { return std::string(to_string(p.rule)); },
          [](walk_params& p, std::string const& name) { p.rule = parse_sampling_rule(name); });

  module.def("random_walk", &run, "graph"_a, "starts"_a.noconvert(), "params"_a, "as_int32"_a, "first_walk"_a,
             "num_threads"_a);
  module.def("random_walk_gpu", &run_gpu, "graph"_a, "starts"_a.none(), "repeats"_a, "params"_a, "as_int32"_a,
             "first_walk"_a, "by_steps"_a, "stream"_a);
  module.def("plan_walk_gpu", &plan_gpu, "graph"_a, "params"_a, "num_walks"_a, "stream"_a);
  module.def("plan_walk", &plan, "graph"_a, "params"_a, "num_walks"_a, "num_threads"_a);
}

}  // namespace tendril::python
