// Which numbers may weigh a vertex, for samplers that draw vertices in proportion to given numbers.

#pragma once

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include <tendril/error.hpp>

namespace tendril::samplers {

inline bool is_importance(float value) { return std::isfinite(value) && value >= 0; }

[[noreturn]] inline void refuse_importance(std::int64_t vertex, float value)
{
  throw argument_error(fmt::format("importance {}: {}, expected a finite number of 0 or more", vertex, value));
}

}  // namespace tendril::samplers
