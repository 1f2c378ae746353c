// Copies of rows of features by warps. The words of all copied rows are numbered through; a warp copies a tile of consecutive ones, so
// that rows of any width keep all lanes at work, and what is written is written in whole lines. rows.cu has a loop of its own: through this one
// its gathers from GPU memory came to .83 of their rate, and those over the bus to .6 (one H200 of two, no file).

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/fast_divisor.hpp"
#include "gpu/device/launch.cuh"

namespace tendril::gpu {

inline constexpr int lane_words = 8;  // that a lane reads at once
inline constexpr int tile_words = lane_words * warp_size;

/// The most bytes of a word that divide addresses and sizes, whose bits are or-ed.
inline std::int64_t word_bytes(std::uint64_t all) { return std::int64_t{1} << std::countr_zero(all | 16U); }

/// Calls f(a word) of the type that has so many bytes.
template <class F>
void with_word(std::int64_t bytes, F f)
{
  switch (bytes) {
    case 16: return f(uint4{});
    case 8: return f(uint2{});
    case 4: return f(std::uint32_t{});
    case 2: return f(std::uint16_t{});
    default: return f(std::uint8_t{});
  }
}

/// Rows to copy: row i of a source goes to row places[i].
struct row_tiles {
  core::fast_divisor a_row;     ///< Words of a row.
  std::uint32_t const* places;  ///< [size], or null: row i.
  std::int64_t size;

  [[nodiscard]] __host__ __device__ std::int64_t num_words() const { return size * a_row.divisor(); }

  [[nodiscard]] unsigned blocks(int block_threads, std::int64_t most) const
  {
    return grid_blocks((num_words() + lane_words - 1) / lane_words, block_threads, most);
  }
};

/// All threads of a grid, a tile a warp. @param source  find(i, whether it is asked for the row's first word) -> the row, or null for
/// zeros.
template <class Word, class Source>
__device__ __forceinline__ void copy_tiles(row_tiles const& tiles, Source const& source, Word* out)
{
  std::uint32_t const width = tiles.a_row.divisor();
  std::int64_t const num_tiles = (tiles.num_words() + tile_words - 1) / tile_words;
  for (std::int64_t tile = global_thread() / warp_size; tile < num_tiles; tile += grid_stride() / warp_size) {
    std::int64_t const first_word = tile * tile_words;
    std::int64_t const first_row = first_word / width;
    auto const before = static_cast<std::uint32_t>(first_word - first_row * width);
    Word read[lane_words];
    std::int64_t to[lane_words];
#pragma unroll
    for (int k = 0; k < lane_words; ++k) {
      std::uint32_t const word = before + static_cast<std::uint32_t>(k * warp_size + lane_id());
      std::uint32_t const down = tiles.a_row.quotient(word);
      std::uint32_t const across = word - down * width;
      std::int64_t const row = first_row + down;
      to[k] = -1;
      if (row < tiles.size) {
        Word const* const from = source.find(row, across == 0);
        std::int64_t const place = tiles.places == nullptr ? row : std::int64_t{tiles.places[row]};
        to[k] = place * width + across;
        read[k] = Word{};
        if (from != nullptr) { read[k] = __ldcs(from + across); }
      }
    }
#pragma unroll
    for (int k = 0; k < lane_words; ++k) {
      if (to[k] >= 0) { __stcs(out + to[k], read[k]); }
    }
  }
}

}  // namespace tendril::gpu
