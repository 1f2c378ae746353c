// Reads the lists of a compressed graph from their first bit to their last, as <tendril/list_code.hpp> describes them and
// without its functions. Nothing outside of the lists is read, whatever they hold.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tendril/graph.hpp>

namespace tendril::test {

/// Takes bits one after the other.
class bit_reader {
 public:
  bit_reader(shared_array<std::uint32_t> const& words, std::uint64_t bit)
      : words_(words), bit_(bit), end_(32 * static_cast<std::uint64_t>(words.size() - 16))
  {
  }

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::uint64_t bit() const { return bit_; }
  /// The number of the next `width` bits, of which those beyond 64 are passed over.
  std::uint64_t take(std::uint64_t width)
  {
    std::uint64_t value = 0;
    for (std::uint64_t b = 0; b < width && !failed_; ++b, ++bit_) {
      if (bit_ >= end_) {
        failed_ = true;
        return 0;
      }
      std::uint64_t const one = (words_[static_cast<std::int64_t>(bit_ / 32)] >> (bit_ % 32)) & 1U;
      value |= b < 64 ? one << b : 0;
    }
    return value;
  }
  void align(std::uint64_t to) { bit_ = (bit_ + to - 1) / to * to; }

 private:
  shared_array<std::uint32_t> const& words_;
  std::uint64_t bit_, end_;
  bool failed_ = false;
};

using decoded = std::optional<std::vector<vertex_id>>;

/// Numbers of `size` edges by Elias-Fano, whose lower bits are taken from `lower` on; the upper ones begin a word, or not.
inline decoded elias_fano_oracle(bit_reader lower, std::uint64_t size, std::uint64_t width, std::uint64_t first,
                                 bool in_words)
{
  std::vector<std::uint64_t> low;
  for (std::uint64_t i = 0; i < size; ++i) { low.push_back(lower.take(width)); }
  if (in_words) { lower.align(32); }
  std::vector<vertex_id> out;
  std::uint64_t zeros = 0;
  for (std::uint64_t bit = 0; out.size() < size && !lower.failed(); ++bit) {
    if (bit == 3 * 128) { return {}; }
    if (lower.take(1) == 0) {
      ++zeros;
    } else {
      out.push_back(static_cast<vertex_id>(first + (zeros << width | low[out.size()])));
    }
  }
  if (lower.failed()) { return {}; }
  return out;
}

/// The neighbours at a place, or nothing where they can't be read.
inline decoded list_oracle(shared_array<std::uint32_t> const& words, list_place const& place)
{
  std::uint64_t const degree = place.degree, byte = place.at & 0xffffffffffffU, header = place.at >> 56U;
  std::uint64_t const code = header >> 5U, width = (header & 31U) + 1;
  auto const fixed = [&](std::uint64_t value) {
    return static_cast<vertex_id>(code % 2 == 1 ? value : value + place.vertex - (std::uint64_t{1} << (width - 1)));
  };
  if (degree == 0) { return std::vector<vertex_id>(); }
  bit_reader from(words, 8 * byte);
  std::vector<vertex_id> out;
  if (code <= 1) {
    for (std::uint64_t i = 0; i < degree && !from.failed(); ++i) { out.push_back(fixed(from.take(width))); }
  } else if (code <= 3) {
    std::vector<bool> changes;
    if (degree > 224) { from.align(32); }
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < degree && !from.failed(); ++i) {
      if (degree > 224 && i % 224 == 0 && from.take(32) != sum) { return {}; }
      changes.push_back(from.take(1) == 1);
      sum += changes.back() ? 1 : 0;
    }
    if (degree > 224) { (void)from.take((224 - degree % 224) % 224); }
    if (from.failed() || !changes.front()) { return {}; }
    vertex_id y = 0;
    for (std::uint64_t i = 0; i < degree && !from.failed(); ++i) {
      if (changes[i]) { y = fixed(from.take(width)); }
      out.push_back(static_cast<vertex_id>(y + i));
    }
  } else if (code == 4 && degree <= 128) {
    std::uint64_t const first = from.take(32);
    return from.failed() ? decoded() : elias_fano_oracle(from, degree, width - 1, first, false);
  } else if (code == 4) {
    from.align(32);
    std::uint64_t const base = from.bit();
    for (std::uint64_t b = 0; b < (degree + 127) / 128; ++b) {
      std::uint64_t const first = from.take(32), at = from.take(27), lower = from.take(5);
      if (from.failed()) { return {}; }
      auto const part = elias_fano_oracle(bit_reader(words, base + 32 * at),
                                          std::min<std::uint64_t>(128, degree - 128 * b), lower, first, true);
      if (!part) { return {}; }
      out.insert(out.end(), part->begin(), part->end());
    }
  } else if (code == 5) {
    if (degree > 32) { from.align(32); }
    std::uint64_t const base = from.bit();
    for (std::uint64_t g = 0; g < (degree + 31) / 32; ++g) {
      std::uint64_t const at = degree > 32 ? from.take(32) : 0;
      std::uint64_t const size = std::min<std::uint64_t>(32, degree - 32 * g);
      if (from.failed()) { return {}; }
      bit_reader lengths(words, base + 8 * at), bytes(words, base + 8 * (at + (size + 3) / 4));
      vertex_id x = 0;
      for (std::uint64_t i = 0; i < size; ++i) {
        x += static_cast<vertex_id>(bytes.take(8 * (lengths.take(2) + 1)));
        out.push_back(x);
      }
      if (lengths.failed() || bytes.failed()) { return {}; }
    }
  } else if (code == 6 && degree <= 224) {
    std::vector<std::uint64_t> starts;  // of runs
    for (std::uint64_t i = 0; i < degree; ++i) {
      if (from.take(1) == 1) { starts.push_back(i); }
    }
    std::uint64_t const first_width = from.take(5) + 1;
    bool const has_upper = from.take(1) == 1;
    auto const first =
        static_cast<vertex_id>(from.take(first_width) + place.vertex - (std::uint64_t{1} << (first_width - 1)));
    if (from.failed() || starts.empty() || starts.front() != 0 || starts.size() > 129) { return {}; }
    std::vector<vertex_id> y{first};
    if (has_upper) {
      auto const later = elias_fano_oracle(from, starts.size() - 1, width - 1, first, false);
      if (!later) { return {}; }
      y.insert(y.end(), later->begin(), later->end());
    } else {
      while (y.size() < starts.size()) { y.push_back(static_cast<vertex_id>(first + from.take(width - 1))); }
    }
    for (std::uint64_t i = 0, run = 0; i < degree; ++i) {
      if (run + 1 < starts.size() && starts[run + 1] == i) { ++run; }
      out.push_back(static_cast<vertex_id>(y[run] + i));
    }
  } else {
    return {};
  }
  return from.failed() ? decoded() : out;
}

