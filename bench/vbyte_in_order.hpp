// Stream VByte without prefixes: k-hop trees on a graph of the form vbyte whose lists are decoded in order.

#pragma once

#include <cstdint>

#include <tendril/graph.hpp>
#include <tendril/list_code.hpp>

#include "core/draws.hpp"
#include "core/random.hpp"

namespace tendril::bench {

/// Some slots of k-hop trees with replacement, and where the vertices go that they pick.
struct in_order_hop {
  vertex_id const* parents = nullptr;  ///< [num_parents]; no_vertex has no neighbours.
  std::int64_t num_parents = 0;
  std::int64_t a_root = 1;   ///< Parents of a root.
  std::uint32_t fanout = 1;  ///< At most 32.
  rng_key key{};             ///< core::khop_key
  vertex_id* out = nullptr;  ///< [num_parents, fanout]

  /// Pick `slot` of a parent that has `degree` > 0 edges, as khop_sample makes it.
  [[nodiscard]] TENDRIL_HD std::uint32_t pick(std::int64_t parent, std::uint32_t slot, std::uint32_t degree) const
  {
    auto const root = static_cast<std::uint64_t>(parent / a_root);
    auto const place = static_cast<std::uint32_t>(parent % a_root);
    return core::bounded(core::khop_draws(key, root, place).half(slot), degree);
  }
};

/// The byte where the first group of a list begins.
[[nodiscard]] TENDRIL_HD std::uint64_t first_group(std::uint32_t const* words, list_place const& place)
{
  return list_codes::group_byte(words, place, 0, plain_load{});
}

/// How many bytes gap k of a group takes whose lengths begin at byte `lengths`.
[[nodiscard]] TENDRIL_HD std::uint32_t bytes_of_gap(std::uint32_t const* words, std::uint64_t lengths, std::uint32_t k)
{
  return (list_codes::byte_at(words, lengths + k / 4U, plain_load{}) >> (2U * (k % 4U)) & 3U) + 1U;
}

/// Makes the picks of a hop on a GPU, in the order of the stream: a warp has a parent.
void pick_in_order(compressed_view const& graph, in_order_hop const& hop, gpu_exec const& exec);

}  // namespace tendril::bench
