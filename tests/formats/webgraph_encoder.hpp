#pragma once

// Writes WebGraph BV graphs, for tests: straight from the format's description, and slowly. It shares nothing with the
// reader that it tests but the numbering of the codes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tendril::test {

using adjacency = std::vector<std::vector<std::uint32_t>>;

class bit_writer {
 public:
  void bits(std::uint64_t value, unsigned count)
  {
    while (count-- > 0) { bit(((value >> count) & 1U) != 0); }
  }

  void unary(std::uint64_t x)
  {
    for (; x > 0; --x) { bit(false); }
    bit(true);
  }

  void gamma(std::uint64_t x)
  {
    unsigned const log2 = floor_log2(x + 1);
    unary(log2);
    bits(x + 1, log2);
  }

  void delta(std::uint64_t x)
  {
    unsigned const log2 = floor_log2(x + 1);
    gamma(log2);
    bits(x + 1, log2);
  }

  void zeta(std::uint64_t x, unsigned k)
  {
    unsigned const h = floor_log2(x + 1) / k;
    unary(h);
    minimal_binary(x + 1 - (std::uint64_t{1} << (h * k)),
                   (std::uint64_t{1} << (h * k + k)) - (std::uint64_t{1} << (h * k)));
  }

  void golomb(std::uint64_t x, std::uint64_t modulus)
  {
    unary(x / modulus);
    minimal_binary(x % modulus, modulus);
  }

  void skewed_golomb(std::uint64_t x, std::uint64_t modulus)
  {
    unsigned bucket = 0;
    while (x >= ((std::uint64_t{2} << bucket) - 1) * modulus) { ++bucket; }
    std::uint64_t const first = ((std::uint64_t{1} << bucket) - 1) * modulus;
    unary(bucket);
    minimal_binary(x - first, (std::uint64_t{1} << bucket) * modulus);
  }

  void nibble(std::uint64_t x)
  {
    unsigned digits = 1;
    while ((x >> (3 * digits)) != 0) { ++digits; }
    while (digits-- > 0) {
      bit(digits == 0);
      bits(x >> (3 * digits), 3);
    }
  }

  /// By the name that compression flags use.
  void code(std::string const& name, std::uint64_t x, unsigned parameter)
  {
    if (name == "UNARY") { return unary(x); }
    if (name == "GAMMA") { return gamma(x); }
    if (name == "DELTA") { return delta(x); }
    if (name == "ZETA") { return zeta(x, parameter); }
    if (name == "GOLOMB") { return golomb(x, parameter); }
    if (name == "SKEWED_GOLOMB") { return skewed_golomb(x, parameter); }
    if (name == "NIBBLE") { return nibble(x); }
    throw std::invalid_argument(name);
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::vector<std::byte> const& bytes() const { return bytes_; }

 private:
  static unsigned floor_log2(std::uint64_t x)
  {
    unsigned log2 = 0;
    while ((x >>= 1U) != 0) { ++log2; }
    return log2;
  }

  void bit(bool value)
  {
    if (size_ % 8 == 0) { bytes_.push_back(std::byte{0}); }
    if (value) { bytes_.back() |= std::byte{0x80} >> (size_ % 8); }
    ++size_;
  }

  /// The first 2^ceil - bound numbers in floor(log2(bound)) bits, the others in one more.
  void minimal_binary(std::uint64_t x, std::uint64_t bound)
  {
    unsigned const log2 = floor_log2(bound);
    std::uint64_t const short_codes = (std::uint64_t{2} << log2) - bound;
    if (x < short_codes) { return bits(x, log2); }
    bits(x + short_codes, log2 + 1);
  }

  std::vector<std::byte> bytes_;
  std::uint64_t size_ = 0;
};

struct webgraph_settings {
  std::string outdegrees = "GAMMA", references = "UNARY", block_counts = "GAMMA", blocks = "GAMMA", residuals = "ZETA",
              offsets = "GAMMA";
  unsigned k = 3;
  std::size_t window = 7;
  int max_chain = 3;             // longest chain of references, -1: any
  std::size_t min_interval = 4;  // 0: no intervals
};

struct webgraph_bytes {
  std::string properties;
  std::vector<std::byte> graph, offsets;
};

class webgraph_encoder {
 public:
  webgraph_encoder(adjacency const& lists, webgraph_settings settings) : lists_(lists), set_(std::move(settings)) {}

