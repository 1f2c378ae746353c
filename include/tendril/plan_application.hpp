#pragma once

#include <cstdint>
#include <string>

#include <tendril/application.hpp>  // sampling_executor

namespace tendril {

/// The plan of one step of a sampling application: its size, and the executor that runs it.
struct planned_step {
  std::int64_t num_transits = 0;  ///< Per sample.
  std::int64_t sample_size = 0;   ///< Calls per transit; collective: per sample.
  std::int64_t num_slots = 0;     ///< Per sample: vertices that the step can add.
  sampling_executor executor = sampling_executor::sample_parallel;
  double sample_seconds = 0;   ///< Estimated time of the step on a GPU, sample-parallel.
  double transit_seconds = 0;  ///< The same, transit-parallel; 0 on the CPU, which has one executor.
  std::string reason;          ///< One sentence.
};

}  // namespace tendril
