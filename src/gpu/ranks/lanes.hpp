// The two lanes of a call of all ranks with GPUs: each has a stream and a batch, so that records of one are on their way while the
// other works.

#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include <cuda_runtime_api.h>

#include <tendril/exec.hpp>  // cuda_stream

#include "gpu/device/check.hpp"
#include "gpu/ranks/messages.hpp"
#include "samplers/two_batches.hpp"

namespace tendril::gpu {

/// Runs all rounds. Afterwards everything is done. If a rank fails, messages that are under way end.
/// @tparam Lane  A Batch of two_batches, with a stream().
/// @param begin, give, on_step  As of two_batches::run.
/// @return supersteps of all rounds.
template <class Lane>
std::int64_t run_lanes(std::array<Lane, 2>& lanes, std::int64_t num_rounds, gpu_messages& messages,
                       typename samplers::two_batches<Lane>::begin_round const& begin,
                       typename samplers::two_batches<Lane>::deliver const& give,
                       std::function<void(double rounds)> const& on_step)
{
  try {
    samplers::two_batches<Lane> both({&lanes[0], &lanes[1]}, num_rounds);
    std::int64_t const supersteps = both.run(begin, give, on_step);
    for (Lane const& lane : lanes) { TENDRIL_CUDA_TRY(cudaStreamSynchronize(lane.stream())); }
    return supersteps;
  } catch (...) {
    messages.abort();  // or lanes wait for ranks that don't come
    throw;
  }
}

}  // namespace tendril::gpu
