// <concepts> for NVRTC.
#pragma once

#include <type_traits>

namespace std {

template <class From, class To>
concept convertible_to = requires(From (&from)(), void (&to)(To))
{
  to(from());
  static_cast<To>(from());
};

template <class A, class B>
concept same_as = is_same_v<A, B> && is_same_v<B, A>;

}  // namespace std
