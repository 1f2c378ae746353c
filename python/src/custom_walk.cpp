// Dynamic walks that come as C++ text.

#include <tendril/custom_walk.hpp>

#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "bind.hpp"
#include "custom_code.hpp"
#include "names.hpp"
#include "walk_batches.hpp"

namespace tendril::python {
namespace {

/// Checks parameters by a batch without walks when asked to prepare, and then walks.
auto prepared(graph const& graph, custom_walk const& walk, dynamic_walk_params const& params)
{
  return [&](std::int64_t, auto const& exec) {
    walk.run_into(graph, {}, params, 0, nullptr, nullptr, exec);
    return [&](std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths) {
      walk.run_into(graph, starts, params, first_walk, vertices, lengths, exec);
    };
  };
}

/// Compiles when asked to prepare, and then walks.
auto prepared_ragged(graph const& graph, custom_walk const& walk, dynamic_walk_params const& params,
                     std::int64_t first_walk)
{
  return [&graph, &walk, &params, first_walk](std::int64_t, auto const& exec) {
    return [&graph, &walk, &params, &exec, first_walk](std::span<vertex_id const> starts) {
      return walk.run_ragged(graph, starts, params, exec, first_walk);
    };
  };
}

}  // namespace

void bind_custom_walk(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  bind_custom<custom_walk>(module, "CustomWalk");

  nb::class_<dynamic_walk_params> of_params(module, "DynamicWalkParams");
  of_params.def(nb::init<>())
      .def_rw("length", &dynamic_walk_params::length)
      .def_rw("stop_prob", &dynamic_walk_params::stop_prob)
      .def_rw("restart_prob", &dynamic_walk_params::restart_prob)
      .def_rw("seed", &dynamic_walk_params::seed)
      .def("validate", [](dynamic_walk_params const& p) { validate(p); });
  def_named(of_params, "dead_end", &dynamic_walk_params::dead_ends, "walk: ");
  def_named(of_params, "rule", &dynamic_walk_params::rule, "walk: ");

  module.def(
      "dynamic_walk",
      [](graph const& graph, array_in const& starts, custom_walk const& walk, dynamic_walk_params const& params,
         bool as_int32, std::int64_t first_walk, int num_threads) {
        return walk_on_cpu(graph, starts, params.length, as_int32, first_walk, num_threads,
                           prepared(graph, walk, params));
      },
      "graph"_a, "starts"_a.noconvert(), "walk"_a, "params"_a, "as_int32"_a, "first_walk"_a, "num_threads"_a);
  module.def(
      "dynamic_walk_gpu",
      [](graph const& graph, gpu_ids const* starts, std::int64_t repeats, custom_walk const& walk,
         dynamic_walk_params const& params, bool as_int32, std::int64_t first_walk, std::uintptr_t stream) {
        return walk_on_gpu(graph, starts, repeats, params.length, as_int32, first_walk, false, stream,
                           prepared(graph, walk, params));
      },
      "graph"_a, "starts"_a.none(), "repeats"_a, "walk"_a, "params"_a, "as_int32"_a, "first_walk"_a, "stream"_a);
  module.def(
      "ragged_dynamic_walk",
      [](graph const& graph, array_in const& starts, custom_walk const& walk, dynamic_walk_params const& params,
         bool as_int32, std::int64_t first_walk, int num_threads) {
        return ragged_on_cpu(graph, starts, as_int32, num_threads, prepared_ragged(graph, walk, params, first_walk));
      },
      "graph"_a, "starts"_a.noconvert(), "walk"_a, "params"_a, "as_int32"_a, "first_walk"_a, "num_threads"_a);
  module.def(
      "ragged_dynamic_walk_gpu",
      [](graph const& graph, gpu_ids const* starts, std::int64_t repeats, custom_walk const& walk,
         dynamic_walk_params const& params, bool as_int32, std::int64_t first_walk, std::uintptr_t stream) {
        return ragged_on_gpu(graph, starts, repeats, as_int32, stream,
                             prepared_ragged(graph, walk, params, first_walk));
      },
      "graph"_a, "starts"_a.none(), "repeats"_a, "walk"_a, "params"_a, "as_int32"_a, "first_walk"_a, "stream"_a);
}

}  // namespace tendril::python
