#include "graph_of_ranks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "ranks.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

/// Hash of up to 1,024 lists of neighbours all over the graph: enough to tell two files apart that a job would mix up.
std::uint64_t digest_of_sample(graph const& g)
{
  constexpr std::int64_t most = 1024;
  std::uint64_t hash = 0xcbf29ce484222325;
  graph_view const view = g.view();
  std::int64_t const stride = std::max<std::int64_t>(g.num_vertices() / most, 1);
  for (std::int64_t v = 0; v < g.num_vertices(); v += stride) {
    std::uint32_t const degree = view.degree(v);
    hash = (hash ^ degree) * 0x100000001b3;
    for (std::uint32_t i = 0; i < degree; i += std::max(degree / 8, 1U)) {
      hash = (hash ^ view.neighbor(v, i)) * 0x100000001b3;
      if (g.has_weights()) { hash = (hash ^ std::bit_cast<std::uint32_t>(view.weight(v, i))) * 0x100000001b3; }
    }
  }
  return hash;
}

}  // namespace

std::string graph_of_ranks::digest() const
{
  if (part) { return part->info.digest; }
  return fmt::format("{} vertices, {} edges, symmetric {}, hash {:016x}", facts.num_vertices, facts.num_edges,
                     facts.symmetric, digest_of_sample(*whole));
}

graph_of_ranks read_for_ranks(graph_source const& source, std::string const& device, cpu_exec const& exec)
{
  transport* const ranks = job_ranks();
  if (ranks == nullptr || !is_partition(source.path)) {
    graph whole = source.read_for(device, exec);
    return {facts_of(whole, source.path), std::move(whole), std::nullopt};
  }
  source.expect_parts();
  partition_info const info = read_partition_info(source.path);
  if (info.num_parts() != ranks->size()) {
    throw argument_error(fmt::format("{}: {}, expected one a rank: mpirun started {}", source.path,
                                     counted(info.num_parts(), "part", "parts"), ranks->size()));
  }
  return {facts_of(info, source.path), std::nullopt, read_part(source.path, ranks->rank(), exec)};
}

}  // namespace tendril::cli
