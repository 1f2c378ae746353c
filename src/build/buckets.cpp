#include "build/buckets.hpp"

#include <algorithm>
#include <numeric>

#include <tendril/checked.hpp>

namespace tendril::build {
namespace {

constexpr std::int64_t cache_arcs = std::int64_t{1}
                                    << 16U;  // two arrays of 8 bytes an arc: 1 MiB, a second-level cache
constexpr std::int64_t max_slices = std::int64_t{1} << 16U;

int log2_ceil(std::int64_t n)
{
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1) - 1)));
}

}  // namespace

void bucket_plan::start(int key_bits, std::int64_t max_arcs, int threads)
{
  // Buckets small enough that all threads' working memory is a small part of the arcs' own.
  capacity_ = std::clamp<std::int64_t>(max_arcs / (64LL * threads), 1024, cache_arcs);
  std::int64_t const wanted = std::clamp<std::int64_t>(max_arcs / (16LL * threads), 256, max_slices);
  int const bits = std::min(key_bits, std::max(log2_ceil(wanted), key_bits - bucket_key_bits));
  top_shift_ = static_cast<unsigned>(key_bits - bits);
  std::size_t const slices = std::size_t{1} << static_cast<unsigned>(bits);
  top_.resize(slices);
  leaves_.reserve(slices);
  for (std::size_t i = 0; i < slices; ++i) {
    top_[i] = static_cast<std::uint32_t>(i);
    leaves_.push_back({i << top_shift_, top_shift_, true, static_cast<std::uint32_t>(i)});
  }
}

/// Takes the counts of the newest leaves in, and splits those with too many arcs. False if there are none.
bool bucket_plan::refine(buffer<std::uint32_t> counts)
{
  auto const first = counted_;
  auto const end = static_cast<std::int64_t>(leaves_.size());
  for (int chunk = 0; chunk < num_chunks_; ++chunk) {
    auto const* const mine = counts.data() + chunk * (end - first);
    for (auto i = first; i < end; ++i) { leaves_[static_cast<std::size_t>(i)].count += mine[i - first]; }
  }
  leaf_counts_.push_back(std::move(counts));
  level_first_.push_back(first);
  counted_ = end;

  for (auto i = first; i < end; ++i) {
    leaf const heavy = leaves_[static_cast<std::size_t>(i)];
    if (heavy.count <= 2 * capacity_ || heavy.shift == 0) { continue; }
    int const wanted = std::clamp(log2_ceil(heavy.count / capacity_) + 3, 8, 12);
    unsigned const bits = std::min(heavy.shift, static_cast<unsigned>(wanted));
    unsigned const shift = heavy.shift - bits;
    heavy.entry(*this) = is_node | static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({static_cast<std::uint32_t>(children_.size()), shift, (std::uint64_t{1} << bits) - 1});
    leaves_[static_cast<std::size_t>(i)].split = true;
    for (std::uint64_t c = 0; c <= nodes_.back().mask; ++c) {
      auto const slot = static_cast<std::uint32_t>(children_.size());
      children_.push_back(static_cast<std::uint32_t>(leaves_.size()));
      leaves_.push_back({heavy.lo + (c << shift), shift, false, slot});
    }
  }
  return static_cast<std::int64_t>(leaves_.size()) > end;
}

/// Makes buckets of consecutive leaves, and the tables name buckets instead of leaves.
void bucket_plan::group(cpu_exec const& exec)
{
  std::vector<std::uint32_t> order;
  order.reserve(leaves_.size());
  for (std::uint32_t i = 0; i < leaves_.size(); ++i) {
    if (!leaves_[i].split) { order.push_back(i); }
  }
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return leaves_[a].lo < leaves_[b].lo; });

  std::vector<std::uint32_t> bucket_of(leaves_.size(), 0);
  for (auto const i : order) {
    leaf const& l = leaves_[i];
    if (l.count == 0 && !buckets_.empty()) { continue; }  // no arc will ask
    std::uint64_t const hi = l.lo + ((std::uint64_t{1} << l.shift) - 1);
    bool const heavy = l.count > 2 * capacity_;
    bool const fits = !buckets_.empty() && !heavy && buckets_.back().num_arcs < capacity_ &&
                      (hi - buckets_.back().lo) >> static_cast<unsigned>(bucket_key_bits) == 0;
    if (fits) {
      buckets_.back().hi = hi;
      buckets_.back().num_arcs += l.count;
    } else {
      buckets_.push_back({l.lo, hi, l.count});
    }
    bucket_of[i] = static_cast<std::uint32_t>(buckets_.size() - 1);
    l.entry(*this) = bucket_of[i];
    num_arcs_ += l.count;
  }

  auto const num_buckets = static_cast<std::int64_t>(buckets_.size());
  chunk_counts_ = buffer<std::int64_t>(checked_product("counts of buckets", num_chunks_, num_buckets), *exec.memory);
  std::fill(chunk_counts_.begin(), chunk_counts_.end(), 0);
  for (std::size_t level = 0; level < leaf_counts_.size(); ++level) {
    auto const first = level_first_[level];
    auto const fresh = leaf_counts_[level].size() / num_chunks_;
    for (int chunk = 0; chunk < num_chunks_; ++chunk) {
      for (std::int64_t i = 0; i < fresh; ++i) {
        auto const at = static_cast<std::size_t>(first + i);
        if (leaves_[at].split) { continue; }
        chunk_counts_[chunk * num_buckets + bucket_of[at]] += leaf_counts_[level][chunk * fresh + i];
      }
    }
  }
  leaf_counts_.clear();
  leaves_ = {};
}

}  // namespace tendril::build
