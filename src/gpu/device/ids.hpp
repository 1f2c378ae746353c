// What src/gpu/device/ids.cu finds in the ids of others.

#pragma once

#include <cstdint>
#include <string>

#include <tendril/gpu_array.hpp>

namespace tendril::gpu {

/// An element of an id_matrix that is no id below some limit.
struct bad_id {
  std::int64_t index = -1;  ///< Counted row by row; -1: there is none.
  std::string value;
};

/// The first of them. Synchronises. @throws device_error; memory_error.
[[nodiscard]] bad_id first_bad_id(id_matrix const& ids, std::int64_t limit, gpu_exec const& exec);

}  // namespace tendril::gpu
