// How the kernels that pick read neighbours.

#pragma once

#include <cstdint>

#include <tendril/row.hpp>

namespace tendril::gpu {

/// Reads what is not read again: its line needn't stay in a cache.
struct streaming_load {
  static constexpr bool quads = true;  // <tendril/list_code.hpp>
  template <class T>
  [[nodiscard]] TENDRIL_HD T operator()(T const* address) const
  {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == 16) {
      uint4 const bits = __ldcs(reinterpret_cast<uint4 const*>(address));
      return reinterpret_cast<T const&>(bits);
    } else {
      return __ldcs(address);
    }
#else
    return *address;
#endif
  }
};

/// The target of edge i of a row, whose number is `edge`. By the number where that is enough: who needs it, too, then keeps
/// no other place of the row in registers. Any thread.
template <class View, class Load = plain_load>
[[nodiscard]] __device__ __forceinline__ vertex_id target_in(View const& graph, typename View::row_type const& row,
                                                             edge_id edge, std::uint32_t i, Load load = {})
{
  if constexpr (View::targets_by_number) {
    return graph.edge_target(edge, 0, load);
  } else {
    return row.neighbor(i, load);
  }
}

}  // namespace tendril::gpu
