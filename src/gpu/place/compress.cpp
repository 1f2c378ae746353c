// From one form of a graph to another in a GPU's memory. encoder.cu writes lists, decode.cu reads them. CPU twin:
// src/place/compress.cpp.

#include <tendril/compress.hpp>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/graph/soundness.hpp"
#include "gpu/place/decode.hpp"
#include "gpu/place/encoder.hpp"
#include "gpu/place/narrow.hpp"
#include "graph/places.hpp"

namespace tendril {
namespace gpu {
namespace {

/// The rows of a graph in CSR form, in place.
class csr_source final : public row_source {
 public:
  explicit csr_source(csr_arrays const& arrays) : arrays_(arrays) {}

  [[nodiscard]] std::vector<std::int64_t> batch_ends() const override { return {arrays_.num_vertices}; }
  place::listed_rows load(std::int64_t, std::int64_t, edge_id) override
  {
    return {arrays_.indices, arrays_.indptr, 0, 0};
  }
  [[nodiscard]] edge_id num_loaded() const override { return arrays_.num_edges; }

 private:
  csr_arrays arrays_;
};

void expect_sound(graph const& input, gpu_exec const& exec)
{
  if (input.content() != graph_content::unchecked || is_sound(input.arrays(), exec)) { return; }
  auto const vertex = input.form() == graph_form::csr ? std::nullopt : find_bad_list(input.arrays().compressed, exec);
  std::string const what = vertex ? fmt::format("vertex {}: its list on GPU {} is", *vertex, exec.device)
                                  : fmt::format("its arrays on GPU {} are", exec.device);
  throw format_error(fmt::format("graph: {} not sound, expected what graph::validate accepts", what));
}

graph pack(graph const& input, graph_form form, gpu_exec const& exec)
{
  expect_sound(input, exec);
  graph_arrays arrays = input.arrays();
  arrays.compressed = input.view().visit([&](auto const& g) {
    if constexpr (std::is_same_v<std::decay_t<decltype(g)>, csr_view>) {
      csr_source rows(input.csr());
      return encode_lists(rows, input.num_vertices(), form, exec);
    } else {
      decoded_source rows(g, decoded_source::usual_edges, exec);
      return encode_lists(rows, input.num_vertices(), form, exec);
    }
  });
  arrays.indptr = {};
  arrays.indices = {};
  narrow(arrays, exec);
  return graph(std::move(arrays), input.content());
}

graph unpack(graph const& input, gpu_exec const& exec)
{
  expect_sound(input, exec);
  buffer<edge_id> indptr(input.num_vertices() + 1, memory_of(exec));
  buffer<vertex_id> indices(input.num_edges(), memory_of(exec));
  input.view().visit([&](auto const& g) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(g)>, csr_view>) {
      decode(g, 0, g.num_vertices, 0, indptr.data(), indices.data(), exec);
    }
  });
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  graph_arrays arrays = input.arrays();
  arrays.compressed = {};
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  widen(arrays, exec);
  return graph(std::move(arrays), input.content());
}

}  // namespace
}  // namespace gpu

graph compress(graph const& input, graph_form form, gpu_exec const& exec)
{
  validation::expect_on_gpu(input, exec);
  if (input.form() == form) { return input; }
  gpu::device_guard const guard(exec.device);
  return form == graph_form::csr ? gpu::unpack(input, exec) : gpu::pack(input, form, exec);
}

graph to_csr(graph const& input, gpu_exec const& exec) { return compress(input, graph_form::csr, exec); }

}  // namespace tendril
