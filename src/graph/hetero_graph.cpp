#include <algorithm>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/hetero_graph.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "graph/check.hpp"    // expect_ascending_offsets
#include "graph/places.hpp"

namespace tendril {
namespace {

constexpr std::int64_t grain = 4096;

/// @param row  Of v.
template <class Row>
std::string check_row(edge_type const& type, Row const& row, std::int64_t v, std::int64_t num_from, std::int64_t num_to)
{
  edge_id const first = row.first_edge(), last = row.edge(row.degree());
  if (v >= num_from && !row.empty()) {
    return fmt::format("row {} has {} edges, but its type has {} vertices", v, row.degree(), num_from);
  }
  for (std::uint32_t i = 0; i < row.degree(); ++i) {
    if (row.neighbor(i) >= num_to) {
      return fmt::format("vertex {}: neighbour {} at edge {}, expected an id below {}", v, row.neighbor(i), row.edge(i),
                         num_to);
    }
  }
  if (type.order.empty()) { return {}; }
  std::vector<char> seen(static_cast<std::size_t>(last - first));
  for (edge_id e = first; e < last; ++e) {
    std::uint32_t const ordinal = type.order.ordinal[e];
    if (ordinal >= seen.size() || seen[ordinal] != 0) {
      return fmt::format("vertex {}: ordinal {} at {}, expected each below {} once", v, ordinal, e, seen.size());
    }
    seen[ordinal] = 1;
    if (e > first && type.order.times[e] < type.order.times[e - 1]) {
      return fmt::format("vertex {}: times not ascending at {} ({} after {})", v, e, type.order.times[e],
                         type.order.times[e - 1]);
    }
  }
  return {};
}

void check_type(edge_type const& type, std::size_t number, std::vector<std::int64_t> const& num_vertices, int device)
{
  auto const types = static_cast<std::int32_t>(num_vertices.size());
  TENDRIL_EXPECTS(type.from >= 0 && type.from < types && type.to >= 0 && type.to < types,
                  "edge type {}: from {} to {}, expected vertex types below {}", number, type.from, type.to, types);
  TENDRIL_EXPECTS(type.edges.device() == device,
                  "edge type {}: its edges are in {}, those of edge type 0 in {}, expected one place", number,
                  type.edges.device() < 0 ? "host memory" : fmt::format("the memory of GPU {}", type.edges.device()),
                  device < 0 ? "host memory" : fmt::format("the memory of GPU {}", device));
  std::int64_t const rows =
      std::max(num_vertices[static_cast<std::size_t>(type.from)], num_vertices[static_cast<std::size_t>(type.to)]);
  TENDRIL_EXPECTS(type.edges.num_vertices() >= rows,
                  "edge type {}: a graph of {} vertices, expected at least {}, the larger of its two types", number,
                  type.edges.num_vertices(), rows);
  edge_id const edges = type.edges.num_edges();
  TENDRIL_EXPECTS(type.order.times.size() == type.order.ordinal.size(),
                  "edge type {}: {} times and {} ordinals, expected as many", number, type.order.times.size(),
                  type.order.ordinal.size());
  TENDRIL_EXPECTS(type.order.empty() || type.order.times.size() == edges,
                  "edge type {}: {} times, expected one an edge: {}", number, type.order.times.size(), edges);
}

void expect_sound(graph const& edges, std::size_t type, cpu_exec const& exec)
{
  try {
    edges.check(exec);
  } catch (format_error const& problem) {
    throw format_error(fmt::format("edge type {}: {}", type, problem.what()));
  }
}

std::vector<edge_type> one_type(graph&& edges, temporal_order&& order)
{
  std::vector<edge_type> out;
  out.push_back({0, 0, std::move(edges), std::move(order)});
  return out;
}

}  // namespace

hetero_graph::hetero_graph(graph edges, temporal_order order)  // braces: the number is asked for before the move
    : hetero_graph{std::vector<std::int64_t>{edges.num_vertices()}, one_type(std::move(edges), std::move(order))}
{
}

hetero_graph::hetero_graph(std::vector<std::int64_t> num_vertices, std::vector<edge_type> edge_types)
    : num_vertices_(std::move(num_vertices)), edge_types_(std::move(edge_types))
{
  constexpr std::size_t most_types = 65535;  // an edge type is half a word of a draw's counter
  TENDRIL_EXPECTS(!num_vertices_.empty(), "num_vertices: none given, expected one a vertex type");
  TENDRIL_EXPECTS(num_vertices_.size() <= most_types && edge_types_.size() <= most_types,
                  "{} vertex types and {} edge types, expected at most {}", num_vertices_.size(), edge_types_.size(),
                  most_types);
  for (std::size_t t = 0; t < num_vertices_.size(); ++t) {
    TENDRIL_EXPECTS(num_vertices_[t] >= 0 && num_vertices_[t] <= max_num_vertices,
                    "num_vertices: {} of vertex type {}, expected 0 to {}", num_vertices_[t], t, max_num_vertices);
  }
  device_ = edge_types_.empty() ? -1 : edge_types_.front().edges.device();
  for (std::size_t t = 0; t < edge_types_.size(); ++t) { check_type(edge_types_[t], t, num_vertices_, device_); }
}

bool hetero_graph::has_times() const noexcept
{
  return std::any_of(edge_types_.begin(), edge_types_.end(), [](auto const& type) { return !type.order.empty(); });
}

void hetero_graph::validate(cpu_exec const& exec) const
{
  validation::expect_in_host_memory(*this);
  for (std::size_t t = 0; t < edge_types_.size(); ++t) {
    edge_type const& type = edge_types_[t];
    if (type.edges.form() == graph_form::csr) {
      validation::expect_ascending_offsets(type.edges, exec);
    } else {  // other forms are decoded, which takes sound arrays
      expect_sound(type.edges, t, exec);
    }
    std::mutex merge;
    std::int64_t first_bad = std::numeric_limits<std::int64_t>::max();
    std::string what;
    validation::view_of(type.edges.arrays()).visit([&](auto const& view) {
      base::parallel_ranges(exec, view.num_vertices, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t v = begin; v < end; ++v) {
          std::string wrong = check_row(type, view.row(v), v, num_vertices_[static_cast<std::size_t>(type.from)],
                                        num_vertices_[static_cast<std::size_t>(type.to)]);
          if (wrong.empty()) { continue; }
          std::lock_guard const lock(merge);
          if (v < first_bad) {
            first_bad = v;
            what = std::move(wrong);
          }
          return;
        }
      });
    });
    if (!what.empty()) { throw format_error(fmt::format("edge type {}: {}", t, what)); }
  }
}

}  // namespace tendril
