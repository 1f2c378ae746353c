// Cuts the arcs of a build into buckets: consecutive ranges of keys (source, target), each small enough to be sorted
// inside a core's cache. A histogram over equal slices of the key space comes first; slices with too many arcs (a hub,
// a skewed id order) are cut finer, by the target's bits too, until only a key that repeats can be heavy.

#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/checked.hpp>
#include <tendril/exec.hpp>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::build {

/// The arcs with keys in [lo, hi]. Either at most `max_bucket_arcs` of them over fewer than 2^44 keys, so that
/// (key - lo, position) fits 64 bits, or any number with one and the same key (lo == hi).
struct bucket {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;
  std::int64_t num_arcs = 0;

  [[nodiscard]] bool one_key() const { return lo == hi; }
};

inline constexpr int bucket_key_bits = 44;
inline constexpr std::int64_t max_bucket_arcs = std::int64_t{1} << (64 - bucket_key_bits);

/// Which bucket a key belongs to, and how many arcs each chunk of the input has in each bucket.
class bucket_plan {
 public:
  /// @param key_bits  Keys are below 2^key_bits.
  /// @param max_arcs  An upper bound of the number of arcs.
  /// @param scan      scan(chunk, f) calls f(key) for each arc of chunk 0 <= chunk < num_chunks; it is called from
  ///                  several threads, and more than once a chunk.
  template <class Scan>
  bucket_plan(int key_bits, std::int64_t max_arcs, int num_chunks, Scan&& scan, cpu_exec const& exec)
      : num_chunks_(num_chunks)
  {
    start(key_bits, max_arcs, base::num_threads(exec));
    while (true) {
      auto const first = counted_;
      auto const fresh = static_cast<std::int64_t>(leaves_.size()) - first;
      buffer<std::uint32_t> counts(checked_product("counts of buckets", fresh, num_chunks), *exec.memory);
      base::parallel_ranges(exec, num_chunks, 1, [&](std::int64_t chunk, std::int64_t) {
        auto* const mine = counts.data() + chunk * fresh;
        std::fill(mine, mine + fresh, 0U);
        if (first == 0) {
          auto const shift = top_shift_;
          scan(static_cast<int>(chunk), [&](std::uint64_t key) { ++mine[key >> shift]; });
        } else {
          scan(static_cast<int>(chunk), [&](std::uint64_t key) {
            if (auto const found = find(key); found >= first) { ++mine[found - first]; }
          });
        }
      });
      if (!refine(std::move(counts))) { break; }
    }
    group(exec);
  }

  [[nodiscard]] std::vector<bucket> const& buckets() const { return buckets_; }
  [[nodiscard]] int num_chunks() const { return num_chunks_; }
  [[nodiscard]] std::int64_t num_arcs() const { return num_arcs_; }

  /// Arcs of `chunk` in bucket b.
  [[nodiscard]] std::int64_t count(int chunk, std::int64_t b) const
  {
    return chunk_counts_[chunk * static_cast<std::int64_t>(buckets_.size()) + b];
  }

  /// Bytes of all tables.
  [[nodiscard]] std::int64_t num_bytes() const
  {
    return 8 * chunk_counts_.size() +
           static_cast<std::int64_t>(4 * (top_.size() + children_.size()) + sizeof(node) * nodes_.size() +
                                     sizeof(bucket) * buckets_.size());
  }

  /// The bucket of a key that some arc has.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const
  {
    std::uint32_t entry = top_[key >> top_shift_];
    while ((entry & is_node) != 0) {
      node const& n = nodes_[entry & ~is_node];
      entry = children_[n.first + ((key >> n.shift) & n.mask)];
    }
    return entry;
  }

 private:
  static constexpr std::uint32_t is_node = 0x80000000U;

  struct node {
    std::uint32_t first;  // in children_
    unsigned shift;
    std::uint64_t mask;
  };
  struct leaf {
    std::uint64_t lo;
    unsigned shift;  // spans 2^shift keys
    bool in_top;     // the entry that names this leaf is in top_, else in children_
    std::uint32_t slot;
    std::int64_t count = 0;
    bool split = false;

    [[nodiscard]] std::uint32_t& entry(bucket_plan& plan) const
    {
      return in_top ? plan.top_[slot] : plan.children_[slot];
    }
  };

  void start(int key_bits, std::int64_t max_arcs, int threads);
  bool refine(buffer<std::uint32_t> counts);
  void group(cpu_exec const& exec);

  int num_chunks_;
  std::int64_t num_arcs_ = 0;
  std::int64_t capacity_ = 0;  // arcs at which a bucket is closed
  unsigned top_shift_ = 0;
  std::vector<std::uint32_t> top_, children_;
  std::vector<node> nodes_;
  std::vector<leaf> leaves_;
  std::int64_t counted_ = 0;                        // leaves whose arcs are counted
  std::vector<buffer<std::uint32_t>> leaf_counts_;  // one a level: [chunk][leaf of that level]
  std::vector<std::int64_t> level_first_;           // the first leaf of each level
  std::vector<bucket> buckets_;
  buffer<std::int64_t> chunk_counts_;  // [chunk][bucket]
};

}  // namespace tendril::build
