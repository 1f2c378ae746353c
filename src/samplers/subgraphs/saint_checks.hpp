// What both executors of GraphSAINT say about their arguments, and what follows from them.

#pragma once

#include <algorithm>
#include <cstdint>

#include <tendril/saint.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "core/saint.hpp"
#include "samplers/subgraphs/subgraph_checks.hpp"  // check_sample_numbers

namespace tendril::samplers {

inline constexpr std::int64_t most_saint_vertices = 0x7fffffff;

inline core::saint_kind kind_of(saint_sampler sampler)
{
  switch (sampler) {
    case saint_sampler::node: return core::saint_kind::node;
    case saint_sampler::edge: return core::saint_kind::edge;
    default: return core::saint_kind::walk;
  }
}

/// Vertices that a sample draws, equal ones counted each time.
inline std::int64_t vertices_a_sample(saint_params const& params)
{
  return params.sampler == saint_sampler::node   ? params.budget
         : params.sampler == saint_sampler::edge ? 2 * params.budget
                                                 : params.budget * (params.length + 1);
}

/// @throws argument_error.
inline void check_saint(graph const& graph, saint_params const& params, std::int64_t num_samples,
                        std::int64_t first_sample, std::int64_t sample_step = 1)
{
  constexpr std::int64_t most = std::int64_t{1} << 62;
  validate(params, graph);
  check_sample_numbers(num_samples, first_sample);
  TENDRIL_EXPECTS(sample_step >= 1 && sample_step <= most / std::max<std::int64_t>(num_samples, 1),
                  "sample_step: {}, expected 1 to 2^62 / num_samples", sample_step);
}

/// @throws argument_error.
inline void check_saint_count(std::int64_t num_samples)
{
  TENDRIL_EXPECTS(num_samples >= 1 && num_samples <= 0x7fffffff, "num_samples: {}, expected 1 to 2147483647",
                  num_samples);
}

/// Whether there is anything that could be drawn.
inline bool can_draw(graph const& graph, saint_params const& params)
{
  return params.sampler == saint_sampler::walk ? graph.num_vertices() > 0 : graph.num_edges() > 0;
}

/// Calls sample(first, count) for the samples of a normalization in parts of at most most_vertices drawn.
template <class Sample>
void in_parts(saint_params const& params, std::int64_t num_samples, std::int64_t most_vertices, Sample sample)
{
  std::int64_t const a_part = std::max<std::int64_t>(1, most_vertices / vertices_a_sample(params));
  for (std::int64_t first = 0; first < num_samples; first += a_part) {
    sample(first, std::min(a_part, num_samples - first));
  }
}

}  // namespace tendril::samplers
