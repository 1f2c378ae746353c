#pragma once

// Walks that are counted, and what their rows say of it.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/partition.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/transport.hpp>
#include <tendril/walk_parts.hpp>
#include <tendril/walk_stream.hpp>

#include "support/engine_wrapper.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {

struct counted_walks {
  std::vector<std::int64_t> visits, ends;

  explicit counted_walks(std::int64_t num_vertices)
      : visits(static_cast<std::size_t>(num_vertices)), ends(static_cast<std::size_t>(num_vertices))
  {
  }

  /// Those of vertices from `first` on.
  [[nodiscard]] walk_counts of(std::int64_t first, std::int64_t size)
  {
    auto const at = static_cast<std::size_t>(first), n = static_cast<std::size_t>(size);
    return {std::span(visits).subspan(at, n), std::span(ends).subspan(at, n)};
  }
  [[nodiscard]] walk_counts all() { return {visits, ends}; }

  friend bool operator==(counted_walks const&, counted_walks const&) = default;
};

inline counted_walks counts_of(rows const& walks, std::int64_t num_vertices)
{
  counted_walks out(num_vertices);
  std::size_t const row = walks.lengths.empty() ? 0 : walks.vertices.size() / walks.lengths.size();
  for (std::size_t i = 0; i < walks.lengths.size(); ++i) {
    auto const walk = std::span(walks.vertices).subspan(i * row, static_cast<std::size_t>(walks.lengths[i]) + 1);
    for (vertex_id const v : walk) { ++out.visits[v]; }
    ++out.ends[walk.back()];
  }
  return out;
}

/// A job that counts walks from some starts.
inline walk_stream_job counting_job(std::span<vertex_id const> starts, std::int64_t first_walk, walk_counts counts)
{
  walk_stream_job job;
  job.num_walks = std::ssize(starts);
  job.first_walk = first_walk;
  job.starts = [starts](std::int64_t first, std::span<vertex_id> into) {
    std::copy_n(starts.begin() + first, into.size(), into.begin());
  };
  job.counts = counts;
  return job;
}

/// What ranks count together, each of which asks for a part of the walks. What is there before stays.
/// @param make  (part, ranks) -> the rank's sharded_walker.
template <class Make>
counted_walks counts_of_ranks(graph const& g, int num_ranks, std::vector<vertex_id> const& starts,
                              std::int64_t first_walk, Make const& make, engine_wrapper const& wrap = {},
                              cpu_exec const& exec = {})
{
  counted_walks out(g.num_vertices());
  run_ranks(
      num_ranks,
      [&](transport& ranks) {
        graph_part part = part_of(g, {.num_parts = num_ranks}, ranks.rank());
        std::int64_t const first = part.first_vertex(), size = part.num_vertices();
        sharded_walker walk = make(std::move(part), ranks);
        walk_range const mine = walks_of({ranks.rank(), num_ranks}, std::ssize(starts));
        auto const own =
            std::span(starts).subspan(static_cast<std::size_t>(mine.first), static_cast<std::size_t>(mine.size));
        sharded_walk_report const report =
            walk.stream(counting_job(own, first_walk + mine.first, out.of(first, size)), exec);
        EXPECT_EQ(report.num_walks, mine.size);
        EXPECT_EQ(report.steps, report.steps_here);
        EXPECT_LE(report.moved_bytes, 20 * report.moved);
        if (num_ranks == 1) { EXPECT_EQ(report.sent_bytes, 0); }
      },
      transport::seconds(60), wrap);
  return out;
}

}  // namespace tendril::test
