#pragma once

#include <cstdint>
#include <type_traits>

#include <tendril/types.hpp>

namespace tendril {

/// Whether a caller's 32-bit or 64-bit integer can be a vertex: not negative, and below `no_vertex`.
template <class T>
[[nodiscard]] TENDRIL_HD constexpr bool is_vertex_id(T id)
{
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  if constexpr (std::is_signed_v<T>) {
    return id >= 0 && static_cast<std::uint64_t>(id) < no_vertex;
  } else {
    return id < no_vertex;
  }
}

}  // namespace tendril
