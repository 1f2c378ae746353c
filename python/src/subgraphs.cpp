// Samples that are subgraphs: induced ones, ShaDow, GraphSAINT and its coefficients.

#include "subgraphs.hpp"
#include "names.hpp"

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <fmt/format.h>

#include <tendril/saint.hpp>
#include <tendril/shadow.hpp>

#include "bind.hpp"

namespace tendril::python {
namespace {

subgraphs_out<array_out> induced(graph const& graph, array_in const& nodes, array_in const& offsets, bool as_int32,
                                 int num_threads)
{
  shared_array<std::int64_t> const cuts = share<std::int64_t>(offsets);
  return subgraphs_on_cpu(graph, as_int32, num_threads, [&](cpu_exec const& exec) {
    shared_array<vertex_id> const sets = import_ids(nodes, "nodes", num_threads);
    return induced_subgraphs(graph, sets.span(), cuts.span(), exec);
  });
}

subgraphs_out<gpu_array> induced_gpu(graph const& graph, gpu_ids const& nodes, gpu_values const& offsets, bool as_int32,
                                     std::uintptr_t stream)
{
  return subgraphs_on_gpu(graph, as_int32, stream, [&](gpu_exec const& exec) {
    gpu_starts const sets = bring(&nodes, 1, graph, exec);
    gpu_numbers<std::int64_t> const cuts = bring_values<std::int64_t>(offsets, exec);
    subgraphs made;
    run_on(&nodes, sets, "node", graph, exec, [&] { made = induced_subgraphs(graph, sets.ids, cuts.span, exec); });
    return made;
  });
}

subgraphs_out<array_out> shadow(graph const& graph, array_in const& seeds, shadow_params const& params, bool as_int32,
                                std::int64_t first_sample, int num_threads)
{
  return subgraphs_on_cpu(graph, as_int32, num_threads, [&](cpu_exec const& exec) {
    shared_array<vertex_id> const from = import_ids(seeds, "seeds", num_threads);
    return shadow_sample(graph, from.span(), params, exec, first_sample);
  });
}

subgraphs_out<gpu_array> shadow_gpu(graph const& graph, gpu_ids const& seeds, shadow_params const& params,
                                    bool as_int32, std::int64_t first_sample, std::uintptr_t stream)
{
  return subgraphs_on_gpu(graph, as_int32, stream, [&](gpu_exec const& exec) {
    gpu_starts const from = bring(&seeds, 1, graph, exec);
    subgraphs made;
    run_on(&seeds, from, "seed", graph, exec,
           [&] { made = shadow_sample(graph, from.ids, params, exec, first_sample); });
    return made;
  });
}

subgraphs_out<array_out> saint(graph const& graph, saint_params const& params, std::int64_t num_samples, bool as_int32,
                               std::int64_t first_sample, std::int64_t sample_step, int num_threads)
{
  return subgraphs_on_cpu(graph, as_int32, num_threads, [&](cpu_exec const& exec) {
    return saint_sample(graph, params, num_samples, exec, first_sample, sample_step);
  });
}

subgraphs_out<gpu_array> saint_gpu(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                   bool as_int32, std::int64_t first_sample, std::int64_t sample_step,
                                   std::uintptr_t stream)
{
  return subgraphs_on_gpu(graph, as_int32, stream, [&](gpu_exec const& exec) {
    return saint_sample(graph, params, num_samples, exec, first_sample, sample_step);
  });
}

/// Counts of vertices and edges, loss, aggregator.
template <class Array>
using coefficients_out = std::tuple<Array, Array, Array, Array>;

template <class Results>
coefficients_out<typename Results::array> give_coefficients(saint_coefficients&& made, Results const& results)
{
  std::int64_t const v = made.node_counts.size();
  std::int64_t const e = made.edge_counts.size();
  coefficients_out<typename Results::array> out = {
      results.numbers(std::move(made.node_counts), {v}), results.numbers(std::move(made.edge_counts), {e}),
      results.numbers(std::move(made.loss), {v}), results.numbers(std::move(made.aggregator), {e})};
  return results.finished(std::move(out));
}

coefficients_out<array_out> coefficients(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                         std::int64_t first_sample, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  saint_coefficients made;
  {
    nb::gil_scoped_release const no_gil;
    made = saint_normalization(graph, params, num_samples, exec, first_sample);
  }
  return give_coefficients(std::move(made), host_results(false, num_threads));
}

coefficients_out<gpu_array> coefficients_gpu(graph const& graph, saint_params const& params, std::int64_t num_samples,
                                             std::int64_t first_sample, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  gpu_exec const exec = make_gpu_exec(graph, stream);
  return give_coefficients(saint_normalization(graph, params, num_samples, exec, first_sample),
                           gpu_results(false, exec));
}

}  // namespace

void bind_subgraphs(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<shadow_params>(module, "ShadowParams")
      .def(nb::init<>())
      .def_rw("depth", &shadow_params::depth)
      .def_rw("num_neighbors", &shadow_params::num_neighbors)
      .def_rw("replace", &shadow_params::replace)
      .def_rw("seed", &shadow_params::seed)
      .def("validate", [](shadow_params const& p) { validate(p); });
  nb::class_<saint_params> saint_class(module, "SaintParams");
  saint_class.def(nb::init<>())
      .def_rw("budget", &saint_params::budget)
      .def_rw("length", &saint_params::length)
      .def_rw("seed", &saint_params::seed);
  def_named(saint_class, "sampler", &saint_params::sampler);
  def_named(saint_class, "normalization", &saint_params::matrix);

  module.def("induced_subgraphs", &induced, "graph"_a, "nodes"_a.noconvert(), "offsets"_a.noconvert(), "as_int32"_a,
             "num_threads"_a);
  module.def("induced_subgraphs_gpu", &induced_gpu, "graph"_a, "nodes"_a, "offsets"_a, "as_int32"_a, "stream"_a);
  module.def("shadow_sample", &shadow, "graph"_a, "seeds"_a.noconvert(), "params"_a, "as_int32"_a, "first_sample"_a,
             "num_threads"_a);
  module.def("shadow_sample_gpu", &shadow_gpu, "graph"_a, "seeds"_a, "params"_a, "as_int32"_a, "first_sample"_a,
             "stream"_a);
  module.def("saint_sample", &saint, "graph"_a, "params"_a, "num_samples"_a, "as_int32"_a, "first_sample"_a,
             "sample_step"_a, "num_threads"_a);
  module.def("saint_sample_gpu", &saint_gpu, "graph"_a, "params"_a, "num_samples"_a, "as_int32"_a, "first_sample"_a,
             "sample_step"_a, "stream"_a);
  module.def("saint_coefficients", &coefficients, "graph"_a, "params"_a, "num_samples"_a, "first_sample"_a,
             "num_threads"_a);
  module.def("saint_coefficients_gpu", &coefficients_gpu, "graph"_a, "params"_a, "num_samples"_a, "first_sample"_a,
             "stream"_a);
}

}  // namespace tendril::python
