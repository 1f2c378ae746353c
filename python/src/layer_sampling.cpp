// Layer sampling.

#include <tendril/layer_sampling.hpp>

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "exec.hpp"
#include "names.hpp"
#include "results.hpp"

namespace tendril::python {
namespace {

/// Transits, vertices drawn a sample, vertices, sizes of a step.
template <class Array>
using step_out = std::tuple<std::int64_t, std::int64_t, Array, std::optional<Array>>;

template <class Results>
std::vector<step_out<typename Results::array>> give_steps(samples&& made, Results const& results)
{
  std::vector<step_out<typename Results::array>> out;
  for (sampled_step& step : made.steps) {
    out.emplace_back(step.num_transits, step.sample_size,
                     results.ids(std::move(step.vertices), {made.num_samples, step.num_slots}), std::nullopt);
    if (!step.sizes.empty()) { std::get<3>(out.back()) = results.numbers(std::move(step.sizes), {made.num_samples}); }
  }
  return results.finished(std::move(out));
}

std::vector<step_out<array_out>> layer(graph const& graph, array_in const& roots, std::int64_t num_roots,
                                       layer_params const& params, bool as_int32, std::int64_t first_sample,
                                       int num_threads)
{
  expect_int32_ids(graph, as_int32);
  cpu_exec const exec = make_exec(num_threads);
  samples made;
  {
    nb::gil_scoped_release const no_gil;
    shared_array<vertex_id> const from = import_ids(roots, "roots", num_threads);
    made = layer_sample(graph, from.span(), num_roots, params, exec, first_sample);
  }
  return give_steps(std::move(made), host_results(as_int32, num_threads));
}

std::vector<step_out<gpu_array>> layer_gpu(graph const& graph, gpu_ids const& roots, std::int64_t num_roots,
                                           layer_params const& params, bool as_int32, std::int64_t first_sample,
                                           std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  expect_int32_ids(graph, as_int32);
  gpu_exec const exec = make_gpu_exec(graph, stream);
  gpu_starts const from = bring(&roots, 1, graph, exec);
  samples made;
  run_on(&roots, from, "root", graph, exec,
         [&] { made = layer_sample(graph, from.ids, num_roots, params, exec, first_sample); });
  return give_steps(std::move(made), gpu_results(as_int32, exec));
}

}  // namespace

void bind_layer_sampling(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<layer_params> params(module, "LayerParams");
  params.def(nb::init<>())
      .def_rw("layer_size", &layer_params::layer_size)
      .def_rw("max_size", &layer_params::max_size)
      .def_rw("max_steps", &layer_params::max_steps)
      .def_rw("unique", &layer_params::unique)
      .def_rw("seed", &layer_params::seed);
  def_named(params, "executor", &layer_params::executor);
  module.def("layer_sample", &layer, "graph"_a, "roots"_a.noconvert(), "num_roots"_a, "params"_a, "as_int32"_a,
             "first_sample"_a, "num_threads"_a);
  module.def("layer_sample_gpu", &layer_gpu, "graph"_a, "roots"_a, "num_roots"_a, "params"_a, "as_int32"_a,
             "first_sample"_a, "stream"_a);
}

}  // namespace tendril::python
