#pragma once

// A graph in a GPU's memory in every form: samples must not depend on it.

#include <utility>
#include <vector>

#include <tendril/compress.hpp>
#include <tendril/gpu.hpp>
#include <tendril/hetero_graph.hpp>

namespace tendril::test {

/// CSR first.
inline std::vector<graph> all_forms_on_gpu(graph const& host, gpu_exec const& exec)
{
  return {to_gpu(host, exec), to_gpu(compress(host, graph_form::packed), exec)};
}

/// The same graph; the edges of every type t for which is_packed(t) are packed.
template <class IsPacked>
hetero_graph packed_types(hetero_graph const& host, IsPacked is_packed)
{
  std::vector<edge_type> types = host.edge_types();
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (is_packed(t)) { types[t].edges = compress(types[t].edges, graph_form::packed); }
  }
  return {host.num_vertices(), std::move(types)};
}

inline std::vector<hetero_graph> all_forms_on_gpu(hetero_graph const& host, gpu_exec const& exec)
{
  return {to_gpu(host, exec), to_gpu(packed_types(host, [](std::size_t) { return true; }), exec)};
}

}  // namespace tendril::test
