#pragma once

namespace tendril::gpu {

/// Whether GPU `to` reads the memory of GPU `from`; if so, it is let into CUDA's pool there, from which buffers come.
/// @throws device_error.
[[nodiscard]] bool reaches_pool(int to, int from);

}  // namespace tendril::gpu
