// Sorts vertices by a number that each one has.

#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include <tendril/buffer.hpp>
#include <tendril/checked.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::build {

/// The numbers 0, 1, … below `size`.
inline buffer<vertex_id> all_vertices(std::int64_t size, cpu_exec const& exec)
{
  buffer<vertex_id> out(size, *exec.memory);
  base::parallel_ranges(exec, size, std::int64_t{1} << 16U, [&](std::int64_t begin, std::int64_t end) {
    std::iota(out.data() + begin, out.data() + end, static_cast<vertex_id>(begin));
  });
  return out;
}

/// Sorts `vertices` by key(v), which is below 2^key_bits; vertices of equal keys keep their order. A radix sort: each
/// pass counts digits by chunk and moves every chunk's vertices to their places. Takes 4 bytes a vertex.
template <class Key>
void sort_stably(buffer<vertex_id>& vertices, unsigned key_bits, Key const& key, cpu_exec const& exec)
{
  constexpr unsigned digit_bits = 11;
  constexpr std::int64_t radix = std::int64_t{1} << digit_bits;
  std::int64_t const size = vertices.size();
  std::int64_t const chunk = std::max<std::int64_t>(std::int64_t{1} << 16U, size / 1024);
  std::int64_t const num_chunks = (size + chunk - 1) / chunk;
  buffer<vertex_id> sorted(key_bits > 0 ? size : 0, *exec.memory);
  buffer<std::int64_t> places(checked_product("digits of vertices", num_chunks, radix), *exec.memory);
  for (unsigned shift = 0; shift < key_bits; shift += digit_bits) {
    auto const digit = [&](vertex_id v) {
      return static_cast<std::int64_t>((std::uint64_t{key(v)} >> shift) & static_cast<std::uint64_t>(radix - 1));
    };
    std::fill(places.begin(), places.end(), 0);
    base::parallel_ranges(exec, size, chunk, [&](std::int64_t begin, std::int64_t end) {
      auto* const counts = places.data() + begin / chunk * radix;
      for (std::int64_t i = begin; i < end; ++i) { ++counts[digit(vertices[i])]; }
    });
    std::int64_t sum = 0;
    for (std::int64_t d = 0; d < radix; ++d) {
      for (std::int64_t c = 0; c < num_chunks; ++c) { sum += std::exchange(places[c * radix + d], sum); }
    }
    base::parallel_ranges(exec, size, chunk, [&](std::int64_t begin, std::int64_t end) {
      auto* const next = places.data() + begin / chunk * radix;
      for (std::int64_t i = begin; i < end; ++i) { sorted[next[digit(vertices[i])]++] = vertices[i]; }
    });
    std::swap(vertices, sorted);
  }
}

}  // namespace tendril::build
