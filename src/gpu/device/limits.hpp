// Limits of tables, checked in host code: nvcc doesn't compile the formatting library.

#pragma once

#include <cstdint>

namespace tendril::gpu {

/// @throws argument_error "what: value, expected less than 2^bits" unless value < 2^bits.
void expect_below_power(char const* what, std::int64_t value, int bits);

}  // namespace tendril::gpu
