// Is x a neighbour of u? Neighbours ascend, so: a binary search for one question, a gallop for ascending questions.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril::core {

/// One binary-search step over `size` > 1 sorted values at `first`: halves the range that can hold the last value
/// not above x. Executors that interleave searches prefetch between steps.
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

/// The first position at or after `from` whose value is not below x, in a sorted range of `size`: doubles the stride,
/// then halves it. A sequence of ascending questions that hands on the position costs O(distance), not O(log size).
TENDRIL_HD std::uint32_t gallop(vertex_id const* values, std::uint32_t size, std::uint32_t from, vertex_id x)
{
  std::uint32_t low = from;
  std::uint32_t stride = 1;
  while (low < size && size - low > stride && values[low + stride - 1] < x) {
    low += stride;
    stride *= 2;
  }
  std::uint32_t count = size - low < stride ? size - low : stride;
  while (count > 0) {
    std::uint32_t const half = count / 2;
    bool const right = values[low + half] < x;
    low += right ? half + 1 : 0;
    count = right ? count - half - 1 : half;
  }
  return low;
}

}  // namespace tendril::core
