#pragma once

#include <cstdint>
#include <optional>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::gpu {

/// Whether samplers may run on these arrays (graph_content::sound), which lie in the memory of the GPU of `exec`: a CSR, or
/// a compressed graph. Synchronises. CPU twin: src/graph/soundness.cpp.
[[nodiscard]] bool is_sound(graph_arrays const& arrays, gpu_exec const& exec);

/// The first vertex whose list can't be read, or holds what is no vertex or does not ascend: of vertices whose block of the
/// directory is wrong the block's first; else of those whose list is. Nothing if all is right. Synchronises.
[[nodiscard]] std::optional<std::int64_t> find_bad_list(compressed_lists const& lists, gpu_exec const& exec);

}  // namespace tendril::gpu
