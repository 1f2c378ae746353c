// The part of a stream of walks that one place makes, where several places make the batches of one job in turn.

#pragma once

#include <algorithm>
#include <cstdint>

#include "base/turnstile.hpp"

namespace tendril::samplers {

/// Batches index, index + count, index + 2 count, … of a job. By default all of them.
struct stream_share {
  int index = 0, count = 1;
  std::int64_t batch = 0;             ///< Walks of a batch, the same for all places; 0: as the place likes, alone.
  base::turnstile* starts = nullptr;  ///< Batches get their starts in order; null: alone.
  base::turnstile* sink = nullptr;    ///< And go to the sink in order.

  /// The number in the job of this place's k-th batch.
  [[nodiscard]] std::int64_t batch_of(std::int64_t k) const { return index + k * count; }

  /// Batches of this place.
  [[nodiscard]] std::int64_t num_batches(std::int64_t num_walks, std::int64_t each) const
  {
    std::int64_t const all = num_walks / each + (num_walks % each > 0 ? 1 : 0);  // no sum: there may be 2^63 - 1 walks
    return all <= index ? 0 : (all - index - 1) / count + 1;
  }

  /// Walks of this place.
  [[nodiscard]] std::int64_t num_walks(std::int64_t all, std::int64_t each) const
  {
    std::int64_t const mine = num_batches(all, each);
    if (mine == 0) { return 0; }
    return (mine - 1) * each + std::min(each, all - batch_of(mine - 1) * each);
  }
};

/// What a place does with its turn at a turnstile, and how long it waited for it.
class stream_turn {
 public:
  explicit stream_turn(base::turnstile* gate) : gate_(gate) {}

  void wait(std::int64_t batch)
  {
    if (gate_ != nullptr) { waited_ += gate_->wait(batch); }
  }
  void advance()
  {
    if (gate_ != nullptr) { gate_->advance(); }
  }
  [[nodiscard]] double waited_seconds() const { return waited_; }

 private:
  base::turnstile* gate_;
  double waited_ = 0;
};

}  // namespace tendril::samplers
