#include <tendril/mapped_graph.hpp>

#include <cstdint>
#include <span>

#include <sys/mman.h>
#include <unistd.h>

#include "base/mapped_ranges.hpp"
#include "base/memory_room.hpp"  // read_memory_room
#include "graph/regions.hpp"

namespace tendril {

void expect_random_reads(graph const& input)
{
  auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  graph_regions::for_each_array(input.arrays(), [&](std::size_t, auto const& array) {
    std::span<std::byte const> const bytes = bytes_of(array);
    if (bytes.empty() || !base::mapping_at(bytes.data())) { return; }
    std::size_t const before = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;  // in the array's first page
    auto* const first = const_cast<std::byte*>(bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    madvise(first - before, bytes.size() + before, MADV_RANDOM);
  });
}

std::int64_t memory_limit() { return base::read_memory_room().limit; }

void expect_random_reads_if_large(graph const& input)
{
  if (input.num_bytes() > memory_limit() / 4 * 3) { expect_random_reads(input); }
}

}  // namespace tendril
