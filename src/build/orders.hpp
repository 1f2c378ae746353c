// The orders of <tendril/renumber.hpp>, one file each. Graphs are in host memory and checked; entry i of a result is the
// vertex that gets number i.

#pragma once

#include <cstdint>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::build {

[[nodiscard]] buffer<vertex_id> degree_order(graph const& g, cpu_exec const& exec);
[[nodiscard]] buffer<vertex_id> breadth_first_order(graph const& g, cpu_exec const& exec);
[[nodiscard]] buffer<vertex_id> cuthill_mckee_order(graph const& g, cpu_exec const& exec);
[[nodiscard]] buffer<vertex_id> label_propagation_order(graph const& g, std::uint64_t seed, cpu_exec const& exec);

}  // namespace tendril::build
