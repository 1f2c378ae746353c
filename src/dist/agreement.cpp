#include "dist/agreement.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "graph/places.hpp"  // refuse_vertex

namespace tendril::dist {
namespace {

constexpr int wire_format = 2;

std::vector<std::string> lines_of(std::string const& text)
{
  std::vector<std::string> out{""};
  for (char const c : text) {
    if (c == '\n') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

}  // namespace

void expect_same(transport& ranks, char const* call, std::span<job_line const> lines)
{
  std::string mine;
  for (job_line const& line : lines) { mine += (mine.empty() ? "" : "\n") + line.what; }
  std::vector<std::string> const all = ranks.all_gather(call, mine);
  for (int rank = 1; rank < ranks.size(); ++rank) {
    std::string const& theirs = all[static_cast<std::size_t>(rank)];
    if (theirs == all[0]) { continue; }
    auto const found = lines_of(theirs), expected = lines_of(all[0]);
    std::size_t k = 0;
    while (k + 1 < lines.size() && k + 1 < found.size() && k + 1 < expected.size() && found[k] == expected[k]) { ++k; }
    throw rank_error(rank, fmt::format("rank {} of {} {} {}, expected as rank 0: {}", rank, ranks.size(), lines[k].verb,
                                       found[k], expected[k]));
  }
}

job_line wire_line()
{
  return {"has another version of the library: it speaks format", fmt::format("{}", wire_format)};
}

job_line graph_line(char const* verb, partition_info const& whole)
{
  return {verb,
          fmt::format("graph {} in {} parts at {}", whole.digest, whole.num_parts(), fmt::join(whole.bounds, " "))};
}

void expect_own_part(transport const& ranks, graph_part const& part)
{
  TENDRIL_EXPECTS(part.info.num_parts() == ranks.size(), "the graph has {} parts, expected one a rank: {}",
                  part.info.num_parts(), ranks.size());
  TENDRIL_EXPECTS(part.index == ranks.rank(), "part {} of the graph, expected that of rank {}", part.index,
                  ranks.rank());
}

void expect_vertices(char const* what, std::span<vertex_id const> vertices, partition_info const& whole)
{
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i] < whole.num_vertices) { continue; }
    validation::refuse_vertex(what, static_cast<std::int64_t>(i), vertices[i], whole.num_vertices);
  }
}

}  // namespace tendril::dist
