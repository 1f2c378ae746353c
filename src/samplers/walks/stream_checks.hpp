// What the streams of walks on both sides check before they walk.

#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include <tendril/walk_stream.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "graph/places.hpp"

namespace tendril::samplers {

/// What one walk of a stream takes.
struct stream_footprint {
  char const* start_name;       ///< "start" or "root", for messages.
  std::int64_t num_vertices;    ///< Of the graph.
  std::int64_t starts;          ///< Vertices that a walk starts from.
  std::int64_t row;             ///< Vertices of its row.
  std::int64_t more_bytes = 0;  ///< For each walk of a batch, while the batch is made.
};

/// @throws argument_error for what no stream can serve.
inline void check_stream(walk_stream_job const& job)
{
  int const sinks = (job.sink ? 1 : 0) + (job.ragged_sink ? 1 : 0) + (job.counts ? 1 : 0);
  TENDRIL_EXPECTS(job.starts && sinks > 0, "walk_stream_job: starts or sink is empty, expected both");
  TENDRIL_EXPECTS(sinks == 1, "walk_stream_job: {} of sink, ragged_sink and counts, expected one of them", sinks);
  TENDRIL_EXPECTS(job.num_walks >= 0, "num_walks: {}, expected 0 or more", job.num_walks);
  TENDRIL_EXPECTS(job.first_walk >= 0, "first_walk: {}, expected 0 or more", job.first_walk);
  TENDRIL_EXPECTS(job.graph_bytes >= 0, "graph_bytes: {}, expected 0 or more", job.graph_bytes);
  TENDRIL_EXPECTS(job.graph_bytes == 0 || !job.ragged_sink,
                  "graph_bytes: ragged walks don't go by regions, expected 0");
  TENDRIL_EXPECTS(job.batch_bytes >= 0, "batch_bytes: {}, expected 0 or more", job.batch_bytes);
}

/// @throws argument_error for counts that don't have an element for each vertex.
inline void check_counts(walk_counts const& counts, std::int64_t num_vertices)
{
  for (auto const& [name, given] : {std::pair{"visits", counts.visits}, std::pair{"ends", counts.ends}}) {
    TENDRIL_EXPECTS(given.empty() || std::ssize(given) == num_vertices, "{}: {} counts, expected {}, one a vertex",
                    name, given.size(), num_vertices);
  }
}

/// @throws argument_error for a sink of ragged walks, or counts, where walks have rows only.
inline void check_rows_only(walk_stream_job const& job)
{
  TENDRIL_EXPECTS(!job.ragged_sink, "ragged_sink: multi-dimensional walks are rows, expected sink");
  TENDRIL_EXPECTS(!job.counts, "counts: multi-dimensional walks are rows, expected sink");
  TENDRIL_EXPECTS(job.graph_bytes == 0, "graph_bytes: multi-dimensional walks don't go by regions, expected 0");
}

/// @param one_each  Bytes of `num_slots` batches of one walk each.
/// @throws argument_error if the caller's limit is smaller.
inline void check_batch_bytes(walk_stream_job const& job, std::int64_t num_slots, std::int64_t one_each)
{
  TENDRIL_EXPECTS(job.batch_bytes == 0 || job.batch_bytes >= one_each,
                  "batch_bytes: {}, expected at least {}: {} batches of one walk each", job.batch_bytes, one_each,
                  num_slots);
}

/// @param first  Number of the walk that the first of these starts belongs to.
/// @throws argument_error naming the first vertex that the graph doesn't have, by its place in the whole job.
inline void check_stream_starts(std::span<vertex_id const> starts, std::int64_t first, stream_footprint const& walk)
{
  validation::expect_vertices(walk.start_name, starts, walk.num_vertices, first * walk.starts);
}

}  // namespace tendril::samplers
