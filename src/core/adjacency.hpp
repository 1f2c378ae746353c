// Is x a neighbour of u? Neighbours ascend, so: a binary search for one question (row.contains), a gallop for ascending
// questions.

#pragma once

#include <cstdint>

#include <tendril/row.hpp>
#include <tendril/types.hpp>

namespace tendril::core {

/// One binary-search step over `size` > 1 sorted values at `first`: halves the range that can hold the last value
/// not above x.
TENDRIL_HD void search_halve(vertex_id const*& first, std::uint32_t& size, vertex_id x)
{
  std::uint32_t const half = size / 2;
  first += first[half] <= x ? half : 0;
  size -= half;
}

/// Whether the sorted range [first, first + size) contains x.
TENDRIL_HD bool contains(vertex_id const* first, std::uint32_t size, vertex_id x)
{
  if (size == 0) { return false; }
  while (size > 1) { search_halve(first, size, x); }
  return *first == x;
}

/// The first position at or after `from` whose value is not below x, where value_at(i) ascends for i below `size`: doubles
/// the stride, then halves it. A sequence of ascending questions that hands on the position costs O(distance), not
/// O(log size).
template <class ValueAt>
TENDRIL_HD std::uint32_t gallop_by(ValueAt value_at, std::uint32_t size, std::uint32_t from, vertex_id x)
{
  std::uint32_t low = from;
  std::uint32_t stride = 1;
  while (low < size && size - low > stride && value_at(low + stride - 1) < x) {
    low += stride;
    stride *= 2;
  }
  std::uint32_t count = size - low < stride ? size - low : stride;
  while (count > 0) {
    std::uint32_t const half = count / 2;
    bool const right = value_at(low + half) < x;
    low += right ? half + 1 : 0;
    count = right ? count - half - 1 : half;
  }
  return low;
}

TENDRIL_HD std::uint32_t gallop(vertex_id const* values, std::uint32_t size, std::uint32_t from, vertex_id x)
{
  return gallop_by([values](std::uint32_t i) { return values[i]; }, size, from, x);
}

template <graph_row Row>
TENDRIL_HD std::uint32_t gallop(Row const& row, std::uint32_t from, vertex_id x)
{
  return gallop_by([&row](std::uint32_t i) { return row.neighbor(i); }, row.degree(), from, x);
}

}  // namespace tendril::core
