#pragma once

// An array of a graph from a vector. By itself, for tests that a compiler without fmt reads.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tendril/buffer.hpp>

namespace tendril::test {

template <class T>
shared_array<T> to_array(std::vector<T> const& values)
{
  buffer<T> copy(static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), copy.begin());
  return copy;
}

}  // namespace tendril::test
