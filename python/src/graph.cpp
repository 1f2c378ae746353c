// tendril::graph and the options of its builders.

#include <tendril/graph.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tendril/compress.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/ordered_edges.hpp>
#include <tendril/place.hpp>
#include <tendril/renumber.hpp>
#include <tendril/several_gpus.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "names.hpp"

namespace tendril::python {
namespace {

array_in const* pointer(std::optional<array_in> const& array) { return array ? &*array : nullptr; }

graph from_coo(array_in const& sources, array_in const& targets, std::optional<array_in> const& weights,
               std::optional<array_in> const& labels, build_options const& options, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  shared_array<float> const weights_in = import_weights(pointer(weights));
  label_array const labels_in = import_labels(pointer(labels));
  nb::gil_scoped_release const no_gil;
  shared_array<vertex_id> const sources_in = import_ids(sources, "source", num_threads);
  shared_array<vertex_id> const targets_in = import_ids(targets, "target", num_threads);
  return build_graph({sources_in.span(), targets_in.span(), weights_in.span(), labels_in.view()}, options, exec);
}

template <class Id>
std::span<Id const> elements(array_in const& array)
{
  return {static_cast<Id const*>(array.data()), array.size()};
}

/// Edges that are in order already; nothing if they are not, or something is wrong with them.
std::optional<graph> from_ordered(array_in const& vertices, array_in const& neighbors,
                                  std::optional<array_in> const& weights, std::int64_t num_vertices, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  shared_array<float> const weights_in = import_weights(pointer(weights));
  nb::gil_scoped_release const no_gil;
  auto const build = [&]<class Id>(Id) {
    return build_if_ordered(elements<Id>(vertices), elements<Id>(neighbors), weights_in.span(), num_vertices, exec);
  };
  if (holds<std::int64_t>(vertices) && holds<std::int64_t>(neighbors)) { return build(std::int64_t{}); }
  if (holds<std::int32_t>(vertices) && holds<std::int32_t>(neighbors)) { return build(std::int32_t{}); }
  return std::nullopt;
}

graph from_csr(array_in const& indptr, array_in const& indices, std::optional<array_in> const& weights,
               std::optional<array_in> const& labels, bool symmetric, bool validate, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  graph_arrays arrays;
  arrays.indptr = share<edge_id>(indptr);
  arrays.weights = import_weights(pointer(weights));
  arrays.edge_labels = import_labels(pointer(labels));
  arrays.symmetric = symmetric;
  nb::gil_scoped_release const no_gil;
  arrays.indices = import_ids(indices, "indices", num_threads);
  graph result(std::move(arrays));
  if (validate) { result.validate(exec); }
  return result;
}

/// The same edges with what the builders don't take.
graph with_attributes(graph const& input, std::optional<array_in> const& node_types,
                      std::vector<std::string> edge_label_names, std::vector<std::string> node_type_names,
                      std::map<std::string, std::string> metadata)
{
  graph_arrays arrays = input.arrays();
  if (node_types) { arrays.node_types = import_labels(&*node_types); }
  arrays.edge_label_names = std::move(edge_label_names);
  arrays.node_type_names = std::move(node_type_names);
  arrays.metadata = std::move(metadata);
  return graph(std::move(arrays), input.content());
}

/// The same graph, known to be symmetric if it is.
graph with_symmetry(graph const& input, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  if (!is_symmetric(input, exec)) { return input; }
  graph_arrays arrays = input.arrays();
  arrays.symmetric = true;
  return graph(std::move(arrays), input.content());
}

graph rebuild(graph const& input, build_options const& options, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return build_graph(input, options, exec);
}

graph renumber_by(graph const& input, std::string const& order, std::uint64_t seed, int num_threads)
{
  order_params const params{parse_option<vertex_order>("order", order), seed};
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return renumber(input, params, exec);
}

graph renumber_as(graph const& input, array_in const& order, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return renumber(input, import_ids(order, "order", num_threads).span(), exec);
}

void validate(graph const& input, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  input.validate(exec);
}

graph in_form(graph const& input, std::string const& form, int num_threads)
{
  graph_form const chosen = parse_option<graph_form>("form", form);
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  if (int const device = input.device(); device >= 0) {
    return compress(input, chosen, gpu_exec(device, nullptr, &lasting_gpu_memory(device)));
  }
  return compress(input, chosen, exec);
}

nb::dict list_statistics_of(graph const& input, int num_threads)
{
  list_statistics const lists = [&] {
    cpu_exec const exec = make_exec(num_threads);
    nb::gil_scoped_release const no_gil;
    return count_lists(input, exec);
  }();
  nb::dict codes;
  for (auto const& [name, share] : lists.codes()) {
    nb::dict one;
    one["lists"] = share.num_lists;
    one["edges"] = share.num_edges;
    one["bits"] = share.num_bits;
    codes[nb::str(name.data(), name.size())] = one;
  }
  nb::dict out;
  out["codes"] = codes;
  out["header_bits"] = lists.header_bits;
  out["padding_bits"] = lists.padding_bits;
  out["directory_bits"] = lists.directory_bits;
  out["csr_bits"] = lists.csr_bits;
  return out;
}

/// Whole if `gpu_bytes` hold it (0: the free memory), else placed.
graph on_gpu(graph const& input, std::int64_t gpu_bytes, int device)
{
  nb::gil_scoped_release const no_gil;
  place_params params;
  params.gpu_bytes = gpu_bytes;
  return fit_on_gpu(input, params, gpu_exec(device, nullptr, &lasting_gpu_memory(device)));
}

std::vector<graph> spread(graph const& input, std::vector<int> const& devices)
{
  nb::gil_scoped_release const no_gil;
  return spread_over_gpus(input, gpu_set(devices));
}

/// The GPUs that a graph is spread over; none of other graphs.
std::vector<int> spread_over(graph const& input)
{
  spread_graph const* const whole = input.spread();
  if (whole == nullptr) { return {}; }
  return {whole->devices.begin(), whole->devices.end()};
}

graph on_host(graph const& input)
{
  nb::gil_scoped_release const no_gil;
  return to_host(input);
}

std::optional<array_out> look_at_labels(label_array const& labels)
{
  label_view const view = labels.view();
  switch (view.bytes_per_label) {
    case 1: return look_at(static_cast<std::uint8_t const*>(view.data), labels.size(), labels.owner());
    case 2: return look_at(static_cast<std::uint16_t const*>(view.data), labels.size(), labels.owner());
    default: return std::nullopt;
  }
}

template <class T>
std::optional<array_out> look_at_optional(shared_array<T> const& array)
{
  return array.empty() ? std::nullopt : std::optional(look_at(array));
}

/// An edge array, decoded if need be, by one of the functions of <tendril/compress.hpp>.
template <class Read>
auto read_array(graph const& input, Read read)
{
  cpu_exec const exec = make_exec(0);
  nb::gil_scoped_release const no_gil;
  return read(input, exec);
}

nb::dict edge_bits_of(graph const& input)
{
  nb::dict out;
  for (edge_array_size const& size : edge_array_sizes(input)) {
    out[nb::str(size.name.data(), size.name.size())] = size.bits_per_edge;
  }
  return out;
}

/// A graph made by the default constructor has no indptr; Python sees one offset, as CSR wants it.
array_out look_at_indptr(graph const& input)
{
  static edge_id const none = 0;
  auto const& indptr = input.arrays().indptr;
  return indptr.empty() ? look_at(&none, 1, nullptr) : look_at(indptr);
}

/// Out-degrees. Those of a CSR that was only opened are what its file says; lists are checked before their directory is
/// followed.
array_out degrees(graph const& input)
{
  std::int64_t const num_vertices = input.num_vertices();
  buffer<std::int64_t> out(num_vertices);
  {
    nb::gil_scoped_release const no_gil;
    if (input.form() == graph_form::csr) {
      auto const& indptr = input.arrays().indptr;
      for (std::int64_t v = 0; v < num_vertices; ++v) {
        out[v] = static_cast<std::int64_t>(static_cast<std::uint64_t>(indptr[v + 1]) -
                                           static_cast<std::uint64_t>(indptr[v]));  // whatever they are
      }
    } else {
      input.view().visit([&](auto const& g) {
        for (std::int64_t v = 0; v < num_vertices; ++v) { out[v] = g.degree(v); }
      });
    }
  }
  return give(std::move(out), {num_vertices});
}

}  // namespace

void bind_graph(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<build_options>(module, "BuildOptions")
      .def(nb::init<>())
      .def_rw("num_vertices", &build_options::num_vertices)
      .def_rw("reverse", &build_options::reverse)
      .def_rw("symmetrize", &build_options::symmetrize)
      .def_rw("drop_self_loops", &build_options::drop_self_loops)
      .def_rw("drop_duplicates", &build_options::drop_duplicates)
      .def_rw("compact", &build_options::compact)
      .def_rw("keep_edge_ids", &build_options::keep_edge_ids);

  nb::class_<graph>(module, "Graph")
      .def_static("from_coo", &from_coo, "sources"_a.noconvert(), "targets"_a.noconvert(),
                  "weights"_a.noconvert().none(), "labels"_a.noconvert().none(), "options"_a, "num_threads"_a)
      .def_static("from_ordered", &from_ordered, "vertices"_a.noconvert(), "neighbors"_a.noconvert(),
                  "weights"_a.noconvert().none(), "num_vertices"_a, "num_threads"_a)
      .def_static("from_csr", &from_csr, "indptr"_a.noconvert(), "indices"_a.noconvert(),
                  "weights"_a.noconvert().none(), "labels"_a.noconvert().none(), "symmetric"_a, "validate"_a,
                  "num_threads"_a)
      .def("with_attributes", &with_attributes, "node_types"_a.noconvert().none(), "edge_label_names"_a,
           "node_type_names"_a, "metadata"_a)
      .def("with_symmetry", &with_symmetry, "num_threads"_a)
      .def("rebuild", &rebuild, "options"_a, "num_threads"_a)
      .def("renumber_by", &renumber_by, "order"_a, "seed"_a, "num_threads"_a)
      .def("renumber_as", &renumber_as, "order"_a.noconvert(), "num_threads"_a)
      .def("validate", &validate, "num_threads"_a)
      .def("in_form", &in_form, "form"_a, "num_threads"_a)
      .def("degrees", &degrees)
      .def("drop_derived", &graph::drop_derived)
      .def("fit_on_gpu", &on_gpu, "gpu_bytes"_a, "device"_a)
      .def(
          "fits_on_gpu",
          [](graph const& g, std::int64_t gpu_bytes, int device) {
            return fits_on_gpu(g, gpu_bytes, gpu_exec(device));
          },
          "gpu_bytes"_a, "device"_a)
      .def("to_host", &on_host)
      .def("spread", &spread, "devices"_a)
      .def("list_statistics", &list_statistics_of, "num_threads"_a)
      .def_prop_ro("source", [](graph const& g) { return g.arrays().source; })
      .def_prop_ro("device", &graph::device)
      .def_prop_ro("spread_over", &spread_over)
      .def_prop_ro("num_vertices", &graph::num_vertices)
      .def_prop_ro("num_edges", &graph::num_edges)
      .def_prop_ro("num_bytes", &graph::num_bytes)
      .def_prop_ro("form", [](graph const& g) { return std::string(to_string(g.form())); })
      .def_prop_ro("bits_per_edge", &graph::bits_per_edge)
      .def_prop_ro("edge_array_bits", &edge_bits_of)
      .def_prop_ro("has_weights", &graph::has_weights)
      .def_prop_ro("has_edge_labels", &graph::has_edge_labels)
      .def_prop_ro("has_node_types", &graph::has_node_types)
      .def_prop_ro("symmetric", [](graph const& g) { return g.arrays().symmetric; })
      .def_prop_ro("metadata", [](graph const& g) { return g.arrays().metadata; })
      .def_prop_ro("edge_label_names", [](graph const& g) { return g.arrays().edge_label_names; })
      .def_prop_ro("node_type_names", [](graph const& g) { return g.arrays().node_type_names; })
      .def_prop_ro("indptr", &look_at_indptr)
      .def_prop_ro("indices", [](graph const& g) { return look_at(g.arrays().indices); })
      .def_prop_ro("weights", [](graph const& g) { return look_at_optional(read_array(g, edge_weights)); })
      .def_prop_ro("edge_labels", [](graph const& g) { return look_at_labels(read_array(g, edge_labels)); })
      .def_prop_ro("node_types", [](graph const& g) { return look_at_labels(g.arrays().node_types); })
      .def_prop_ro("edge_ids", [](graph const& g) { return look_at_optional(read_array(g, edge_ids)); })
      .def_prop_ro("original_ids", [](graph const& g) { return look_at_optional(g.arrays().original_ids); });
}

}  // namespace tendril::python
