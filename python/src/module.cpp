// The compiled half of the package: a thin layer over the public headers. It checks no more than what C++ types
// can't say; names, defaults, dtypes and documentation for users live in the Python half.

#include <nanobind/nanobind.h>

#include <tendril/file.hpp>  // end_process_on_truncated_file

#include "bind.hpp"

NB_MODULE(_tendril, module)
{
  module.doc() = "Compiled core of tendril. Not a public interface: use the package.";
  tendril::end_process_on_truncated_file();
  tendril::python::bind_errors(module);
  tendril::python::bind_exec(module);
  tendril::python::bind_gpu(module);
  tendril::python::bind_several_gpus(module);
  tendril::python::bind_graph(module);
  tendril::python::bind_graph_state(module);
  tendril::python::bind_io(module);
  tendril::python::bind_generate(module);
  tendril::python::bind_walk(module);
  tendril::python::bind_walk_counts(module);
  tendril::python::bind_custom_walk(module);
  tendril::python::bind_custom_application(module);
  tendril::python::bind_multidim(module);
  tendril::python::bind_sample(module);
  tendril::python::bind_minibatch(module);
  tendril::python::bind_hgt(module);
  tendril::python::bind_negatives(module);
  tendril::python::bind_layers(module);
  tendril::python::bind_layer_sampling(module);
  tendril::python::bind_subgraphs(module);
  tendril::python::bind_clusters(module);
  tendril::python::bind_place(module);
  tendril::python::bind_features(module);
  tendril::python::bind_feature_cache(module);
  tendril::python::bind_dist(module);
}
