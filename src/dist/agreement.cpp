#include "dist/agreement.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "graph/places.hpp"  // refuse_vertex

namespace tendril::dist {
namespace {

constexpr int wire_format = 4;

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

std::string text_of(std::span<job_line const> lines)
{
  std::string out;
  for (job_line const& line : lines) { out += (out.empty() ? "" : "\n") + line.what; }
  return out;
}

std::vector<char const*> verbs_of(std::span<job_line const> lines)
{
  std::vector<char const*> out;
  for (job_line const& line : lines) { out.push_back(line.verb); }
  return out;
}

void expect_same_texts(std::span<std::string const> texts, std::span<char const* const> verbs)
{
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts[0]) { continue; }
    auto const found = lines_of(texts[rank]), expected = lines_of(texts[0]);
    std::size_t k = 0;
    while (k + 1 < verbs.size() && k + 1 < found.size() && k + 1 < expected.size() && found[k] == expected[k]) { ++k; }
    throw rank_error(static_cast<int>(rank), fmt::format("rank {} of {} {} {}, expected as rank 0: {}", rank,
                                                         texts.size(), verbs[k], found[k], expected[k]));
  }
}

void expect_same(transport& ranks, char const* call, std::span<job_line const> lines)
{
  expect_same_texts(ranks.all_gather(call, text_of(lines)), verbs_of(lines));
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

void expect_own_part(int rank, int num_ranks, graph_part const& part)
{
  TENDRIL_EXPECTS(part.info.num_parts() == num_ranks, "the graph has {} parts, expected one a rank: {}",
                  part.info.num_parts(), num_ranks);
  TENDRIL_EXPECTS(part.index == rank, "part {} of the graph, expected that of rank {}", part.index, rank);
}

void expect_vertices(char const* what, std::span<vertex_id const> vertices, partition_info const& whole,
                     std::int64_t first)
{
  validation::expect_vertices(what, vertices, whole.num_vertices, first);
}

}  // namespace tendril::dist
