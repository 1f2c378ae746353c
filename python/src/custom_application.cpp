// Sampling applications that come as C++ text.

#include <tendril/custom_application.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <tendril/gpu.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "custom_code.hpp"
#include "exec.hpp"
#include "gpu.hpp"
#include "names.hpp"

namespace tendril::python {
namespace {

/// Where a step's slots are in a sample's row: transits, calls, first slot, slots.
using shape_out = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

/// A step: its shape, vertices (where they don't lie in such rows), sizes, and offsets, sources and targets of edges,
/// where there are any.
template <class Array>
using step_out =
    std::tuple<shape_out, std::optional<Array>, std::optional<Array>, std::optional<std::tuple<Array, Array, Array>>>;

template <class Array>
step_out<Array> start_of(sampled_step const& step)
{
  return {{step.num_transits, step.sample_size, step.first_slot, step.num_slots}, {}, {}, {}};
}

/// The steps, the rows of all steps, and the roots, where they are asked for and may have changed.
template <class Array>
using samples_out = std::tuple<std::vector<step_out<Array>>, std::optional<Array>, std::optional<Array>>;

samples_out<array_out> run(graph const& graph, array_in const& roots, std::int64_t num_roots,
                           custom_application const& app, application_params const& params, bool as_int32,
                           std::int64_t first_sample, int num_threads)
{
  expect_int32_ids(graph, as_int32);
  cpu_exec const exec = make_exec(num_threads);
  samples made;
  {
    nb::gil_scoped_release const no_gil;
    shared_array<vertex_id> const from = import_ids(roots, "roots", num_threads);
    made = app.run(graph, from.span(), num_roots, params, exec, first_sample);
  }
  std::int64_t const n = made.num_samples;
  auto const ids = [&](buffer<vertex_id>&& from, std::initializer_list<std::int64_t> shape) {
    return give_ids(std::move(from), shape, as_int32, num_threads);
  };
  samples_out<array_out> out;
  for (sampled_step& step : made.steps) {
    auto one = start_of<array_out>(step);
    if (made.order == sample_order::per_step) { std::get<1>(one) = ids(std::move(step.vertices), {n, step.num_slots}); }
    if (!step.sizes.empty()) { std::get<2>(one) = give(std::move(step.sizes), {n}); }
    if (!step.edge_offsets.empty()) {
      std::int64_t const num_edges = step.edge_sources.size();
      std::get<3>(one) = {give(std::move(step.edge_offsets), {n + 1}), ids(std::move(step.edge_sources), {num_edges}),
                          ids(std::move(step.edge_targets), {num_edges})};
    }
    std::get<0>(out).push_back(std::move(one));
  }
  if (made.order == sample_order::per_sample) { std::get<1>(out) = ids(std::move(made.vertices), {n, made.row_size}); }
  if (!made.roots.empty()) { std::get<2>(out) = ids(std::move(made.roots), {n, num_roots}); }
  return out;
}

/// Ids on their way out: as they are stored, or converted.
struct converted_ids {
  buffer<vertex_id> narrow;
  buffer<std::int64_t> wide;
  std::int64_t size = 0;

