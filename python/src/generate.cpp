// The generators.

#include <tendril/generate.hpp>

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <fmt/format.h>

#include <tendril/compress.hpp>  // names of forms
#include <tendril/error.hpp>
#include <tendril/gpu_array.hpp>

#include "bind.hpp"
#include "exec.hpp"
#include "names.hpp"

namespace tendril::python {
namespace {

namespace nb = nanobind;

template <class Params, graph (*Generate)(Params const&, build_options const&, edge_attributes const&, cpu_exec const&)>
graph generate(Params const& params, build_options const& options, edge_attributes const& extra, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return Generate(params, options, extra, exec);
}

graph web_on_gpu(web_params const& params, build_options const& options, edge_attributes const& extra, int device)
{
  nb::gil_scoped_release const no_gil;
  return generate_web(params, options, extra, gpu_exec(device, nullptr, &lasting_gpu_memory(device)));
}

graph regular(std::string const& kind, std::int64_t num_vertices, std::uint64_t seed, edge_attributes const& extra,
              int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return generate_regular(parse_option<regular_graph>("generate: kind", kind), num_vertices, seed, extra, exec);
}

}  // namespace

void bind_generate(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<edge_attributes>(module, "EdgeAttributes")
      .def(nb::init<>())
      .def_rw("has_weights", &edge_attributes::has_weights)
      .def_rw("weight_min", &edge_attributes::weight_min)
      .def_rw("weight_max", &edge_attributes::weight_max)
      .def_rw("weight_sigma", &edge_attributes::weight_sigma)
      .def_rw("num_labels", &edge_attributes::num_labels)
      .def_rw("num_node_types", &edge_attributes::num_node_types);

  nb::class_<rmat_params>(module, "RmatParams")
      .def(nb::init<>())
      .def_rw("scale", &rmat_params::scale)
      .def_rw("edge_factor", &rmat_params::edge_factor)
      .def_rw("a", &rmat_params::a)
      .def_rw("b", &rmat_params::b)
      .def_rw("c", &rmat_params::c)
      .def_rw("scramble", &rmat_params::scramble)
      .def_rw("seed", &rmat_params::seed);

  nb::class_<er_params>(module, "ErParams")
      .def(nb::init<>())
      .def_rw("num_vertices", &er_params::num_vertices)
      .def_rw("num_edges", &er_params::num_edges)
      .def_rw("seed", &er_params::seed);

  nb::class_<powerlaw_params>(module, "PowerlawParams")
      .def(nb::init<>())
      .def_rw("num_vertices", &powerlaw_params::num_vertices)
      .def_rw("exponent", &powerlaw_params::exponent)
      .def_rw("min_degree", &powerlaw_params::min_degree)
      .def_rw("max_degree", &powerlaw_params::max_degree)
      .def_rw("seed", &powerlaw_params::seed);

  auto web = nb::class_<web_params>(module, "WebParams")
                 .def(nb::init<>())
                 .def_rw("num_vertices", &web_params::num_vertices)
                 .def_rw("edge_factor", &web_params::edge_factor)
                 .def_rw("seed", &web_params::seed);
  def_named(web, "form", &web_params::form);

  module.def("generate_rmat", &generate<rmat_params, generate_rmat>, "params"_a, "options"_a, "extra"_a,
             "num_threads"_a);
  module.def("generate_er", &generate<er_params, generate_er>, "params"_a, "options"_a, "extra"_a, "num_threads"_a);
  module.def("generate_powerlaw", &generate<powerlaw_params, generate_powerlaw>, "params"_a, "options"_a, "extra"_a,
             "num_threads"_a);
  module.def("generate_web", &generate<web_params, generate_web>, "params"_a, "options"_a, "extra"_a, "num_threads"_a);
  module.def("generate_web_on_gpu", &web_on_gpu, "params"_a, "options"_a, "extra"_a, "device"_a);
  module.def("generate_regular", &regular, "kind"_a, "num_vertices"_a, "seed"_a, "extra"_a, "num_threads"_a);
}

}  // namespace tendril::python
