// From degrees to offsets.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/exec.hpp>
#include <tendril/types.hpp>

namespace tendril::build {

/// Each entry becomes the sum of the entries up to it.
void sum_up(std::span<edge_id> degrees, cpu_exec const& exec);

}  // namespace tendril::build
