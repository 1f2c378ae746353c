// <type_traits> for NVRTC: what the engine asks of types.
#pragma once

#include <cstddef>

namespace std {

template <class T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;

template <class T>
struct remove_cv {
  using type = T;
};
template <class T>
struct remove_cv<T const> {
  using type = T;
};
template <class T>
using remove_cv_t = typename remove_cv<T>::type;

template <bool condition, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool condition, class A, class B>
using conditional_t = typename conditional<condition, A, B>::type;

template <class T>
inline constexpr bool is_array_v = false;
template <class T, size_t n>
inline constexpr bool is_array_v<T[n]> = true;

template <class T>
inline constexpr size_t extent_v = 0;
template <class T, size_t n>
inline constexpr size_t extent_v<T[n]> = n;

template <class T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;

template <class T>
inline constexpr bool is_integral_v =
    is_same_v<T, bool> || is_same_v<T, char> || is_same_v<T, signed char> || is_same_v<T, unsigned char> ||
    is_same_v<T, short> || is_same_v<T, unsigned short> || is_same_v<T, int> || is_same_v<T, unsigned> ||
    is_same_v<T, long> || is_same_v<T, unsigned long> || is_same_v<T, long long> || is_same_v<T, unsigned long long>;

template <class T>
inline constexpr bool is_arithmetic_v = is_floating_point_v<T> || is_integral_v<T>;

}  // namespace std
