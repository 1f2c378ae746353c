// ClusterGCN: clusters of vertices, and the subgraphs that some of them induce.

#include <tendril/cluster.hpp>

#include <algorithm>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <fmt/format.h>

#include "bind.hpp"
#include "names.hpp"
#include "subgraphs.hpp"

namespace tendril::python {
namespace {

/// Clusters, and the GPU that holds them, or -1.
struct held_clusters {
  vertex_clusters clusters;
  int device = -1;
};

array_out cut(graph const& graph, clustering_params const& params, bool as_int32, int num_threads)
{
  expect_int32_ids(graph, as_int32);
  cpu_exec const exec = make_exec(num_threads);
  buffer<vertex_id> made;
  {
    nb::gil_scoped_release const no_gil;
    made = cluster_vertices(graph, params, exec);
  }
  std::int64_t const size = made.size();
  return host_results(as_int32, num_threads).ids(std::move(made), {size});
}

gpu_array cut_gpu(graph const& graph, clustering_params const& params, bool as_int32, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  expect_int32_ids(graph, as_int32);
  gpu_exec const exec = make_gpu_exec(graph, stream);
  gpu_results const results(as_int32, exec);
  buffer<vertex_id> made = cluster_vertices(graph, params, exec);
  std::int64_t const size = made.size();
  return results.finished(results.ids(std::move(made), {size}));
}

held_clusters group(array_in const& cluster_of, std::int64_t num_clusters, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  shared_array<vertex_id> const from = import_ids(cluster_of, "cluster_of", num_threads);
  return {group_clusters(from.span(), num_clusters, exec), -1};
}

held_clusters group_gpu(graph const& graph, gpu_ids const& cluster_of, std::int64_t num_clusters, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  gpu_exec const exec = make_gpu_exec(graph, stream);
  gpu_starts const from = bring(&cluster_of, 1, graph, exec);
  held_clusters made{{}, exec.device};
  run_with(cluster_of, exec, [&] { made.clusters = group_clusters(from.ids, num_clusters, exec); });
  return made;
}

/// Vertices and offsets, as copies.
std::tuple<array_out, array_out> look(held_clusters const& held, int num_threads)
{
  std::int64_t const num_vertices = held.clusters.vertices.size();
  buffer<std::int64_t> vertices(num_vertices);
  widen(held.clusters.vertices.data(), vertices.data(), num_vertices, num_threads);
  buffer<std::int64_t> offsets(held.clusters.offsets.size());
  std::copy(held.clusters.offsets.begin(), held.clusters.offsets.end(), offsets.begin());
  std::int64_t const num_offsets = offsets.size();
  return {give(std::move(vertices), {num_vertices}), give(std::move(offsets), {num_offsets})};
}

std::tuple<gpu_array, gpu_array> look_gpu(held_clusters const& held, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  gpu_exec const exec = make_gpu_exec(held.device, stream);
  gpu_results const results(false, exec);
  std::int64_t const num_vertices = held.clusters.vertices.size();
  buffer<std::int64_t> vertices(num_vertices, memory_of(exec));
  widen_ids(held.clusters.vertices.data(), 1, num_vertices, vertices.data(), num_vertices, exec);
  std::int64_t const num_offsets = held.clusters.offsets.size();
  buffer<std::int64_t> offsets(num_offsets, memory_of(exec));
  copy_on_gpu(held.clusters.offsets.data(), offsets.data(),
              static_cast<std::size_t>(num_offsets) * sizeof(std::int64_t), exec);
  std::tuple<gpu_array, gpu_array> out = {results.numbers(std::move(vertices), {num_vertices}),
                                          results.numbers(std::move(offsets), {num_offsets})};
  return results.finished(std::move(out));
}

subgraphs_out<array_out> epochs(graph const& graph, held_clusters const& held, cluster_params const& params,
                                std::int64_t num_samples, bool as_int32, std::int64_t first_sample, int num_threads)
{
  return subgraphs_on_cpu(graph, as_int32, num_threads, [&](cpu_exec const& exec) {
    return cluster_sample(graph, held.clusters, params, num_samples, exec, first_sample);
  });
}

subgraphs_out<gpu_array> epochs_gpu(graph const& graph, held_clusters const& held, cluster_params const& params,
                                    std::int64_t num_samples, bool as_int32, std::int64_t first_sample,
                                    std::uintptr_t stream)
{
  return subgraphs_on_gpu(graph, as_int32, stream, [&](gpu_exec const& exec) {
    return cluster_sample(graph, held.clusters, params, num_samples, exec, first_sample);
  });
}

subgraphs_out<array_out> chosen(graph const& graph, held_clusters const& held, array_in const& lists,
                                array_in const& offsets, bool as_int32, int num_threads)
{
  shared_array<std::int64_t> const cuts = share<std::int64_t>(offsets);
  return subgraphs_on_cpu(graph, as_int32, num_threads, [&](cpu_exec const& exec) {
    shared_array<vertex_id> const from = import_ids(lists, "lists", num_threads);
    return cluster_subgraphs(graph, held.clusters, from.span(), cuts.span(), exec);
  });
}

subgraphs_out<gpu_array> chosen_gpu(graph const& graph, held_clusters const& held, gpu_ids const& lists,
                                    gpu_values const& offsets, bool as_int32, std::uintptr_t stream)
{
  return subgraphs_on_gpu(graph, as_int32, stream, [&](gpu_exec const& exec) {
    gpu_starts const from = bring(&lists, 1, graph, exec);
    gpu_numbers<std::int64_t> const cuts = bring_values<std::int64_t>(offsets, exec);
    subgraphs made;
    run_with(lists, exec, [&] { made = cluster_subgraphs(graph, held.clusters, from.ids, cuts.span, exec); });
    return made;
  });
}

}  // namespace

void bind_clusters(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<clustering_params> params(module, "ClusteringParams");
  params.def(nb::init<>())
      .def_rw("num_clusters", &clustering_params::num_clusters)
      .def_rw("seed", &clustering_params::seed);
  def_named(params, "method", &clustering_params::method);
  nb::class_<cluster_params>(module, "ClusterParams")
      .def(nb::init<>())
      .def_rw("clusters_per_sample", &cluster_params::clusters_per_sample)
      .def_rw("seed", &cluster_params::seed);
  nb::class_<held_clusters>(module, "VertexClusters")
      .def_prop_ro("num_clusters", [](held_clusters const& held) { return held.clusters.num_clusters; })
      .def_prop_ro("num_vertices", [](held_clusters const& held) { return held.clusters.vertices.size(); })
      .def_ro("device", &held_clusters::device)
      .def("arrays", &look, "num_threads"_a)
      .def("arrays_gpu", &look_gpu, "stream"_a);

  module.def("cluster_vertices", &cut, "graph"_a, "params"_a, "as_int32"_a, "num_threads"_a);
  module.def("cluster_vertices_gpu", &cut_gpu, "graph"_a, "params"_a, "as_int32"_a, "stream"_a);
  module.def("group_clusters", &group, "cluster_of"_a.noconvert(), "num_clusters"_a, "num_threads"_a);
  module.def("group_clusters_gpu", &group_gpu, "graph"_a, "cluster_of"_a, "num_clusters"_a, "stream"_a);
  module.def("cluster_sample", &epochs, "graph"_a, "clusters"_a, "params"_a, "num_samples"_a, "as_int32"_a,
             "first_sample"_a, "num_threads"_a);
  module.def("cluster_sample_gpu", &epochs_gpu, "graph"_a, "clusters"_a, "params"_a, "num_samples"_a, "as_int32"_a,
             "first_sample"_a, "stream"_a);
  module.def("cluster_subgraphs", &chosen, "graph"_a, "clusters"_a, "lists"_a.noconvert(), "offsets"_a.noconvert(),
             "as_int32"_a, "num_threads"_a);
  module.def("cluster_subgraphs_gpu", &chosen_gpu, "graph"_a, "clusters"_a, "lists"_a, "offsets"_a, "as_int32"_a,
             "stream"_a);
}

}  // namespace tendril::python
