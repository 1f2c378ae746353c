// Copies of rows of features by warps. The words of all copied rows are numbered through; a warp copies a tile of consecutive ones, so
// that rows of any width keep all lanes at work, and what is written is written in whole lines.

#pragma once

#include <bit>
#include <cstdint>

#include "core/fast_divisor.hpp"
#include "gpu/device/launch.cuh"

namespace tendril::gpu {

/// Words that a lane reads at once: 64 bytes where they are wide.
template <class Word>
inline constexpr int lane_words = sizeof(Word) == 16 ? 4 : 8;
template <class Word>
inline constexpr int tile_words = warp_size* lane_words<Word>;

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

  template <class Word>
  [[nodiscard]] unsigned blocks(int block_threads, std::int64_t most) const
  {
    return grid_blocks((num_words() + lane_words<Word> - 1) / lane_words<Word>, block_threads, most);
  }
};

/// All threads of a grid, a tile a warp: first all its ids and places are read, then all rows are found, then read, then
/// written. So a warp waits for memory a few times a tile, and not as often for each word.
/// @param source  id(i) of row i; find(id), a found_row; note(i, id, found) for the first word of each row.
template <class Word, class Source>
__device__ __forceinline__ void copy_tiles(row_tiles const& tiles, Source const& source, Word* out)
{
  constexpr int a_lane = lane_words<Word>, a_tile = tile_words<Word>;
  std::uint32_t const width = tiles.a_row.divisor();
  std::int64_t const num_tiles = (tiles.num_words() + a_tile - 1) / a_tile;
  for (std::int64_t tile = global_thread() / warp_size; tile < num_tiles; tile += grid_stride() / warp_size) {
    std::int64_t const first_word = tile * a_tile;
    std::int64_t const first_row = first_word / width;
    auto const before = static_cast<std::uint32_t>(first_word - first_row * width);
    auto const rows_left = static_cast<std::uint32_t>(min(tiles.size - first_row, std::int64_t{a_tile}));
    std::uint32_t down[a_lane];
    std::uint32_t across[a_lane];
    vertex_id id[a_lane];
    std::int64_t place[a_lane];
#pragma unroll
    for (int k = 0; k < a_lane; ++k) {
      std::uint32_t const word = before + static_cast<std::uint32_t>(k * warp_size + lane_id());
      down[k] = tiles.a_row.quotient(word);
      across[k] = word - down[k] * width;
      std::int64_t const row = first_row + min(down[k], rows_left - 1);  // a word beyond the end reads the last row
      id[k] = source.id(row);
      place[k] = tiles.places == nullptr ? row : std::int64_t{tiles.places[row]};
    }
    typename Source::found_row found[a_lane];
#pragma unroll
    for (int k = 0; k < a_lane; ++k) { found[k] = source.find(id[k]); }
    Word read[a_lane];
#pragma unroll
    for (int k = 0; k < a_lane; ++k) {
      read[k] = Word{};  // of a row that isn't there
      if (found[k].row != nullptr) { read[k] = __ldcs(found[k].row + across[k]); }
    }
#pragma unroll
    for (int k = 0; k < a_lane; ++k) {
      if (down[k] < rows_left) { __stcs(out + place[k] * width + across[k], read[k]); }
    }
    if (!source.takes_notes()) { continue; }
#pragma unroll
    for (int k = 0; k < a_lane; ++k) {
      if (across[k] == 0 && down[k] < rows_left) { source.note(first_row + down[k], id[k], found[k]); }
    }
  }
}

}  // namespace tendril::gpu
