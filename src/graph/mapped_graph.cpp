#include <tendril/mapped_graph.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/mapped_ranges.hpp"
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

std::int64_t memory_limit()
{
  std::int64_t least = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "5:memory:/path", or "0::/path" of version 2
    std::size_t const first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) { continue; }
    std::string const kind = line.substr(first + 1, second - first - 1);
    if (!kind.empty() && kind != "memory") { continue; }
    std::string const root = kind.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    char const* const name = kind.empty() ? "memory.max" : "memory.limit_in_bytes";
    for (std::string path = line.substr(second + 1);;) {  // each group that this one lies in
      std::int64_t limit = 0;
      if (std::ifstream(root + path + '/' + name) >> limit) { least = std::min(least, limit); }
      std::size_t const end = path.rfind('/');
      if (path.empty() || end == std::string::npos) { break; }
      path.resize(end);
    }
  }
  return least;
}

void expect_random_reads_if_large(graph const& input)
{
  if (input.num_bytes() > memory_limit() / 4 * 3) { expect_random_reads(input); }
}

}  // namespace tendril
