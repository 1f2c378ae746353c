// Whether the lists of a compressed graph can be read, for CPU and GPU: the rules stand here once. `Say` makes what a check
// returns: a line that says what is wrong (list_check.cpp), or, on a GPU, whether something is. It has
//   line                    the type of that
//   nothing()               nothing is wrong
//   that(format, values…)   something is
//   is(line)                whether something is
// Host and device.

#pragma once

#include <cstdint>

#include <tendril/list_code.hpp>
#include <tendril/list_directory.hpp>

namespace tendril::validation {

/// The arrays of compressed_lists, which may hold anything.
struct stored_lists {
  list_block const* blocks = nullptr;
  std::int64_t num_blocks = 0;
  wide_list const* wide = nullptr;
  std::int64_t num_wide = 0;
  std::uint32_t const* words = nullptr;
  std::int64_t num_words = 0;
  edge_id num_edges = 0;
  vertex_id first_id = 0;

  [[nodiscard]] TENDRIL_HD list_directory directory() const { return {blocks, wide, words, first_id}; }
  /// What a vertex is called.
  [[nodiscard]] TENDRIL_HD std::int64_t id(std::int64_t v) const { return first_id + v; }

  /// Of a compressed_lists.
  template <class Lists>
  [[nodiscard]] static stored_lists of(Lists const& lists)
  {
    return {lists.blocks.data(), lists.blocks.size(), lists.wide.data(), lists.wide.size(),
            lists.words.data(),  lists.words.size(),  lists.num_edges,   lists.first_id};
  }
};

/// Whether something is wrong, and no more.
struct in_short {
  using line = bool;
  [[nodiscard]] static TENDRIL_HD bool nothing() { return false; }
  template <class... Values>
  [[nodiscard]] static TENDRIL_HD bool that(char const*, Values const&...)
  {
    return true;
  }
  [[nodiscard]] static TENDRIL_HD bool is(bool what) { return what; }
};

/// One list, and how far its words go.
template <class Say>
class list_checker {
 public:
  using line = typename Say::line;

  TENDRIL_HD list_checker(stored_lists const& lists, list_place const& place)
      : place_(place),
        words_(lists.words),
        num_words_(static_cast<std::uint64_t>(lists.num_words - list_codes::words_beyond)),
        degree_(place.degree)
  {
  }

  [[nodiscard]] TENDRIL_HD line problem() const
  {
    if (degree_ == 0) { return Say::nothing(); }
    if (place_.byte() >= 4 * num_words_) { return outside(); }
    switch (static_cast<list_code>(place_.header().code())) {
      case list_code::fixed_near:
      case list_code::fixed_far:
        return is_inside(8 * place_.byte() + degree_ * place_.header().width()) ? Say::nothing() : outside();
      case list_code::runs_near:
      case list_code::runs_far: return degree_ <= list_codes::sector_edges ? short_runs() : sectors();
      case list_code::elias_fano: return degree_ <= list_codes::block_edges ? short_elias_fano() : blocks();
      case list_code::vbyte: return groups();
      case list_code::runs_elias_fano: return runs_elias_fano();
    }
    return Say::that("a list of code {}, expected at most {}", place_.header().code(),
                     static_cast<int>(list_code::runs_elias_fano));
  }

 private:
  [[nodiscard]] TENDRIL_HD bool is_inside(std::uint64_t end_bit) const { return end_bit <= 32 * num_words_; }
  [[nodiscard]] TENDRIL_HD line outside() const
  {
    return Say::that("a list at byte {} that ends outside of the lists' {} bytes", place_.byte(), 4 * num_words_);
  }

  /// How many of the bits [begin, begin + size) are ones.
  [[nodiscard]] TENDRIL_HD std::uint64_t ones(std::uint64_t begin, std::uint64_t size) const
  {
    std::uint64_t sum = 0;
    for (std::uint64_t bit = begin; bit < begin + size; bit += 32) {
      auto const width = static_cast<std::uint32_t>(least(32, begin + size - bit));
      sum += list_codes::count_ones(list_codes::bits_at(words_, bit, width, plain_load{}));
    }
    return sum;
  }

