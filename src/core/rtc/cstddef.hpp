// <cstddef> for NVRTC.
#pragma once

namespace std {
using size_t = decltype(sizeof 0);
using ptrdiff_t = decltype(static_cast<int*>(nullptr) - static_cast<int*>(nullptr));
}  // namespace std
