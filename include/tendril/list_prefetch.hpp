// Brings what `neighbor_at` reads of a list into the cache, in rounds: what is read first says where the rest lies. An
// executor that interleaves many walkers calls this once a round for each of them. Host only. The codes:
// <tendril/list_code.hpp>.

#pragma once

#include <cstdint>

#include <tendril/list_code.hpp>

namespace tendril::list_codes {

constexpr std::uint32_t line_bytes = 64;

inline void prefetch_bit(std::uint32_t const* words, std::uint64_t bit) { prefetch_address(words + (bit >> 5U)); }

/// Prefetches what reading edge i needs next of the list at `place`, whose first line has been asked for before round 1.
/// Returns whether another round, after what was asked for has arrived, would find more.
inline bool prefetch_neighbor(std::uint32_t const* words, list_place const& place, std::uint32_t i, int round)
{
  std::uint64_t const begin = 8 * place.byte();
  std::uint32_t const width = place.header().width();
  switch (static_cast<list_code>(place.header().code())) {
    case list_code::runs_near:
    case list_code::runs_far: {
      bool const is_short = place.degree <= sector_edges;
      if (round == 1 && !is_short) {
        prefetch_address(words + word_from(place.byte()) + std::uint64_t{i / sector_edges} * sector_words);
        return true;
      }
      // The marks of a short list are read unless they may begin in one line and end in the next.
      if (round == 1 && (place.byte() % line_bytes) + place.degree / 8 >= line_bytes) {
        prefetch_bit(words, begin + i);
        return true;
      }
      prefetch_bit(words, run_bit(words, place, i, plain_load{}));
      return false;
    }
    case list_code::elias_fano: {
      if (round == 1 && place.degree > block_edges) {
        prefetch_address(words + word_from(place.byte()) + std::uint64_t{i / block_edges} * block_words);
        return true;
      }
      elias_fano_part const part = part_of(words, place, i, plain_load{});
      std::uint64_t const in = i % block_edges;
      prefetch_bit(words, part.lower + in * part.width);
      prefetch_bit(words, part.upper);
      prefetch_bit(words, part.upper + 2 * in);  // where its mark is, about
      return false;
    }
    case list_code::vbyte: {
      if (round == 1 && place.degree > group_edges) {
        prefetch_address(words + word_from(place.byte()) + i / group_edges);
        return true;
      }
      std::uint64_t const group = group_byte(words, place, i / group_edges, plain_load{});
      prefetch_bit(words, 8 * group);
      prefetch_bit(words, 8 * (group + line_bytes));
      return false;
    }
    case list_code::runs_elias_fano:  // most end in the line where they begin, or in the next one
      prefetch_bit(words, begin + 8 * line_bytes);
      return false;
    default: prefetch_bit(words, begin + std::uint64_t{i} * width); return false;
  }
}

}  // namespace tendril::list_codes