  [[nodiscard]] TENDRIL_HD line short_runs() const
  {
    std::uint64_t const begin = 8 * place_.byte();
    if (!is_inside(begin + degree_)) { return outside(); }
    if ((list_codes::bits_at(words_, begin, 1, plain_load{}) & 1U) == 0) { return no_first_run(); }
    return is_inside(begin + degree_ + ones(begin, degree_) * place_.header().width()) ? Say::nothing() : outside();
  }
  [[nodiscard]] TENDRIL_HD line runs_elias_fano() const
  {
    std::uint64_t const begin = 8 * place_.byte();
    if (degree_ > list_codes::sector_edges) {
      return Say::that("{} edges in a list of runs and Elias-Fano, expected at most {}", degree_,
                       std::uint32_t{list_codes::sector_edges});
    }
    if (!is_inside(begin + degree_ + list_codes::first_run_bits)) { return outside(); }
    if ((list_codes::bits_at(words_, begin, 1, plain_load{}) & 1U) == 0) { return no_first_run(); }
    std::uint64_t const later = ones(begin, degree_) - 1;
    if (later > list_codes::block_edges) {
      return Say::that("{} runs in a list of runs and Elias-Fano, expected at most {}", later + 1,
                       list_codes::block_edges + 1);
    }
    list_codes::run_elias_fano_parts const parts(words_, place_);
    std::uint64_t const upper = parts.upper(static_cast<std::uint32_t>(later));
    if (parts.has_upper) { return marks(upper, later); }
    return is_inside(upper) ? Say::nothing() : outside();
  }
  [[nodiscard]] static TENDRIL_HD line no_first_run() { return Say::that("a list whose first edge begins no run"); }

  [[nodiscard]] TENDRIL_HD line sectors() const
  {
    std::uint64_t const base = list_codes::word_from(place_.byte());
    std::uint64_t const count = (degree_ + list_codes::sector_edges - 1) / list_codes::sector_edges;
    std::uint64_t const values = base + count * list_codes::sector_words;
    if (!is_inside(32 * values)) { return outside(); }
    std::uint64_t rank = 0;
    for (std::uint64_t s = 0; s < count; ++s) {
      std::uint64_t const sector = base + s * list_codes::sector_words;
      if (words_[sector] != rank) {
        return Say::that("{} runs before edge {} of its list, which says {}", rank, s * list_codes::sector_edges,
                         words_[sector]);
      }
      if (s == 0 && (words_[sector + 1] & 1U) == 0) { return no_first_run(); }
      rank += ones(32 * (sector + 1), least(list_codes::sector_edges, degree_ - s * list_codes::sector_edges));
    }
    return is_inside(32 * values + rank * place_.header().width()) ? Say::nothing() : outside();
  }

  /// Whether `size` marks follow `upper`, as near as they are looked for.
  [[nodiscard]] TENDRIL_HD line marks(std::uint64_t upper, std::uint64_t size) const
  {
    if (!is_inside(upper)) { return outside(); }
    std::uint64_t const bits = least(list_codes::most_upper_bits, 32 * num_words_ - upper);
    std::uint64_t const found = ones(upper, bits);
    if (found >= size) { return Say::nothing(); }
    return Say::that("{} marks of upper bits in its list, expected one an edge: {}", found, size);
  }

  [[nodiscard]] TENDRIL_HD line short_elias_fano() const
  {
    return marks(8 * place_.byte() + 32 + degree_ * (place_.header().width() - 1), degree_);
  }

  [[nodiscard]] TENDRIL_HD line blocks() const
  {
    std::uint64_t const base = list_codes::word_from(place_.byte());
    std::uint64_t const count = (degree_ + list_codes::block_edges - 1) / list_codes::block_edges;
    if (!is_inside(32 * (base + count * list_codes::block_words))) { return outside(); }
    for (std::uint64_t b = 0; b < count; ++b) {
      std::uint32_t const width_and_place = words_[base + b * list_codes::block_words + 1];
      std::uint64_t const begin = base + (width_and_place & ((1U << list_codes::place_bits) - 1U));
      std::uint64_t const size = least(list_codes::block_edges, degree_ - b * list_codes::block_edges);
      std::uint64_t const upper = begin + (size * (width_and_place >> list_codes::place_bits) + 31) / 32;
      if (line what = marks(32 * upper, size); Say::is(what)) { return what; }
    }
    return Say::nothing();
  }

  [[nodiscard]] TENDRIL_HD line groups() const
  {
    std::uint64_t const count = (degree_ + list_codes::group_edges - 1) / list_codes::group_edges;
    if (count > 1 && !is_inside(32 * (list_codes::word_from(place_.byte()) + count))) { return outside(); }
    for (std::uint64_t g = 0; g < count; ++g) {
      std::uint64_t const lengths = list_codes::group_byte(words_, place_, static_cast<std::uint32_t>(g), plain_load{});
      std::uint64_t const size = least(list_codes::group_edges, degree_ - g * list_codes::group_edges);
      std::uint64_t bytes = (size + 3) / 4;
      if (!is_inside(8 * (lengths + bytes))) { return outside(); }
      for (std::uint64_t k = 0; k < size; ++k) {
        bytes += (list_codes::byte_at(words_, lengths + k / 4, plain_load{}) >> (2 * (k % 4)) & 3U) + 1;
      }
      if (!is_inside(8 * (lengths + bytes))) { return outside(); }
    }
    return Say::nothing();
  }

