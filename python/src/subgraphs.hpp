#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include <tendril/subgraph.hpp>

#include "arrays.hpp"
#include "exec.hpp"
#include "gpu.hpp"
#include "results.hpp"

namespace tendril::python {

/// Vertices, where they begin, edge index, edges, where they begin.
template <class Array>
using subgraphs_out = std::tuple<Array, Array, Array, Array, Array>;

template <class Results>
[[nodiscard]] subgraphs_out<typename Results::array> give_subgraphs(subgraphs&& made, Results const& results)
{
  std::int64_t const num_nodes = made.nodes.size();
  std::int64_t const num_edges = made.row.size();
  subgraphs_out<typename Results::array> out = {results.ids(std::move(made.nodes), {num_nodes}),
                                                results.numbers(std::move(made.node_offsets), {made.num_samples + 1}),
                                                results.edge_index(std::move(made.row), std::move(made.col)),
                                                results.numbers(std::move(made.edges), {num_edges}),
                                                results.numbers(std::move(made.edge_offsets), {made.num_samples + 1})};
  return results.finished(std::move(out));
}

/// sample(exec), which makes subgraphs, as NumPy's arrays.
template <class F>
[[nodiscard]] subgraphs_out<array_out> subgraphs_on_cpu(graph const& graph, bool as_int32, int num_threads, F&& sample)
{
  expect_int32_ids(graph, as_int32);
  cpu_exec const exec = make_exec(num_threads);
  subgraphs made;
  {
    nb::gil_scoped_release const no_gil;
    made = std::forward<F>(sample)(exec);
  }
  return give_subgraphs(std::move(made), host_results(as_int32, num_threads));
}

/// The same on the GPU that holds the graph.
template <class F>
[[nodiscard]] subgraphs_out<gpu_array> subgraphs_on_gpu(graph const& graph, bool as_int32, std::uintptr_t stream,
                                                        F&& sample)
{
  nb::gil_scoped_release const no_gil;
  expect_int32_ids(graph, as_int32);
  gpu_exec const exec = make_gpu_exec(graph, stream);
  return give_subgraphs(std::forward<F>(sample)(exec), gpu_results(as_int32, exec));
}

}  // namespace tendril::python