  static converted_ids of(buffer<vertex_id>&& ids, bool as_int32, gpu_exec const& exec)
  {
    converted_ids out;
    out.size = ids.size();
    out.narrow = std::move(ids);
    if (as_int32) { return out; }
    out.wide = buffer<std::int64_t>(out.size, memory_of(exec));
    widen_ids(out.narrow.data(), 1, out.size, out.wide.data(), out.size, exec);
    out.narrow = {};  // freed in the order of the stream
    return out;
  }
  gpu_array give(bool as_int32, std::vector<std::int64_t> shape, int device,
                 std::shared_ptr<gpu_event const> const& ready)
  {
    return as_int32 ? give_gpu<vertex_id, std::int32_t>(std::move(narrow), std::move(shape), device, ready)
                    : give_gpu(std::move(wide), std::move(shape), device, ready);
  }
};

/// The same on a GPU, with a graph there or in host memory, from as many roots a sample as `roots` has columns. Steps' vertices are
/// part of the rows, where there are rows.
samples_out<gpu_array> run_gpu(graph const& graph, gpu_ids const& roots, custom_application const& app,
                               application_params const& params, bool as_int32, std::int64_t first_sample, int device,
                               std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  expect_int32_ids(graph, as_int32);
  gpu_exec const exec = make_gpu_exec(device, stream);
  std::int64_t const num_roots = roots.view.num_columns;
  gpu_starts const from = bring(&roots, 1, graph, exec);
  samples made;
  run_on(&roots, from, "root", graph, exec,
         [&] { made = app.run(graph, from.ids, num_roots, params, exec, first_sample); });

  bool const by_rows = made.order == sample_order::per_sample;
  auto const convert = [&](buffer<vertex_id>& ids) { return converted_ids::of(std::move(ids), as_int32, exec); };
  converted_ids rows = convert(made.vertices);
  converted_ids ends = convert(made.roots);
  struct step_ids {
    converted_ids vertices, sources, targets;
  };
  std::vector<step_ids> ids;
  for (sampled_step& step : made.steps) {
    ids.push_back({convert(step.vertices), convert(step.edge_sources), convert(step.edge_targets)});
  }
  auto const ready = std::make_shared<gpu_event const>(exec);

  std::int64_t const n = made.num_samples;
  auto const give = [&](converted_ids& from_here, std::vector<std::int64_t> shape) {
    return from_here.give(as_int32, std::move(shape), exec.device, ready);
  };
  samples_out<gpu_array> out;
  if (by_rows) { std::get<1>(out) = give(rows, {n, made.row_size}); }
  if (ends.size > 0) { std::get<2>(out) = give(ends, {n, num_roots}); }
  for (std::size_t t = 0; t < made.steps.size(); ++t) {
    sampled_step& step = made.steps[t];
    auto one = start_of<gpu_array>(step);
    if (by_rows) {
      gpu_array part = *std::get<1>(out);
      part.data = static_cast<unsigned char*>(part.data) + step.first_slot * (part.type.bits / 8);
      part.shape = {n, step.num_slots};
      std::get<1>(one) = std::move(part);
    } else {
      std::get<1>(one) = give(ids[t].vertices, {n, step.num_slots});
    }
    if (!step.sizes.empty()) { std::get<2>(one) = give_gpu(std::move(step.sizes), {n}, exec.device, ready); }
    if (!step.edge_offsets.empty()) {
      std::int64_t const num_edges = ids[t].sources.size;
      std::get<3>(one) = {give_gpu(std::move(step.edge_offsets), {n + 1}, exec.device, ready),
                          give(ids[t].sources, {num_edges}), give(ids[t].targets, {num_edges})};
    }
    std::get<0>(out).push_back(std::move(one));
  }
  return out;
}

}  // namespace

void bind_custom_application(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  bind_custom<custom_application>(module, "CustomApplication");

  nb::class_<application_params> params(module, "ApplicationParams");
  params.def(nb::init<>())
      .def_rw("seed", &application_params::seed)
      .def_rw("max_steps", &application_params::max_steps)
      .def_rw("gpu_memory", &application_params::gpu_memory)
      .def_rw("checked", &application_params::checked);
  def_named(params, "order", &application_params::order);
  def_named(params, "executor", &application_params::executor);

  module.def("run_application", &run, "graph"_a, "roots"_a.noconvert(), "num_roots"_a, "app"_a, "params"_a,
             "as_int32"_a, "first_sample"_a, "num_threads"_a);
  module.def("run_application_gpu", &run_gpu, "graph"_a, "roots"_a, "app"_a, "params"_a, "as_int32"_a, "first_sample"_a,
             "device"_a, "stream"_a);
}

}  // namespace tendril::python