  [[nodiscard]] static TENDRIL_HD std::uint64_t least(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

  list_place place_;
  std::uint32_t const* words_;
  std::uint64_t num_words_;  // without those beyond
  std::uint64_t degree_;
};

/// What is wrong with half h of block b of the directory, whose vertices can be located if nothing is; the numbers of edges
/// are not looked at.
template <class Say>
TENDRIL_HD typename Say::line half_problem_of(stored_lists const& lists, std::int64_t b, std::uint32_t h)
{
  list_half const& half = lists.blocks[b].halves[h];
  half_head const& head = half.head;
  std::uint32_t const size = list_block::size_of(h);
  std::int64_t const first = b * list_block::vertices + h * list_block::first_half;
  if (head.kind() > static_cast<std::uint32_t>(block_kind::wide)) {
    return Say::that("vertex {}: its block of the directory is of kind {}, expected at most 2", lists.id(first),
                     head.kind());
  }
  if (head.is(block_kind::wide)) {
    if (head.base() + size <= static_cast<std::uint64_t>(lists.num_wide)) { return Say::nothing(); }
    return Say::that("vertex {}: its block of the directory has wide entries from {}, expected {} below {}",
                     lists.id(first), head.base(), size, lists.num_wide);
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    std::uint32_t const share = half.shares[i];
    // An empty list has a place, too, where the next one would begin: its header's word may be read.
    std::int64_t const beyond = head.degree(share) > 0 ? std::int64_t{list_codes::words_beyond} : 1;
    std::int64_t const most = 4 * (lists.num_words - beyond);
    if (head.start(share) > static_cast<std::uint64_t>(most)) {
      return Say::that("vertex {}: its block of the directory has a list at byte {}, expected at most {}",
                       lists.id(first), head.start(share), most);
    }
  }
  return Say::nothing();
}

/// What is wrong with the numbers of the edges of block b, whose halves are right.
template <class Say>
TENDRIL_HD typename Say::line block_edges_problem_of(stored_lists const& lists, std::int64_t b)
{
  bool const is_last = b + 1 == lists.num_blocks;
  // A next block that is damaged is found for itself.
  if (!is_last && Say::is(half_problem_of<Say>(lists, b + 1, 0))) { return Say::nothing(); }
  std::int64_t const first = b * list_block::vertices;
  list_directory const directory = lists.directory();
  edge_id const begin = directory.first_edge(first);
  edge_id const next = is_last ? lists.num_edges : directory.first_edge(first + list_block::vertices);
  if (b == 0 && begin != 0) { return Say::that("vertex {}: its edges begin at {}, expected 0", lists.id(0), begin); }
  std::uint64_t degrees = 0;
  for (std::uint32_t h = 0; h < 2; ++h) {
    degrees += sum_of_degrees(lists.blocks[b].halves[h], lists.wide, 0, list_block::size_of(h));
  }
  if (static_cast<std::uint64_t>(next) - static_cast<std::uint64_t>(begin) != degrees) {
    return Say::that("vertex {}: it and those of its block have {} edges, expected those of {} to {}", lists.id(first),
                     degrees, begin, next);
  }
  return Say::nothing();
}

/// What is wrong with block b of the directory; nothing if nothing is. Its lists may still be wrong.
template <class Say>
TENDRIL_HD typename Say::line block_problem_of(stored_lists const& lists, std::int64_t b)
{
  for (std::uint32_t h = 0; h < 2; ++h) {
    if (typename Say::line what = half_problem_of<Say>(lists, b, h); Say::is(what)) { return what; }
  }
  return block_edges_problem_of<Say>(lists, b);
}

/// What is wrong with the list of vertex v, whose block is right; nothing if nothing is: then its neighbours can be read.
/// They may still be no vertices, or not ascend.
template <class Say>
TENDRIL_HD typename Say::line list_problem_of(stored_lists const& lists, std::int64_t v)
{
  return list_checker<Say>(lists, lists.directory().locate(v)).problem();
}

}  // namespace tendril::validation
