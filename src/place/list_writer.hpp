// Writes lists as <tendril/list_code.hpp> describes them.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/list_code.hpp>

#include "place/list_measure.hpp"

namespace tendril::place {

/// Puts numbers into words that are 0 so far, bit by bit from the lowest of each word.
class bit_writer {
 public:
  /// @param words  All of the graph; those that are written to, and the next one, are the caller's own.
  bit_writer(std::uint32_t* words, std::uint64_t bit) : words_(words), bit_(bit) {}

  [[nodiscard]] std::uint64_t bit() const { return bit_; }
  void put(std::uint32_t value, std::uint32_t width)
  {
    std::uint64_t const both = std::uint64_t{value} << (bit_ & 31U);
    std::uint64_t const word = bit_ >> 5U;
    words_[word] |= static_cast<std::uint32_t>(both);
    if (auto const rest = static_cast<std::uint32_t>(both >> 32U); rest != 0) { words_[word + 1] |= rest; }
    bit_ += width;
  }
  void put_word(std::uint32_t value) { put(value, 32); }
  /// Moves to a word's beginning.
  void align() { bit_ = (bit_ + 31) & ~std::uint64_t{31}; }
  void set(std::uint64_t bit) const { words_[bit >> 5U] |= 1U << (bit & 31U); }
  void skip(std::uint64_t bits) { bit_ += bits; }

 private:
  std::uint32_t* words_;
  std::uint64_t bit_;
};

inline std::uint32_t low_bits(std::uint32_t value, std::uint32_t width)
{
  return value & static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
}

inline void write_fixed(bit_writer to, vertex_id v, std::span<vertex_id const> list, list_header header)
{
  bool const near = header.code() == static_cast<std::uint32_t>(list_code::fixed_near);
  std::uint32_t const bias = list_codes::bias_of(near, v, header.width());
  for (vertex_id const x : list) { to.put(low_bits(x - bias, header.width()), header.width()); }
}

inline void write_runs(bit_writer to, vertex_id v, std::span<vertex_id const> list, list_header header)
{
  using list_codes::bias_of;
  using list_codes::sector_edges;
  bool const near = header.code() == static_cast<std::uint32_t>(list_code::runs_near);
  std::uint32_t const bias = bias_of(near, v, header.width());
  auto const y = [&](std::size_t i) { return list[i] - static_cast<std::uint32_t>(i); };
  auto const changes = [&](std::size_t i) { return i == 0 || y(i) != y(i - 1); };
  if (list.size() <= sector_edges) {
    for (std::size_t i = 0; i < list.size(); ++i) { to.put(changes(i) ? 1 : 0, 1); }
  } else {
    to.align();
    std::uint32_t rank = 0;
    for (std::size_t begin = 0; begin < list.size(); begin += sector_edges) {
      to.put_word(rank);
      std::size_t const end = std::min<std::size_t>(begin + sector_edges, list.size());
      for (std::size_t i = begin; i < end; ++i) {
        if (!changes(i)) { continue; }
        to.set(to.bit() + i - begin);
        ++rank;
      }
      to.skip(sector_edges);
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (changes(i)) { to.put(low_bits(y(i) - bias, header.width()), header.width()); }
  }
}

/// The numbers of a list or of a block of it. @return  The bit behind.
inline std::uint64_t write_elias_fano(bit_writer to, std::span<vertex_id const> list, elias_fano_shape const& shape,
                                      bool in_words)
{
  for (vertex_id const x : list) { to.put(low_bits(x - list.front(), shape.width), shape.width); }
  if (in_words) { to.align(); }
  for (std::size_t i = 0; i < list.size(); ++i) { to.set(to.bit() + i + ((list[i] - list.front()) >> shape.width)); }
  to.skip(shape.upper_bits);
  if (in_words) { to.align(); }
  return to.bit();
}

inline void write_elias_fano(std::uint32_t* words, bit_writer to, std::span<vertex_id const> list)
{
  using list_codes::block_edges;
  using list_codes::block_words;
  using list_codes::place_bits;
  if (list.size() <= block_edges) {
    elias_fano_shape const shape = elias_fano_block(list, 0);
    to.put_word(list.front());
    write_elias_fano(to, list, shape, false);
    return;
  }
  to.align();
  std::uint64_t const base = to.bit() / 32;
  std::uint64_t next = base + (list.size() + block_edges - 1) / block_edges * block_words;
  for (std::size_t begin = 0; begin < list.size(); begin += block_edges) {
    elias_fano_shape const shape = elias_fano_block(list, begin);
    to.put_word(list[begin]);
    to.put_word(shape.width << place_bits | static_cast<std::uint32_t>(next - base));
    std::size_t const size = std::min<std::size_t>(block_edges, list.size() - begin);
    next = write_elias_fano(bit_writer(words, 32 * next), list.subspan(begin, size), shape, true) / 32;
  }
}

inline void write_vbyte(std::uint32_t* words, bit_writer to, std::span<vertex_id const> list)
{
  using list_codes::group_edges;
  std::uint64_t next = to.bit() / 8;
  bool const grouped = list.size() > group_edges;
  std::uint64_t base = 0;
  if (grouped) {
    to.align();
    base = to.bit() / 8;
    next = base + 4 * ((list.size() + group_edges - 1) / group_edges);
  }
  for (std::size_t begin = 0; begin < list.size(); begin += group_edges) {
    if (grouped) { to.put_word(static_cast<std::uint32_t>(next - base)); }
    std::size_t const size = std::min<std::size_t>(group_edges, list.size() - begin);
    bit_writer lengths(words, 8 * next);
    bit_writer bytes(words, 8 * (next + (size + 3) / 4));
    for (std::size_t i = begin; i < begin + size; ++i) {
      std::uint32_t const gap = i == begin ? list[i] : list[i] - list[i - 1];
      lengths.put(bytes_of_gap(gap) - 1, 2);
      bytes.put(gap, 8 * bytes_of_gap(gap));
    }
    next = bytes.bit() / 8;
  }
}

/// Writes the neighbours of v behind the list's header. The words from `byte` on are 0.
inline void write_list(std::uint32_t* words, std::uint64_t byte, vertex_id v, std::span<vertex_id const> list,
                       list_header header)
{
  bit_writer const to(words, 8 * byte);
  switch (static_cast<list_code>(header.code())) {
    case list_code::fixed_near:
    case list_code::fixed_far: return write_fixed(to, v, list, header);
    case list_code::runs_near:
    case list_code::runs_far: return write_runs(to, v, list, header);
    case list_code::elias_fano: return write_elias_fano(words, to, list);
    case list_code::vbyte: return write_vbyte(words, to, list);
  }
}

}  // namespace tendril::place
