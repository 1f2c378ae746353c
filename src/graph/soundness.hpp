#pragma once

#include <tendril/graph.hpp>

namespace tendril::validation {

/// Whether a record says of its vertex what the offsets [begin, end) of its edges say, and its neighbours can be read:
/// two words for each, of which the array has `num_words`.
[[nodiscard]] TENDRIL_HD bool fits(packed_record const& record, edge_id begin, edge_id end, std::int64_t num_words)
{
  constexpr std::uint32_t most_bits = 32;
  std::uint64_t const degree = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
  std::uint64_t const last_bit = record.place() + std::uint64_t{record.degree} * record.width();  // below 2^59
  return record.degree == degree && record.width() <= most_bits &&
         last_bit / 32 + 2 <= static_cast<std::uint64_t>(num_words);
}

/// Whether samplers may run on these arrays, in host memory (graph_content::sound): offsets ascend from 0 to the number
/// of edges, with at most 2^32 - 1 edges a vertex; each vertex's neighbours ascend and are vertices, and packed ones
/// lie where their records say; weights are finite and >= 0; edge ids are >= 0. Reads each array once, in parallel.
[[nodiscard]] bool is_sound(graph_arrays const& arrays, cpu_exec const& exec);

}  // namespace tendril::validation
