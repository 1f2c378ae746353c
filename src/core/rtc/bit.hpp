// <bit> for NVRTC.
#pragma once

namespace std {

template <class To, class From>
constexpr To bit_cast(From const& from)
{
  return __builtin_bit_cast(To, from);
}

}  // namespace std
