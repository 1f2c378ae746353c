// Where ranks (GPUs, or places on one) leave records for one of them.

#pragma once

#include <cstdint>

namespace tendril::gpu {

inline constexpr int most_ranks = 32;

/// Kinds of records that are sorted at once: one for each rank, and one that goes nowhere.
inline constexpr int most_groups = most_ranks + 1;

/// Records that ranks leave at one of them. Both pointers are memory of that rank, which all ranks reach.
template <class Record>
struct inbox {
  Record* records;  ///< As many as there may be.
  unsigned* size;
};

}  // namespace tendril::gpu
