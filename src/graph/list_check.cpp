#include "graph/list_check.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tendril::validation {
namespace {

using list_codes::bits_at;
using list_codes::block_edges;
using list_codes::block_words;
using list_codes::byte_at;
using list_codes::count_ones;
using list_codes::group_byte;
using list_codes::group_edges;
using list_codes::most_upper_bits;
using list_codes::place_bits;
using list_codes::sector_edges;
using list_codes::sector_words;
using list_codes::word_from;
using list_codes::words_beyond;

/// One list, and how far its words go.
class list_checker {
 public:
  list_checker(compressed_lists const& lists, list_place const& place)
      : place_(place),
        words_(lists.words.data()),
        num_words_(static_cast<std::uint64_t>(lists.words.size() - words_beyond)),
        degree_(place.degree)
  {
  }

  [[nodiscard]] std::string problem() const
  {
    if (degree_ == 0) { return {}; }
    if (place_.byte() >= 4 * num_words_) { return outside(); }
    switch (static_cast<list_code>(place_.header().code())) {
      case list_code::fixed_near:
      case list_code::fixed_far:
        return is_inside(8 * place_.byte() + degree_ * place_.header().width()) ? "" : outside();
      case list_code::runs_near:
      case list_code::runs_far: return degree_ <= sector_edges ? short_runs() : sectors();
      case list_code::elias_fano: return degree_ <= block_edges ? short_elias_fano() : blocks();
      case list_code::vbyte: return groups();
    }
    return fmt::format("a list of code {}, expected at most {}", place_.header().code(),
                       static_cast<int>(list_code::vbyte));
  }

 private:
  [[nodiscard]] bool is_inside(std::uint64_t end_bit) const { return end_bit <= 32 * num_words_; }
  [[nodiscard]] std::string outside() const
  {
    return fmt::format("a list at byte {} that ends outside of the lists' {} bytes", place_.byte(), 4 * num_words_);
  }

  /// How many of the bits [begin, begin + size) are ones.
  [[nodiscard]] std::uint64_t ones(std::uint64_t begin, std::uint64_t size) const
  {
    std::uint64_t sum = 0;
    for (std::uint64_t bit = begin; bit < begin + size; bit += 32) {
      auto const width = static_cast<std::uint32_t>(std::min<std::uint64_t>(32, begin + size - bit));
      sum += count_ones(bits_at(words_, bit, width, plain_load{}));
    }
    return sum;
  }

  [[nodiscard]] std::string short_runs() const
  {
    std::uint64_t const begin = 8 * place_.byte();
    if (!is_inside(begin + degree_)) { return outside(); }
    if ((bits_at(words_, begin, 1, plain_load{}) & 1U) == 0) { return no_first_run(); }
    return is_inside(begin + degree_ + ones(begin, degree_) * place_.header().width()) ? "" : outside();
  }
  [[nodiscard]] static std::string no_first_run() { return "a list whose first edge begins no run"; }

  [[nodiscard]] std::string sectors() const
  {
    std::uint64_t const base = word_from(place_.byte());
    std::uint64_t const count = (degree_ + sector_edges - 1) / sector_edges;
    std::uint64_t const values = base + count * sector_words;
    if (!is_inside(32 * values)) { return outside(); }
    std::uint64_t rank = 0;
    for (std::uint64_t s = 0; s < count; ++s) {
      std::uint64_t const sector = base + s * sector_words;
      if (words_[sector] != rank) {
        return fmt::format("{} runs before edge {} of its list, which says {}", rank, s * sector_edges, words_[sector]);
      }
      if (s == 0 && (words_[sector + 1] & 1U) == 0) { return no_first_run(); }
      rank += ones(32 * (sector + 1), std::min<std::uint64_t>(sector_edges, degree_ - s * sector_edges));
    }
    return is_inside(32 * values + rank * place_.header().width()) ? "" : outside();
  }

  /// Whether `size` marks follow `upper`, as near as they are looked for.
  [[nodiscard]] std::string marks(std::uint64_t upper, std::uint64_t size) const
  {
    if (!is_inside(upper)) { return outside(); }
    std::uint64_t const bits = std::min<std::uint64_t>(most_upper_bits, 32 * num_words_ - upper);
    std::uint64_t const found = ones(upper, bits);
    if (found >= size) { return {}; }
    return fmt::format("{} marks of upper bits in its list, expected one an edge: {}", found, size);
  }

