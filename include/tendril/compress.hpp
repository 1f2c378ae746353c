#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

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
/// sample of the result equals that of `input`. Weights, labels of edges and edge ids are put into fewer bits where that
/// takes fewer bytes (narrow_edges), without loss; all else is shared, not copied: in addition to `input` the call needs
/// the memory of what it makes alone. The result doesn't depend on the number of threads.
/// @throws argument_error if `input` is on a GPU: for that there is a gpu_exec; format_error if its content is not sound;
///         memory_error.
[[nodiscard]] graph compress(graph const& input, graph_form form, cpu_exec const& exec = {});

/// The same graph in CSR form: 4 bytes an edge; `input` itself if it has that form. Throws as `compress`.
[[nodiscard]] graph to_csr(graph const& input, cpu_exec const& exec = {});

/// The same of a graph on the GPU of `exec`, in that GPU's memory, with equal bytes. In addition to `input` and the result
/// a call takes 2 bytes a vertex; where `input` is compressed, at most 1.6 GiB and the neighbours of 49,152 vertices.
/// Synchronises.
/// @throws argument_error if `input` is not on that GPU; format_error if its content is not sound; memory_error;
///         device_error.
[[nodiscard]] graph compress(graph const& input, graph_form form, gpu_exec const& exec);
[[nodiscard]] graph to_csr(graph const& input, gpu_exec const& exec);

/// The weights, labels and ids of a graph's edges as arrays, whatever its form: shared with the graph where it has such
/// arrays, else decoded into new ones. Empty if there are none. Throws as `compress`.
[[nodiscard]] shared_array<float> edge_weights(graph const& input, cpu_exec const& exec = {});
[[nodiscard]] label_array edge_labels(graph const& input, cpu_exec const& exec = {});
[[nodiscard]] shared_array<edge_id> edge_ids(graph const& input, cpu_exec const& exec = {});

/// How one edge array of a graph is stored.
struct edge_array_size {
  std::string_view name;     ///< "weights", "edge_labels" or "edge_ids"
  std::string_view form;     ///< "array", "dictionary", "narrow", or "positions": ids that need no bits.
  double bits_per_edge = 0;  ///< With the dictionary.
};
/// Those that the graph has. Reads no array.
[[nodiscard]] std::vector<edge_array_size> edge_array_sizes(graph const& input);

/// The lists that are written in one code. A vertex without neighbours has no list.
struct code_share {
  std::int64_t num_lists = 0;
  edge_id num_edges = 0;
  std::int64_t num_bits = 0;  ///< Of the neighbours alone.

  /// 0 without edges.
  [[nodiscard]] double bits_per_edge() const noexcept
  {
    return num_edges == 0 ? 0 : static_cast<double>(num_bits) / static_cast<double>(num_edges);
  }
};

/// What a graph's neighbours take, by code (<tendril/list_code.hpp>). The bits of all codes, headers, padding and
/// directory are those that `graph::bits_per_edge` divides.
struct list_statistics {
  code_share csr;                                              ///< All lists of a graph in CSR form: 32 bits an edge.
  code_share fixed, runs, runs_elias_fano, elias_fano, vbyte;  ///< Those of a compressed graph.
  std::int64_t header_bits = 0;                                ///< 8 for each list that begins with its own header.
  std::int64_t padding_bits = 0;    ///< What the lists' words hold besides; < 0 where lists of a foreign file overlap.
  std::int64_t directory_bits = 0;  ///< Blocks and wide entries; in CSR form `indptr`.
  std::int64_t csr_bits = 0;        ///< Neighbours and directory in CSR form.

  /// Each code's name and lists.
  [[nodiscard]] std::array<std::pair<std::string_view, code_share>, 6> codes() const noexcept
  {
    return {{{"csr", csr},
             {"fixed", fixed},
             {"runs", runs},
             {"runs_elias_fano", runs_elias_fano},
             {"elias_fano", elias_fano},
             {"vbyte", vbyte}}};
  }
};

/// Counts a graph's lists by the codes that they are written in, in one parallel pass over the neighbours.
/// @throws argument_error if `input` is on a GPU; format_error if its content is not sound.
[[nodiscard]] list_statistics count_lists(graph const& input, cpu_exec const& exec = {});

}  // namespace tendril
