// <cmath> for NVRTC: the functions whose results are exact, and so the same on CPU and GPU.
#pragma once

namespace std {
using ::ceil;
using ::ceilf;
using ::fabs;
using ::fabsf;
using ::floor;
using ::floorf;
using ::fmax;
using ::fmaxf;
using ::fmin;
using ::fminf;
using ::sqrt;
using ::sqrtf;
}  // namespace std
