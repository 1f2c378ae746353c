// From one form of a graph to another. The lists: <tendril/list_code.hpp>; their directory: <tendril/list_directory.hpp>.

#include <tendril/compress.hpp>

#include "graph/places.hpp"
#include "place/list_encoder.hpp"
#include "place/narrow.hpp"
#include "place/placement.hpp"

namespace tendril {
namespace {

constexpr std::int64_t vertices_a_range = std::int64_t{1} << 14U;

/// The rows of a graph in CSR form, in place.
struct csr_rows {
  csr_arrays arrays;

  [[nodiscard]] place::listed_rows load(std::int64_t begin, std::int64_t, place::row_scratch& scratch) const
  {
    if (arrays.num_vertices == 0) {  // perhaps without arrays
      scratch.clear();
      return scratch.rows(begin);
    }
    return {arrays.indices, arrays.indptr + begin, begin, -arrays.indptr[begin]};
  }
};

compressed_lists lists_of(graph const& input, graph_form form, cpu_exec const& exec)
{
  auto const encode = [&](auto const& rows) {
    return place::encode_lists(rows, input.num_vertices(), form, "compressing", exec);
  };
  return input.view().visit([&](auto const& g) {
    using view = std::decay_t<decltype(g)>;
    if constexpr (std::is_same_v<view, csr_view>) {
      return encode(csr_rows{input.csr()});
    } else {
      return encode(place::decoded_rows<view>{g});
    }
  });
}

graph pack(graph const& input, graph_form form, cpu_exec const& exec)
{
  input.check(exec);
  graph_arrays arrays = input.arrays();
  arrays.compressed = lists_of(input, form, exec);
  arrays.indptr = {};
  arrays.indices = {};
  place::narrow(arrays, exec);
  return graph(std::move(arrays), input.content());
}

graph unpack(graph const& input, cpu_exec const& exec)
{
  input.check(exec);
  buffer<edge_id> indptr(input.num_vertices() + 1, *exec.memory);
  buffer<vertex_id> indices(input.num_edges(), *exec.memory);
  input.view().visit([&](auto const& g) {
    place::for_each_range(g.num_vertices, vertices_a_range, {"unpacking", 0, g.num_vertices}, exec,
                          [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t v = begin; v < end; ++v) {
                              indptr[v] = g.first_edge(v);
                              g.row(v).copy_to(indices.data() + indptr[v]);
                            }
                          });
    indptr[g.num_vertices] = g.num_edges;
  });
  graph_arrays arrays = input.arrays();
  arrays.compressed = {};
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  place::widen(arrays, exec);
  return graph(std::move(arrays), input.content());
}

}  // namespace

compressed_lists place::rewritten(graph const& input, cpu_exec const& exec)
{
  input.check(exec);
  return lists_of(input, input.form(), exec);
}

graph compress(graph const& input, graph_form form, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  if (input.form() == form) { return input; }
  return form == graph_form::csr ? unpack(input, exec) : pack(input, form, exec);
}

graph to_csr(graph const& input, cpu_exec const& exec) { return compress(input, graph_form::csr, exec); }

}  // namespace tendril