  [[nodiscard]] std::string short_elias_fano() const
  {
    return marks(8 * place_.byte() + 32 + degree_ * (place_.header().width() - 1), degree_);
  }

  [[nodiscard]] std::string blocks() const
  {
    std::uint64_t const base = word_from(place_.byte());
    std::uint64_t const count = (degree_ + block_edges - 1) / block_edges;
    if (!is_inside(32 * (base + count * block_words))) { return outside(); }
    for (std::uint64_t b = 0; b < count; ++b) {
      std::uint32_t const width_and_place = words_[base + b * block_words + 1];
      std::uint64_t const begin = base + (width_and_place & ((1U << place_bits) - 1U));
      std::uint64_t const size = std::min<std::uint64_t>(block_edges, degree_ - b * block_edges);
      std::uint64_t const upper = begin + (size * (width_and_place >> place_bits) + 31) / 32;
      if (std::string what = marks(32 * upper, size); !what.empty()) { return what; }
    }
    return {};
  }

  [[nodiscard]] std::string groups() const
  {
    std::uint64_t const count = (degree_ + group_edges - 1) / group_edges;
    if (count > 1 && !is_inside(32 * (word_from(place_.byte()) + count))) { return outside(); }
    for (std::uint64_t g = 0; g < count; ++g) {
      std::uint64_t const lengths = group_byte(words_, place_, static_cast<std::uint32_t>(g), plain_load{});
      std::uint64_t const size = std::min<std::uint64_t>(group_edges, degree_ - g * group_edges);
      std::uint64_t bytes = (size + 3) / 4;
      if (!is_inside(8 * (lengths + bytes))) { return outside(); }
      for (std::uint64_t k = 0; k < size; ++k) {
        bytes += (byte_at(words_, lengths + k / 4, plain_load{}) >> (2 * (k % 4)) & 3U) + 1;
      }
      if (!is_inside(8 * (lengths + bytes))) { return outside(); }
    }
    return {};
  }

  list_place place_;
  std::uint32_t const* words_;
  std::uint64_t num_words_;  // without those beyond
  std::uint64_t degree_;
};

}  // namespace

std::string block_problem(compressed_lists const& lists, std::int64_t b)
{
  list_block const& block = lists.blocks[b];
  block_head const& head = block.head;
  std::int64_t const first = b * list_block::vertices;
  std::uint64_t degrees = 0;
  if (head.kind() > static_cast<std::uint32_t>(block_kind::wide)) {
    return fmt::format("vertex {}: its block of the directory is of kind {}, expected at most 2", first, head.kind());
  }
  if (head.is(block_kind::wide)) {
    if (head.base() + list_block::vertices > static_cast<std::uint64_t>(lists.wide.size())) {
      return fmt::format("vertex {}: its block of the directory has wide entries from {}, expected {} below {}", first,
                         head.base(), list_block::vertices, lists.wide.size());
    }
    for (std::uint32_t i = 0; i < list_block::vertices; ++i) {
      degrees += lists.wide[static_cast<std::int64_t>(head.base()) + i].degree;
    }
  } else {
    for (std::uint32_t const share : block.shares) {
      degrees += head.degree(share);
      // An empty list has a place, too, where the next one would begin: its header's word may be read.
      std::int64_t const beyond = head.degree(share) > 0 ? std::int64_t{words_beyond} : 1;
      std::int64_t const most = 4 * (lists.words.size() - beyond);
      if (head.start(share) > static_cast<std::uint64_t>(most)) {
        return fmt::format("vertex {}: its block of the directory has a list at byte {}, expected at most {}", first,
                           head.start(share), most);
      }
    }
  }
  bool const is_last = b + 1 == lists.blocks.size();
  edge_id const next = is_last ? lists.num_edges : lists.blocks[b + 1].head.first_edge;
  if (b == 0 && head.first_edge != 0) {
    return fmt::format("vertex 0: its edges begin at {}, expected 0", head.first_edge);
  }
  if (static_cast<std::uint64_t>(next) - static_cast<std::uint64_t>(head.first_edge) != degrees) {
    return fmt::format("vertex {}: it and those of its block have {} edges, expected those of {} to {}", first, degrees,
                       head.first_edge, next);
  }
  return {};
}

std::string list_problem(compressed_lists const& lists, std::int64_t v)
{
  std::string const what = list_checker(lists, lists.directory().locate(v)).problem();
  return what.empty() ? what : fmt::format("vertex {}: {}", v, what);
}

}  // namespace tendril::validation
