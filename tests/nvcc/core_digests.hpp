// The digests of the rules as each compiler makes them.

#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "nvcc/core_digest.hpp"

namespace tendril::test {

using digests = std::array<std::uint64_t, num_rules>;

digests digests_by_gpp();             // core_digest_gpp.cpp
digests digests_by_nvcc_on_host();    // core_digest_nvcc.cu
digests digests_by_nvcc_on_device();  // core_digest_nvcc.cu; throws std::runtime_error where a CUDA call fails

/// Why no device can be used; empty if one can.
std::string why_no_device();

}  // namespace tendril::test
