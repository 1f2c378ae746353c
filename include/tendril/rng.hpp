#pragma once

#include <cstdint>

#include <tendril/types.hpp>

namespace tendril {

/// The key of one stream of random numbers: the user's seed combined with the algorithm's domain. Two algorithms with
/// the same seed share no random number. docs/reproducibility.md defines the whole scheme.
struct rng_key {
  std::uint32_t lo = 0;
  std::uint32_t hi = 0;

  friend bool operator==(rng_key const&, rng_key const&) = default;
};

}  // namespace tendril
