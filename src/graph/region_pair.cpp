#include "graph/region_pair.hpp"

#include <algorithm>
#include <vector>

#include "base/thread_limit.hpp"  // aside

namespace tendril {
namespace {

// What the system reads around a page that is missing, and about what a disk reads in order in the time of such a read.
constexpr std::int64_t bytes_a_missing_page = std::int64_t{64} << 10U;

}  // namespace

region_pair::region_pair(graph const& input, std::int64_t graph_bytes)
    : regions_(input, graph_bytes / 2), memory_{region_memory(regions_), region_memory(regions_)}
{
}

void region_pair::begin_reading(std::int64_t region, std::int64_t visitors)
{
  bool const pays = visitors * bytes_a_missing_page >= regions_.num_bytes(region);
  if (memory_[here_].has(region) || !pays) { return; }
  reading_ = std::async(base::aside, [&memory = memory_[1 - here_], region] { return memory.read(region); });
}

graph_view const& region_pair::turn_to(std::int64_t region, std::span<vertex_id const> visited)
{
  if (reading_.valid()) { read_bytes_ += reading_.get(); }
  if (memory_[1 - here_].has(region)) { here_ = 1 - here_; }
  if (!memory_[here_].has(region)) {
    std::vector<vertex_id> vertices(visited.begin(), visited.end());
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    memory_[here_].ask_for(vertices);
  }
  return memory_[here_].view();
}

}  // namespace tendril
