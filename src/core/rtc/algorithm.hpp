// <algorithm> for NVRTC: min and max of two.
#pragma once

namespace std {

template <class T>
constexpr T const& min(T const& a, T const& b)
{
  return b < a ? b : a;
}

template <class T>
constexpr T const& max(T const& a, T const& b)
{
  return a < b ? b : a;
}

}  // namespace std
