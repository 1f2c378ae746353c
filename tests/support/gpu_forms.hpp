#pragma once

// A graph in a GPU's memory in every form: samples must not depend on it.

#include <utility>
#include <vector>

#include <tendril/gpu.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/place.hpp>

#include "support/graph_forms.hpp"

namespace tendril::test {

/// The graph, of whose lists a share lies on the GPU, and the others in host memory.
inline graph partly_on_gpu(graph const& host, double share, gpu_exec const& exec, place_params params = {})
{
  graph const packed = host.form() == graph_form::csr ? compress(host, graph_form::packed) : host;
  compressed_lists const& lists = packed.arrays().compressed;
  std::int64_t const directory = lists.num_bytes() - 4 * lists.words.size();
  label_array const& types = host.arrays().node_types;
  std::int64_t const dictionary = 4 * host.arrays().narrow.weight_values.size();
  params.gpu_bytes = directory + dictionary + types.size() * types.bytes_per_label() +
                     static_cast<std::int64_t>(share * static_cast<double>(host.num_bytes()));
  return place_graph(host, params, exec);
}

/// CSR first; last a graph of which half lies on the GPU.
inline std::vector<graph> all_forms_on_gpu(graph const& host, gpu_exec const& exec)
{
  std::vector<graph> out;
  for (graph const& g : in_all_forms(host)) { out.push_back(to_gpu(g, exec)); }
  graph const narrow = with_narrow_edges(compress(host, graph_form::packed));
  out.push_back(partly_on_gpu(narrow, 0.3, exec, {.policy = placement_policy::degree}));
  return out;
}

/// What all edge types take on a GPU that holds no list.
inline std::int64_t directories_of(hetero_graph const& host)
{
  std::int64_t bytes = 0;
  for (edge_type const& type : host.edge_types()) {
    bool const plain = type.edges.form() == graph_form::csr;
    compressed_lists const lists = (plain ? compress(type.edges, graph_form::packed) : type.edges).arrays().compressed;
    bytes += lists.num_bytes() - 4 * lists.words.size();
  }
  return bytes;
}

/// The same of a graph of several types: a share of all lists, and of what edges carry.
inline hetero_graph partly_on_gpu(hetero_graph const& host, double share, gpu_exec const& exec,
                                  place_params params = {.job = minibatch_params{}})
{
  std::int64_t bytes = 0;
  for (edge_type const& type : host.edge_types()) { bytes += type.edges.num_bytes() + 12 * type.order.times.size(); }
  params.gpu_bytes = directories_of(host) + static_cast<std::int64_t>(share * static_cast<double>(bytes));
  return place_graph(host, params, exec);
}

inline std::vector<hetero_graph> all_forms_on_gpu(hetero_graph const& host, gpu_exec const& exec)
{
  std::vector<hetero_graph> out;
  for (hetero_graph const& g : in_all_forms(host)) { out.push_back(to_gpu(g, exec)); }
  out.push_back(partly_on_gpu(host, 0.3, exec));
  return out;
}

}  // namespace tendril::test
