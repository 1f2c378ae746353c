#pragma once

#include <cstdint>

#include <tendril/graph.hpp>

namespace tendril {

/// Tells the system that a graph in a mapped file is read at random: a page that is missing comes alone, without megabytes
/// around it. For samplers on a file that memory does not hold; where it does, reading around is what fills memory
/// quickly. Changes nothing for arrays that lie in no mapped file.
void expect_random_reads(graph const& input);

/// Bytes of memory that this process may use, page cache included: what the machine has, or less where a control group
/// (of version 1 or 2) sets a limit.
[[nodiscard]] std::int64_t memory_limit();

/// Calls `expect_random_reads` for a graph that takes more than three quarters of that. `tendril walk` and `tendril sample`
/// do so after the check of the graph's content, which reads it in order.
void expect_random_reads_if_large(graph const& input);

}  // namespace tendril
