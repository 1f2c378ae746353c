// What both executors of MVS check of their arguments.

#pragma once

#include <cstdint>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/mvs.hpp>

#include "base/expects.hpp"                // TENDRIL_EXPECTS
#include "samplers/layers/importance.hpp"  // is_importance

namespace tendril::samplers {

inline void check_mvs(graph const& graph, std::int64_t num_importances, std::int64_t num_samples,
                      mvs_params const& params, std::int64_t first_sample)
{
  validate(params);
  TENDRIL_EXPECTS(num_samples >= 0, "num_samples: {}, expected 0 or more", num_samples);
  TENDRIL_EXPECTS(first_sample >= 0, "first_sample: {}, expected 0 or more", first_sample);
  TENDRIL_EXPECTS(num_importances == 0 || num_importances == graph.num_vertices(),
                  "importances: {} values, expected none or one for each of the graph's {} vertices", num_importances,
                  graph.num_vertices());
}

/// The result but for its edges. @throws memory_error, also where the size is beyond any integer.
inline mvs_batches allocate_mvs(std::int64_t num_samples, std::int64_t batch_size, memory_resource& memory)
{
  std::int64_t const slots = checked_product("mvs_sample: vertices of batches", num_samples, batch_size);
  mvs_batches out;
  out.num_samples = num_samples;
  out.batch_size = batch_size;
  out.vertices = buffer<vertex_id>(slots, memory);
  out.probabilities = buffer<float>(slots, memory);
  out.weights = buffer<float>(slots, memory);
  out.edge_offsets = buffer<std::int64_t>(slots + 1, memory);
  return out;
}

}  // namespace tendril::samplers
