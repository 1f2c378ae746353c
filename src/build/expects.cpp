#include "build/expects.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::build {

void expect_num_vertices(build_options const& options)
{
  TENDRIL_EXPECTS(options.num_vertices >= -1 && options.num_vertices <= max_num_vertices,
                  "build_graph: num_vertices is {}, expected -1 (one more than the largest id) or 0 to {}",
                  options.num_vertices, max_num_vertices);
}

void expect_lengths(coo_view const& edges)
{
  std::size_t const size = edges.sources.size();
  auto const expect = [size](char const* name, std::size_t length) {
    TENDRIL_EXPECTS(length == size, "build_graph: {} {}, expected as many as sources, {}", length, name, size);
  };
  expect("targets", edges.targets.size());
  if (!edges.weights.empty()) { expect("weights", edges.weights.size()); }
}

std::int64_t id_limit(build_options const& options)
{
  return options.num_vertices >= 0 ? options.num_vertices : max_num_vertices;
}

void expect_edge(std::int64_t k, vertex_id u, vertex_id v, float const* weight, build_options const& options)
{
  char const* const name = options.num_vertices >= 0 ? "num_vertices" : "the largest number of vertices";
  std::int64_t const limit = id_limit(options);
  TENDRIL_EXPECTS(u < limit, "build_graph: edge {}: source {}, expected an id below {}, {}", k, u, name, limit);
  TENDRIL_EXPECTS(v < limit, "build_graph: edge {}: target {}, expected an id below {}, {}", k, v, name, limit);
  if (weight != nullptr && (!std::isfinite(*weight) || *weight < 0)) {
    throw format_error(fmt::format("build_graph: edge {}: weight {}, expected a finite number >= 0", k, *weight));
  }
}

void throw_too_many_edges(std::int64_t v, std::int64_t degree)
{
  throw argument_error(
      fmt::format("build_graph: vertex {} would have {} edges, expected at most 4294967295", v, degree));
}

}  // namespace tendril::build
