// Graphs of known structure, written straight into a CSR.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <tendril/generate.hpp>

#include "base/expects.hpp"     // TENDRIL_EXPECTS
#include "base/parallel.hpp"    // parallel_ranges
#include "generate/finish.hpp"  // decorate
#include "generate/params.hpp"  // expect_edge_attributes

namespace tendril {
namespace {

/// The divisor of n next below its root: rows of the most square grid.
std::int64_t grid_rows(std::int64_t n)
{
  for (auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))) + 1; rows > 1; --rows) {
    if (rows * rows <= n && n % rows == 0) { return rows; }
  }
  return 1;
}

/// Calls f(begin, end) with ranges of ids, in ascending order, that make up the neighbours of v.
class neighborhoods {
 public:
  neighborhoods(regular_graph kind, std::int64_t n)
      : kind_(kind), n_(n), columns_(kind == regular_graph::grid && n > 0 ? n / grid_rows(n) : 1)
  {
  }

  template <class F>
  void for_each_range(std::int64_t v, F&& f) const
  {
    switch (kind_) {
      case regular_graph::star: v == 0 ? f(std::int64_t{1}, n_) : f(std::int64_t{0}, std::int64_t{1}); break;
      case regular_graph::complete:
        f(std::int64_t{0}, v);
        f(v + 1, n_);
        break;
      case regular_graph::ring:
        if (n_ > 1) {
          auto const before = (v + n_ - 1) % n_, after = (v + 1) % n_;
          auto const low = std::min(before, after), high = std::max(before, after);
          f(low, low + 1);
          if (high != low) { f(high, high + 1); }
        }
        break;
      case regular_graph::grid:
        if (v >= columns_) { f(v - columns_, v - columns_ + 1); }
        if (v % columns_ > 0) { f(v - 1, v); }
        if ((v + 1) % columns_ > 0) { f(v + 1, v + 2); }
        if (v + columns_ < n_) { f(v + columns_, v + columns_ + 1); }
        break;
    }
  }

  [[nodiscard]] std::int64_t degree(std::int64_t v) const
  {
    std::int64_t sum = 0;
    for_each_range(v, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    return sum;
  }

 private:
  regular_graph kind_;
  std::int64_t n_;
  std::int64_t columns_;
};

}  // namespace

graph generate_regular(regular_graph kind, std::int64_t num_vertices, std::uint64_t seed, edge_attributes const& extra,
                       cpu_exec const& exec)
{
  constexpr std::array names{"star", "ring", "grid", "complete"};
  char const* const name = names[static_cast<std::size_t>(kind)];
  TENDRIL_EXPECTS(num_vertices >= 0 && num_vertices <= max_num_vertices,
                  "generate_regular: num_vertices is {}, expected 0 to {}", num_vertices, max_num_vertices);
  generate::expect_edge_attributes("generate_regular", extra);
  auto const n = static_cast<double>(num_vertices);
  generate::expect_memory("generate_regular", 8 * n + 4 * n * (kind == regular_graph::complete ? n : 2));

  neighborhoods const hoods(kind, num_vertices);
  buffer<edge_id> indptr(num_vertices + 1, *exec.memory);
  indptr[0] = 0;
  for (std::int64_t v = 0; v < num_vertices; ++v) { indptr[v + 1] = indptr[v] + hoods.degree(v); }
  buffer<vertex_id> indices(indptr[num_vertices], *exec.memory);
  auto const list_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      auto* out = indices.data() + indptr[v];
      hoods.for_each_range(v, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t u = first; u < last; ++u) { *out++ = static_cast<vertex_id>(u); }
      });
    }
  };
  base::parallel_ranges(exec, num_vertices, generate::vertices_a_range, list_range, "generating");
  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  arrays.symmetric = true;
  arrays.metadata = {{"name", fmt::format("{}-{}", name, num_vertices)},
                     {"origin", fmt::format("generated: {}, n {}, seed {}", name, num_vertices, seed)}};
  return generate::decorate(std::move(arrays), extra, seed, exec);
}

}  // namespace tendril
