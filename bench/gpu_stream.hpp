// Whether walks, copies and files overlap: `tendril bench stream`.

#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

/// Bytes of rows a second of a job of DeepWalk walks, 80 steps, about 4 GiB of them: walking alone, copying to the host
/// alone, writing .npy alone, and all at once as `tendril walk --device cuda` does; and the last against the slowest of
/// the others. Files go to $TMPDIR, or /tmp, and are removed.
/// @throws what make_bench_graph throws; io_error.
[[nodiscard]] std::vector<row> run_stream(options const& o);

}  // namespace tendril::bench
