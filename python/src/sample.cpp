// k-hop trees.

#include <tendril/sample.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "gpu.hpp"
#include "names.hpp"
#include "results.hpp"
#include "sample.hpp"

namespace tendril::python {
namespace {

std::vector<hop_out> khop(graph const& graph, array_in const& seeds, khop_params const& params, bool as_int32,
                          std::int64_t first_root, bool with_edges, int num_threads)
{
  expect_int32_ids(graph, as_int32);
  cpu_exec const exec = make_exec(num_threads);
  khop_trees trees;
  {
    nb::gil_scoped_release const no_gil;
    shared_array<vertex_id> const from = import_ids(seeds, "seeds", num_threads);
    trees = khop_sample(graph, from.span(), params, exec, first_root, with_edges);
  }
  return give_trees(std::move(trees), as_int32, with_edges, num_threads);
}

/// The same on the GPU that holds the graph, in shapes that the CPU's get in Python: [seeds, fan-out, …], from a hop that
/// takes all neighbours on [slots, fan-out, …].
std::vector<gpu_hop_out> khop_gpu(graph const& graph, gpu_ids const& seeds, khop_params const& params, bool as_int32,
                                  std::int64_t first_root, bool with_edges, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  expect_int32_ids(graph, as_int32);
  gpu_exec const exec = make_gpu_exec(graph, stream);
  gpu_starts const from = bring(&seeds, 1, graph, exec);
  khop_trees trees;
  run_on(&seeds, from, "seed", graph, exec,
         [&] { trees = khop_sample(graph, from.ids, params, exec, first_root, with_edges); });
  return give_gpu_trees(std::move(trees), as_int32, with_edges, exec);
}

sampling_plan plan(graph const& graph, khop_params const& params, std::int64_t num_roots, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  if (graph.device() >= 0) { return plan_khop(graph, params, num_roots, gpu_exec(graph.device())); }
  return plan_khop(graph, params, num_roots, exec);
}

}  // namespace

std::vector<hop_out> give_trees(khop_trees&& trees, bool as_int32, bool with_edges, int num_threads)
{
  std::vector<hop_out> out;
  for (tree_hop& hop : trees.hops) {
    std::int64_t const slots = hop.vertices.size();
    std::optional<array_out> edges;
    if (with_edges) { edges = give(std::move(hop.edges), {slots}); }
    std::optional<array_out> offsets;
    if (std::int64_t const size = hop.offsets.size(); size > 0) { offsets = give(std::move(hop.offsets), {size}); }
    out.emplace_back(give_ids(std::move(hop.vertices), {slots}, as_int32, num_threads), std::move(edges),
                     std::move(offsets));
  }
  return out;
}

std::vector<gpu_hop_out> give_gpu_trees(khop_trees&& trees, bool as_int32, bool with_edges, gpu_exec const& exec)
{
  gpu_results const results(as_int32, exec);
  std::vector<gpu_hop_out> out;
  std::vector<std::int64_t> shape = {trees.num_roots};
  for (tree_hop& hop : trees.hops) {
    if (hop.fanout == -1) {
      shape = {hop.vertices.size()};
    } else {
      shape.push_back(hop.fanout);
    }
    std::optional<gpu_array> edges;
    if (with_edges) { edges = results.numbers(std::move(hop.edges), shape); }
    std::optional<gpu_array> offsets;
    if (std::int64_t const size = hop.offsets.size(); size > 0) {
      offsets = results.numbers(std::move(hop.offsets), {size});
    }
    out.emplace_back(results.ids(std::move(hop.vertices), shape), std::move(edges), std::move(offsets));
  }
  return results.finished(std::move(out));
}

void bind_sample(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<khop_params> params(module, "KHopParams");
  params.def(nb::init<>())
      .def_rw("fanouts", &khop_params::fanouts)
      .def_rw("replace", &khop_params::replace)
      .def_rw("weighted", &khop_params::weighted)
      .def_rw("seed", &khop_params::seed)
      .def_rw("table_bytes", &khop_params::table_bytes, nb::arg().none())
      .def("validate", [](khop_params const& p) { validate(p); });
  def_named(params, "rule", &khop_params::rule);

  module.def("khop_sample", &khop, "graph"_a, "seeds"_a.noconvert(), "params"_a, "as_int32"_a, "first_root"_a,
             "with_edges"_a, "num_threads"_a);
  module.def("khop_sample_gpu", &khop_gpu, "graph"_a, "seeds"_a, "params"_a, "as_int32"_a, "first_root"_a,
             "with_edges"_a, "stream"_a);
  module.def("plan_khop", &plan, "graph"_a, "params"_a, "num_roots"_a, "num_threads"_a);
}

}  // namespace tendril::python
