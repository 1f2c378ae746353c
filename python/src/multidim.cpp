// Multi-dimensional random walks.

#include <tendril/multidim.hpp>

#include <string>
#include <tuple>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <fmt/format.h>

#include <tendril/gpu.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "gpu.hpp"
#include "names.hpp"

namespace tendril::python {
namespace {

/// Samples from `roots` [n * num_roots] as ids [n, num_roots + length], lengths [n] and slots [n, length].
std::tuple<array_out, array_out, array_out> run(graph const& graph, array_in const& roots, std::int64_t num_roots,
                                                multidim_params const& params, bool as_int32, std::int64_t first_walk,
                                                int num_threads)
{
  expect_int32_ids(graph, as_int32);
  cpu_exec const exec = make_exec(num_threads);
  multidim_walks made;
  {
    nb::gil_scoped_release const no_gil;
    shared_array<vertex_id> const from = import_ids(roots, "roots", num_threads);
    made = multidim_walk(graph, from.span(), num_roots, params, exec, first_walk);
  }
  std::int64_t const n = made.num_walks;
  return {give_ids(std::move(made.vertices), {n, num_roots + params.length}, as_int32, num_threads),
          give(std::move(made.lengths), {n}), give(std::move(made.slots), {n, params.length})};
}

/// The same on the GPU that holds the graph, from as many roots a sample as `roots` has columns.
std::tuple<gpu_array, gpu_array, gpu_array> run_gpu(graph const& graph, gpu_ids const& roots,
                                                    multidim_params const& params, bool as_int32,
                                                    std::int64_t first_walk, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  expect_int32_ids(graph, as_int32);
  gpu_exec const exec = make_gpu_exec(graph, stream);
  std::int64_t const num_roots = roots.view.num_columns;
  gpu_starts const from = bring(&roots, 1, graph, exec);
  multidim_walks made;
  run_on(&roots, from, "root", graph, exec,
         [&] { made = multidim_walk(graph, from.ids, num_roots, params, exec, first_walk); });
  std::int64_t const size = made.vertices.size();
  buffer<std::int64_t> wide(as_int32 ? 0 : size, memory_of(exec));
  if (!as_int32) { widen_ids(made.vertices.data(), 1, size, wide.data(), size, exec); }
  auto const ready = std::make_shared<gpu_event const>(exec);
  int const device = exec.device;
  std::vector<std::int64_t> const shape = {made.num_walks, num_roots + params.length};
  gpu_array ids = as_int32 ? give_gpu<vertex_id, std::int32_t>(std::move(made.vertices), shape, device, ready)
                           : give_gpu(std::move(wide), shape, device, ready);
  return {std::move(ids), give_gpu(std::move(made.lengths), {made.num_walks}, device, ready),
          give_gpu(std::move(made.slots), {made.num_walks, params.length}, device, ready)};
}

}  // namespace

void bind_multidim(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<multidim_params> params(module, "MultidimParams");
  params.def(nb::init<>()).def_rw("length", &multidim_params::length).def_rw("seed", &multidim_params::seed);
  def_named(params, "root_choice", &multidim_params::choose, "multidim_walk: ");

  module.def("multidim_walk", &run, "graph"_a, "roots"_a.noconvert(), "num_roots"_a, "params"_a, "as_int32"_a,
             "first_walk"_a, "num_threads"_a);
  module.def("multidim_walk_gpu", &run_gpu, "graph"_a, "roots"_a, "params"_a, "as_int32"_a, "first_walk"_a, "stream"_a);
}

}  // namespace tendril::python
