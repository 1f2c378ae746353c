// What the rows of all views have in common. A row is the out-edges of one vertex, as a view of a graph gives them
// (<tendril/csr_view.hpp>, <tendril/compressed_view.hpp>): a trivially copyable handle, valid as long as the graph.
//
//   first_edge()   the number of its first edge: a position in the graph's edge arrays
//   edge(i)        first_edge() + i
//   mark(i)        edge(i) for later, a View::edge_mark: it becomes the number, by a read of memory if need be, when it
//                  is used as an edge_id
//   degree()       the number of its edges; empty() if there is none
//   neighbor(i)    the target of edge i in [0, degree()); targets ascend, and parallel edges stand side by side
//   neighbor(i, load)  the same, read by load(address)
//   weight(i)      its weight; the graph must have weights
//   weights()      the weights of all its edges, as a pointer to them or what reads like one (<tendril/weights.hpp>); the
//                  graph must have weights
//   has_weights()  whether the graph has weights
//   label(i)       its label; the graph must have edge labels
//   prefetch(i)    starts to bring the target of edge i into the cache; host only
//   prefetch_weight(i)  the same of its weight
//   find(x)        the first edge to x or, if there is none, to a larger vertex; degree() if there is none either
//   contains(x)    whether there is an edge to x
//   copied(targets, weights)  the same row, whose targets [degree()] and, unless null, weights are read from copies;
//                  beyond_copy more elements behind the targets are readable, whatever they hold
//   begin(), end() its targets in order: for (vertex_id const v : graph.out_neigh(u)). Quicker than neighbor(i) for each i
//   copy_to(targets)  writes its targets in order, the quickest way to read all; host only
//
// find and contains take O(log degree()). Includes little, so that a program compiled at run time can include it too.

#pragma once

#include <concepts>
#include <cstdint>

#include <tendril/types.hpp>

namespace tendril {

/// Reads by an ordinary load. An executor may pass another function, as one that passes the first-level cache.
struct plain_load {
  template <class T>
  [[nodiscard]] TENDRIL_HD T operator()(T const* address) const
  {
    return *address;
  }
};

/// Starts to bring what lies at `address` into the second-level cache: callers read it after a hundred others, which the
/// first level can't hold, and whose fill buffers are the limit of such gathers. Host only.
inline void prefetch_address([[maybe_unused]] void const* address)
{
#ifndef __CUDACC_RTC__                // which compiles code for the host, too, and knows no such function
  __builtin_prefetch(address, 0, 2);  // docs/benchmarks.md, "What was measured"
#endif
}

/// The edges of one vertex, as described above.
template <class R>
concept graph_row = requires(R const& row, std::uint32_t i, vertex_id x)
{
  {
    row.first_edge()
    } -> std::same_as<edge_id>;
  {
    row.degree()
    } -> std::same_as<std::uint32_t>;
  {
    row.neighbor(i)
    } -> std::same_as<vertex_id>;
  {
    row.weight(i)
    } -> std::same_as<float>;
  {
    row.label(i)
    } -> std::same_as<label_id>;
  {
    row.find(x)
    } -> std::same_as<std::uint32_t>;
};

/// Goes over the targets of a row in order.
template <class Row>
class row_iterator {
 public:
  TENDRIL_HD row_iterator(Row const& row, std::uint32_t i) : row_(&row), i_(i) {}
  [[nodiscard]] TENDRIL_HD vertex_id operator*() const { return row_->neighbor(i_); }
  TENDRIL_HD row_iterator& operator++()
  {
    ++i_;
    return *this;
  }
  [[nodiscard]] TENDRIL_HD bool operator!=(row_iterator const& other) const { return i_ != other.i_; }
  [[nodiscard]] TENDRIL_HD bool operator==(row_iterator const& other) const { return i_ == other.i_; }

 private:
  Row const* row_;
  std::uint32_t i_;
};

/// One step of a binary search for the last target not above x: of the `size` > 1 edges from `first` on, at least one
/// half is ruled out. Executors that interleave searches prefetch neighbor(first + size / 2) between steps.
template <graph_row Row>
TENDRIL_HD void search_halve(Row const& row, std::uint32_t& first, std::uint32_t& size, vertex_id x)
{
  std::uint32_t const half = size / 2;
  first += row.neighbor(first + half) <= x ? half : 0;
  size -= half;
}

/// Whether one of the row's edges leads to x. O(log degree()).
template <graph_row Row>
[[nodiscard]] TENDRIL_HD bool row_contains(Row const& row, vertex_id x)
{
  std::uint32_t first = 0;
  std::uint32_t size = row.degree();
  if (size == 0) { return false; }
  while (size > 1) { search_halve(row, first, size, x); }
  return row.neighbor(first) == x;
}

/// The first edge at or after `from` whose target is not below x; degree() if there is none. O(log (degree() - from)).
template <graph_row Row>
[[nodiscard]] TENDRIL_HD std::uint32_t row_find(Row const& row, vertex_id x, std::uint32_t from = 0)
{
  std::uint32_t low = from;
  std::uint32_t count = row.degree() - from;
  while (count > 0) {
    std::uint32_t const half = count / 2;
    bool const right = row.neighbor(low + half) < x;
    low += right ? half + 1 : 0;
    count = right ? count - half - 1 : half;
  }
  return low;
}

}  // namespace tendril