/// The place of v as its block says it, or nothing where that is no place.
inline std::optional<list_place> place_oracle(compressed_lists const& lists, std::int64_t v)
{
  list_half const& half = lists.blocks[v / 11].halves[v % 11 / 6];
  std::int64_t const i = v % 11 % 6, size = v % 11 < 6 ? 6 : 5;
  std::uint64_t const head = half.head.bits, base = head & 0xffffffffffU, kind = head >> 53U & 3U;
  std::uint64_t const header = head >> 40U & 0xffU, bits = head >> 48U & 31U, step = 4 * (head >> 55U & 1U);
  auto const vertex = static_cast<vertex_id>(v);
  if (kind == 2) {
    if (base + static_cast<std::uint64_t>(size) > static_cast<std::uint64_t>(lists.wide.size())) { return {}; }
    wide_list const& entry = lists.wide[static_cast<std::int64_t>(base) + i];
    return list_place{entry.at, entry.degree, vertex};
  }
  std::uint64_t const share = half.shares[i];
  std::uint64_t const start = base + (share >> bits << step);
  auto const degree = static_cast<std::uint32_t>(share & ((std::uint64_t{1} << bits) - 1));
  // Of an empty list its header's word alone may be read.
  std::int64_t const beyond = degree > 0 ? 16 : 1;
  if (kind > 2 || start > 4 * static_cast<std::uint64_t>(lists.words.size() - beyond)) { return {}; }
  if (kind == 1) { return list_place{start | header << 56U, degree, vertex}; }
  std::uint64_t const own = lists.words[static_cast<std::int64_t>(start / 4)] >> (8 * (start % 4)) & 0xffU;
  return list_place{(start + 1) | own << 56U, degree, vertex};
}

/// The number of the first edge of the second half of block b.
inline edge_id middle_edge_oracle(compressed_lists const& lists, std::int64_t b)
{
  list_half const& half = lists.blocks[b].halves[1];
  return static_cast<edge_id>(half.shares[5] + (half.head.bits >> 56U << 32U));
}

}  // namespace tendril::test
