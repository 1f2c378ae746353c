#pragma once

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/names.hpp>

namespace tendril {

template <>
inline constexpr std::array<named<graph_form>, 6> enum_names<graph_form>{{{graph_form::csr, "csr"},
                                                                          {graph_form::packed, "packed"},
                                                                          {graph_form::runs, "runs"},
                                                                          {graph_form::ef, "ef"},
                                                                          {graph_form::vbyte, "vbyte"},
                                                                          {graph_form::best, "auto"}}};

/// The same graph with its neighbours stored in another form, in host memory; `input` itself if it has that form. Every
/// sample of the result equals that of `input`. Weights, labels, ids and metadata are shared, not copied: in addition
/// to `input` the call needs the memory of the new neighbours and their directory alone. The result doesn't depend on the number of
/// threads.
/// @throws argument_error if `input` is on a GPU; format_error if its content is not sound; memory_error.
[[nodiscard]] graph compress(graph const& input, graph_form form, cpu_exec const& exec = {});

/// The same graph in CSR form: 4 bytes an edge; `input` itself if it has that form. Throws as `compress`.
[[nodiscard]] graph to_csr(graph const& input, cpu_exec const& exec = {});

}  // namespace tendril
