// HGSampling.

#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tendril/hgt.hpp>

#include "bind.hpp"
#include "exec.hpp"
#include "minibatch.hpp"

namespace tendril::python {
namespace {

batch_out<array_out> give(minibatch const& made, int num_threads)
{
  return give_batch(made, minibatch_params{.subgraph = subgraph_type::induced}, host_batches(false, num_threads));
}

batch_out<array_out> sample(hetero_graph const& graph, hgt_params const& params, std::vector<array_in> const& seeds,
                            std::uint64_t batch, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  minibatch made;
  {
    nb::gil_scoped_release const no_gil;
    std::vector<shared_array<vertex_id>> ids;
    batch_seeds given;
    for (array_in const& one : seeds) {
      ids.push_back(import_ids(one, "seeds", num_threads));
      given.vertices.push_back(ids.back().span());
    }
    made = hgt_sample(graph, given, params, exec, batch);
  }
  return give(made, num_threads);
}

std::vector<batch_out<array_out>> sample_batches(hetero_graph const& graph, hgt_params const& params,
                                                 std::int32_t vertex_type, array_in const& seeds,
                                                 std::int64_t batch_size, std::uint64_t first_batch,
                                                 std::uint64_t batch_step, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  std::vector<minibatch> made;
  {
    nb::gil_scoped_release const no_gil;
    shared_array<vertex_id> const ids = import_ids(seeds, "seeds", num_threads);
    made = hgt_sample_batches(graph, vertex_type, ids.span(), batch_size, params, exec, {first_batch, batch_step});
  }
  std::vector<batch_out<array_out>> out;
  out.reserve(made.size());
  for (minibatch const& one : made) { out.push_back(give(one, num_threads)); }
  return out;
}

}  // namespace

void bind_hgt(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<hgt_params>(module, "HgtParams")
      .def(nb::init<>())
      .def_rw("num_samples", &hgt_params::num_samples)
      .def_rw("seed", &hgt_params::seed)
      .def("validate", [](hgt_params const& p) { validate(p); });
  module.def("hgt_sample", &sample, "graph"_a, "params"_a, "seeds"_a, "batch"_a, "num_threads"_a);
  module.def("hgt_sample_batches", &sample_batches, "graph"_a, "params"_a, "vertex_type"_a, "seeds"_a.noconvert(),
             "batch_size"_a, "first_batch"_a, "batch_step"_a, "num_threads"_a);
}

}  // namespace tendril::python
