// Rejection: propose an edge uniformly, accept it with probability weight / bound. Exact for any bound that no weight
// exceeds; the mean number of trials is bound * degree / sum of weights.

#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace tendril::core {

/// Whether a proposal of weight `weight` stands against `bound`, given its 64 random bits. The product is one
/// correctly rounded operation, so both sides of the machine agree. The probability's error is below 2^-52.
TENDRIL_HD bool accept(std::uint64_t bits, double weight, double bound) { return unit_interval(bits) * bound < weight; }

/// After this many rejected trials a step is decided by a race over the whole neighbourhood instead: trials are
/// independent of it, so the distribution stays the same, and a step costs O(degree) at worst. Part of the contract.
TENDRIL_HD std::uint32_t trial_limit(std::uint32_t degree) { return 32 + (degree < 992 ? degree : 992); }

}  // namespace tendril::core
