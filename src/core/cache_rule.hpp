// Which rows a cache of features keeps. Each row has a bin: the lower it is, the sooner the row is worth its slot. After
// a batch, the missed rows of the lowest bins take the slots of the cached rows of the highest ones, as long as theirs
// are lower; of equal bins the missed rows that the batch has first come in, and the lower slots go.
//
// Lookahead is Belady's rule (A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 5,
// 1966): the next use decides, as far as batches are known ahead, and beyond them a score. A row keeps one bit for each
// known batch. LRU keeps the number of the batch that used the row last.

#pragma once

#include <bit>
#include <cstdint>

#include <tendril/feature_cache.hpp>
#include <tendril/types.hpp>

namespace tendril::core {

struct cache_rule {
  static constexpr std::uint32_t most_known = 32;  // batches: the bits of a state
  static constexpr int num_scores = 256;
  static constexpr int empty_bin = static_cast<int>(most_known) - 1 + num_scores;
  static constexpr int num_bins = empty_bin + 1;

  cache_policy policy = cache_policy::fixed;

  /// The place of the lowest bit that is set; some is. Not std::countr_zero: on a device nvcc 13.0 takes it for 32, always.
  TENDRIL_HD static int lowest_bit(std::uint32_t bits)
  {
#ifdef __CUDA_ARCH__
    return __ffs(static_cast<int>(bits)) - 1;
#else
    return std::countr_zero(bits);
#endif
  }

  /// The bit of batch number `batch` in a state of lookahead.
  TENDRIL_HD static std::uint32_t bit_of(std::uint32_t batch) { return 1U << (batch % most_known); }

  /// Of a row, after batch number `now` has used it or not.
  /// @param state  Lookahead: the known batches after `now` that use the row. LRU: the last batch that did.
  /// @param score  Lookahead: its worth beyond the known batches.
  TENDRIL_HD int bin_of(std::uint32_t state, std::uint8_t score, std::uint32_t now) const
  {
    if (policy == cache_policy::lru) {
      std::uint32_t const age = now - state;
      return age < empty_bin ? static_cast<int>(age) : empty_bin - 1;
    }
    if (state == 0) { return empty_bin - 1 - score; }
    std::uint32_t const first = (now + 1) % most_known;  // the bit of the next batch
    return lowest_bit((state >> first) | (state << ((most_known - first) % most_known)));
  }
};

/// How many rows come in, and which: of the missed ones all below `in_bin` and the first `in_rest` of that bin; in the place
/// of the cached ones above `out_bin` and of the first `out_rest` of that bin.
///
/// If k rows come in, the k-th missed row by ascending bins and the k-th slot by descending ones have bins on two sides of some
/// bin t: at most t, and above t. So k is the greatest over all t of the smaller one of two numbers, of the missed rows up to t
/// and of the slots above it.
struct cache_change {
  std::int64_t size;
  int in_bin;
  int out_bin;
  std::int64_t in_rest;
  std::int64_t out_rest;
};

}  // namespace tendril::core
