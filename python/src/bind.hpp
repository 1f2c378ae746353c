#pragma once

#include <nanobind/nanobind.h>

namespace tendril::python {

/// Each adds one part of the library to the module; gpu.cpp's and graph.cpp's classes come first, the others take them.
void bind_errors(nanobind::module_& module);
void bind_exec(nanobind::module_& module);
void bind_gpu(nanobind::module_& module);
void bind_several_gpus(nanobind::module_& module);
void bind_graph(nanobind::module_& module);
void bind_graph_state(nanobind::module_& module);
void bind_io(nanobind::module_& module);
void bind_generate(nanobind::module_& module);
void bind_walk(nanobind::module_& module);
void bind_walk_counts(nanobind::module_& module);
void bind_custom_walk(nanobind::module_& module);
void bind_custom_application(nanobind::module_& module);
void bind_multidim(nanobind::module_& module);
void bind_sample(nanobind::module_& module);
void bind_minibatch(nanobind::module_& module);
void bind_hgt(nanobind::module_& module);
void bind_negatives(nanobind::module_& module);
void bind_layers(nanobind::module_& module);
void bind_layer_sampling(nanobind::module_& module);
void bind_subgraphs(nanobind::module_& module);
void bind_clusters(nanobind::module_& module);
void bind_place(nanobind::module_& module);
void bind_features(nanobind::module_& module);
void bind_feature_cache(nanobind::module_& module);
void bind_dist(nanobind::module_& module);

}  // namespace tendril::python
