// How large mini-batches turn out. Bounds follow from seeds and fan-outs (src/gpu/batches/bounds.hpp), but neighbourhoods
// overlap and many vertices have few neighbours, so that batches of one sampler use much the same, small share of them.
// Memory for what is expected spares moving outputs together afterwards, and lets the table lie in a cache. Host code.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tendril::gpu {

/// Several sizes, each with a bound that is different for every batch.
class expected_sizes {
 public:
  /// What to expect where there can be `bound`: by the largest share so far, and more. Before anything is known, and
  /// right after too little was expected: the bound.
  [[nodiscard]] std::int64_t of(std::size_t which, std::int64_t bound) const
  {
    constexpr std::int64_t at_least = 256;  // small numbers vary most
    if (unsure_ || which >= shares_.size() || shares_[which] == 0) { return bound; }
    return std::min(bound, static_cast<std::int64_t>(static_cast<double>(bound) * shares_[which] * room_) + at_least);
  }

  /// What a size was in the end.
  void learn(std::size_t which, std::int64_t size, std::int64_t bound)
  {
    if (which >= shares_.size()) { shares_.resize(which + 1); }
    if (bound > 0) {
      shares_[which] = std::max(shares_[which], static_cast<double>(size) / static_cast<double>(bound));
    }
  }

  /// A group of batches is behind us.
  void end_group(bool was_too_little)
  {
    unsure_ = was_too_little;
    if (was_too_little) { room_ *= 1.5; }
  }

  [[nodiscard]] bool is_sure() const { return !unsure_; }

 private:
  std::vector<double> shares_;
  double room_ = 1.2;
  bool unsure_ = true;
};

}  // namespace tendril::gpu
