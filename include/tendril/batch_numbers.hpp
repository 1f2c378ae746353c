#pragma once

#include <cstdint>

#include <tendril/types.hpp>  // TENDRIL_HD

namespace tendril {

/// The numbers of batches that are sampled together: first, first + step, first + 2 step, …, modulo 2^64. Where n processes
/// share an epoch in turn, the batches of one process have the step n.
struct batch_numbers {
  std::uint64_t first = 0;
  std::uint64_t step = 1;

  /// The number of the batch at position i, from 0.
  [[nodiscard]] TENDRIL_HD std::uint64_t of(std::int64_t i) const
  {
    return first + static_cast<std::uint64_t>(i) * step;
  }
  /// The numbers from position i on.
  [[nodiscard]] TENDRIL_HD batch_numbers from(std::int64_t i) const { return {of(i), step}; }
};

}  // namespace tendril
