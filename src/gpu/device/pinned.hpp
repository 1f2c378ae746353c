// Page-locked host memory for the small blocks of calls, which are made again and again.

#pragma once

#include <tendril/gpu.hpp>

namespace tendril::gpu {

/// As pinned_memory(), but blocks of up to 1 MB that are given back wait for their next use: page-locking takes longer than
/// many a call. Who gives a block back has waited for the copies that read or write it. Any thread; never destroyed.
[[nodiscard]] memory_resource& kept_pinned_memory();

}  // namespace tendril::gpu
