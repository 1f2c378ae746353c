#pragma once

// The contract of multi-dimensional walks, written a second time from docs/reproducibility.md: one sample, prefix sums
// by a plain loop, no code of the engine's but the Philox block and the key of a domain.

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/multidim.hpp>

#include "core/random.hpp"  // draw_block, make_key

namespace tendril::test {

struct multidim_sample {
  std::vector<vertex_id> vertices;
  std::vector<std::int32_t> slots;
  std::int32_t length = 0;

  friend bool operator==(multidim_sample const&, multidim_sample const&) = default;
};

inline multidim_sample reference_multidim(graph const& graph, std::span<vertex_id const> roots,
                                          multidim_params const& params, std::uint64_t walk)
{
  __extension__ using uint128 = unsigned __int128;
  auto const scaled = [](std::uint64_t bits, std::uint64_t size) {
    return static_cast<std::uint64_t>((uint128{bits} * size) >> 64U);
  };
  csr_arrays const g = graph.csr();
  auto const degree = [&](vertex_id v) {
    return static_cast<std::uint64_t>(g.indptr[v + std::int64_t{1}] - g.indptr[v]);
  };
  rng_key const key = core::make_key(params.seed, core::domain::multidim_walk);
  std::vector<vertex_id> set(roots.begin(), roots.end());
  multidim_sample out{set, {}, 0};
  while (out.length < params.length) {
    auto const block = core::draw_block(key, walk, static_cast<std::uint32_t>(out.length), 0);
    std::uint64_t slot = 0;
    if (params.choose == root_choice::uniform) {
      slot = scaled(block.low(), set.size());
    } else {
      std::uint64_t sum = 0;
      for (auto const v : set) { sum += degree(v); }
      if (sum == 0) { break; }
      std::uint64_t const x = scaled(block.low(), sum);
      std::uint64_t prefix = degree(set[0]);
      while (prefix <= x) { prefix += degree(set[++slot]); }
    }
    vertex_id& root = set[slot];
    if (degree(root) == 0) { break; }
    root = g.indices[static_cast<std::uint64_t>(g.indptr[root]) + scaled(block.high(), degree(root))];
    out.vertices.push_back(root);
    out.slots.push_back(static_cast<std::int32_t>(slot));
    ++out.length;
  }
  out.vertices.resize(roots.size() + static_cast<std::size_t>(params.length), no_vertex);
  out.slots.resize(static_cast<std::size_t>(params.length), -1);
  return out;
}

/// Sample `i` of a result, in the same form.
inline multidim_sample sample_of(multidim_walks const& out, std::int64_t i)
{
  vertex_id const* const row = out.vertices.data() + i * (out.num_roots + out.length);
  std::int32_t const* const slots = out.slots.data() + i * out.length;
  return {{row, row + out.num_roots + out.length}, {slots, slots + out.length}, out.lengths[i]};
}

}  // namespace tendril::test