  webgraph_bytes encode()
  {
    bit_writer offsets;
    std::uint64_t last = 0, arcs = 0;
    std::vector<int> chain(lists_.size());
    for (std::size_t x = 0; x <= lists_.size(); ++x) {
      offsets.code(set_.offsets, out_.size() - last, set_.k);
      last = out_.size();
      if (x == lists_.size()) { break; }
      arcs += lists_[x].size();
      std::size_t const reference = choose_reference(x, chain);
      chain[x] = reference == 0 ? 0 : chain[x - reference] + 1;
      write_list(x, reference);
    }
    std::string const properties = fmt::format(
        "#BVGraph properties\n#Thu Jan 01 00:00:00 CET 1970\nversion=0\nnodes={}\narcs={}\nwindowsize={}\n"
        "maxrefcount={}\nminintervallength={}\nzetak={}\ncompressionflags=OUTDEGREES_{} | BLOCKS_{} | RESIDUALS_{} | "
        "REFERENCES_{} | BLOCK_COUNT_{} | OFFSETS_{}\ngraphclass=it.unimi.dsi.webgraph.BVGraph\n",
        lists_.size(), arcs, set_.window, set_.max_chain, set_.min_interval, set_.k, set_.outdegrees, set_.blocks,
        set_.residuals, set_.references, set_.block_counts, set_.offsets);
    return {properties, out_.bytes(), offsets.bytes()};
  }

 private:
  /// The earlier list that shares the most with list x, 0 if none shares anything.
  std::size_t choose_reference(std::size_t x, std::vector<int> const& chain) const
  {
    std::size_t best = 0, best_shared = 0;
    for (std::size_t r = 1; r <= std::min(set_.window, x); ++r) {
      if (set_.max_chain >= 0 && chain[x - r] >= set_.max_chain) { continue; }
      auto const& from = lists_[x - r];
      auto const shared = static_cast<std::size_t>(std::count_if(from.begin(), from.end(), [&](std::uint32_t v) {
        return std::binary_search(lists_[x].begin(), lists_[x].end(), v);
      }));
      if (shared > best_shared) {
        best = r;
        best_shared = shared;
      }
    }
    return best;
  }

  static std::uint64_t natural(std::int64_t x)
  {
    return x >= 0 ? 2 * static_cast<std::uint64_t>(x) : 2 * static_cast<std::uint64_t>(-x) - 1;
  }

  void write_list(std::size_t x, std::size_t reference)
  {
    auto const& list = lists_[x];
    out_.code(set_.outdegrees, list.size(), set_.k);
    if (list.empty()) { return; }
    if (set_.window > 0) { out_.code(set_.references, reference, set_.k); }
    std::vector<std::uint32_t> extras = list;
    if (reference > 0) { extras = write_blocks(list, lists_[x - reference]); }
    if (extras.empty()) { return; }
    if (set_.min_interval > 0) { extras = write_intervals(x, extras); }
    std::int64_t previous = 0;
    for (std::size_t i = 0; i < extras.size(); ++i) {
      std::int64_t const v = extras[i];
      out_.code(set_.residuals,
                i == 0 ? natural(v - static_cast<std::int64_t>(x)) : static_cast<std::uint64_t>(v - previous - 1),
                set_.k);
      previous = v;
    }
  }

  /// Writes which entries of `from` are copied; returns the rest of `list`.
  std::vector<std::uint32_t> write_blocks(std::vector<std::uint32_t> const& list,
                                          std::vector<std::uint32_t> const& from)
  {
    std::vector<std::size_t> runs = {0};  // copied, skipped, copied, …
    std::vector<std::uint32_t> copied;
    bool copying = true;
    for (std::uint32_t const v : from) {
      bool const in = std::binary_search(list.begin(), list.end(), v);
      if (in) { copied.push_back(v); }
      if (in != copying) {
        runs.push_back(0);
        copying = in;
      }
      ++runs.back();
    }
    out_.code(set_.block_counts, runs.size() - 1, set_.k);  // the last run follows from the others
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) { out_.code(set_.blocks, runs[i] - (i > 0 ? 1 : 0), set_.k); }
    std::vector<std::uint32_t> rest;
    std::set_difference(list.begin(), list.end(), copied.begin(), copied.end(), std::back_inserter(rest));
    return rest;
  }

  /// Writes runs of consecutive vertices; returns the others.
  std::vector<std::uint32_t> write_intervals(std::size_t x, std::vector<std::uint32_t> const& extras)
  {
    struct interval {
      std::int64_t left;
      std::size_t length;
    };
    std::vector<interval> intervals;
    std::vector<std::uint32_t> rest;
    for (std::size_t i = 0; i < extras.size();) {
      std::size_t end = i + 1;
      while (end < extras.size() && extras[end] == extras[end - 1] + 1) { ++end; }
      if (end - i >= set_.min_interval) {
        intervals.push_back({extras[i], end - i});
      } else {
        rest.insert(rest.end(), extras.begin() + static_cast<std::ptrdiff_t>(i),
                    extras.begin() + static_cast<std::ptrdiff_t>(end));
      }
      i = end;
    }
    out_.gamma(intervals.size());
    std::int64_t right = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      auto const [left, length] = intervals[i];
      out_.gamma(i == 0 ? natural(left - static_cast<std::int64_t>(x)) : static_cast<std::uint64_t>(left - right - 2));
      out_.gamma(length - set_.min_interval);
      right = left + static_cast<std::int64_t>(length) - 1;
    }
    return rest;
  }

  adjacency const& lists_;
  webgraph_settings set_;
  bit_writer out_;
};

}  // namespace tendril::test
