#pragma once

namespace tendril {

/// The number of threads that a call gets which asks for `wanted` of them: fewer where the system does not give so many, as
/// under `ulimit -u`, `ulimit -v` or the limits of a container. Callers with OpenMP loops of their own ask here, since
/// OpenMP ends the process if a thread cannot be started. The first call for a number starts so many threads for a moment.
/// Thread-safe.
/// @param wanted  0: every core that the process may use.
/// @return        1 or more.
[[nodiscard]] int available_threads(int wanted = 0);

}  // namespace tendril
