// Random walks and their plans.

#include <tendril/walk.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <tendril/gpu.hpp>

#include "bind.hpp"
#include "names.hpp"
#include "walk_batches.hpp"

namespace tendril::python {

std::int64_t walks_a_batch(std::int64_t num_walks, std::int64_t row, std::int64_t bytes)
{
  return std::min(num_walks, std::max<std::int64_t>(1024, bytes / 4 / row));
}

namespace {

/// Plans when asked to prepare, and then walks.
auto planned(graph const& graph, walk_params const& params, walk_order order)
{
  return [&graph, &params, order](std::int64_t num_walks, auto const& exec) {
    auto const made = std::make_shared<walker const>(graph, params, num_walks, exec);
    return [made, &exec, order](std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices,
                                std::int32_t* lengths) {
      if constexpr (std::is_same_v<decltype(exec), gpu_exec const&>) {
        made->run_into(starts, first_walk, vertices, lengths, exec, order);
      } else {
        made->run_into(starts, first_walk, vertices, lengths, exec);
      }
    };
  };
}

std::pair<array_out, array_out> run(graph const& graph, array_in const& starts, walk_params const& params,
                                    bool as_int32, std::int64_t first_walk, int num_threads)
{
  return walk_on_cpu(graph, starts, params.length, as_int32, first_walk, num_threads,
                     planned(graph, params, walk_order::row_major));
}

std::pair<gpu_array, gpu_array> run_gpu(graph const& graph, gpu_ids const* starts, std::int64_t repeats,
                                        walk_params const& params, bool as_int32, std::int64_t first_walk,
                                        bool by_steps, std::uintptr_t stream)
{
  return walk_on_gpu(graph, starts, repeats, params.length, as_int32, first_walk, by_steps, stream,
                     planned(graph, params, by_steps ? walk_order::step_major : walk_order::row_major));
}

/// Plans when asked to prepare, and then walks.
auto planned_ragged(graph const& graph, walk_params const& params, std::int64_t first_walk)
{
  return [&graph, &params, first_walk](std::int64_t num_walks, auto const& exec) {
    return [made = std::make_shared<walker const>(graph, params, num_walks, exec), &exec,
            first_walk](std::span<vertex_id const> starts) { return made->run_ragged(starts, first_walk, exec); };
  };
}

std::pair<array_out, array_out> run_ragged(graph const& graph, array_in const& starts, walk_params const& params,
                                           bool as_int32, std::int64_t first_walk, int num_threads)
{
  return ragged_on_cpu(graph, starts, as_int32, num_threads, planned_ragged(graph, params, first_walk));
}

std::pair<gpu_array, gpu_array> run_ragged_gpu(graph const& graph, gpu_ids const* starts, std::int64_t repeats,
                                               walk_params const& params, bool as_int32, std::int64_t first_walk,
                                               std::uintptr_t stream)
{
  return ragged_on_gpu(graph, starts, repeats, as_int32, stream, planned_ragged(graph, params, first_walk));
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
      .def_ro("table_bytes_refused", &sampling_plan::table_bytes_refused)
      .def_ro("weight_sums", &sampling_plan::weight_sums)
      .def_ro("expected_trials", &sampling_plan::expected_trials)
      .def_ro("reasons", &sampling_plan::reasons);

  nb::class_<walk_params> params(module, "WalkParams");
  params.def(nb::init<>())
      .def_rw("length", &walk_params::length)
      .def_rw("weighted", &walk_params::weighted)
      .def_rw("stop_prob", &walk_params::stop_prob)
      .def_rw("restart_prob", &walk_params::restart_prob)
      .def_rw("p", &walk_params::p)
      .def_rw("q", &walk_params::q)
      .def_rw("second_order", &walk_params::second_order)
      .def_rw("metapath", &walk_params::metapath)
      .def_rw("seed", &walk_params::seed)
      .def_rw("table_bytes", &walk_params::table_bytes, nb::arg().none())
      .def("validate", [](walk_params const& p) { validate(p); });
  def_named(params, "metapath_of", &walk_params::metapath_of);
  def_named(params, "dead_end", &walk_params::dead_ends, "walk: ");
  def_named(params, "rule", &walk_params::rule, "walk: ");

  module.def("random_walk", &run, "graph"_a, "starts"_a.noconvert(), "params"_a, "as_int32"_a, "first_walk"_a,
             "num_threads"_a);
  module.def("random_walk_gpu", &run_gpu, "graph"_a, "starts"_a.none(), "repeats"_a, "params"_a, "as_int32"_a,
             "first_walk"_a, "by_steps"_a, "stream"_a);
  module.def("ragged_walk", &run_ragged, "graph"_a, "starts"_a.noconvert(), "params"_a, "as_int32"_a, "first_walk"_a,
             "num_threads"_a);
  module.def("ragged_walk_gpu", &run_ragged_gpu, "graph"_a, "starts"_a.none(), "repeats"_a, "params"_a, "as_int32"_a,
             "first_walk"_a, "stream"_a);
  module.def("plan_walk_gpu", &plan_gpu, "graph"_a, "params"_a, "num_walks"_a, "stream"_a);
  module.def("plan_walk", &plan, "graph"_a, "params"_a, "num_walks"_a, "num_threads"_a);
}

}  // namespace tendril::python
