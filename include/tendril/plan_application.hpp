#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tendril/application.hpp>  // sampling_executor

namespace tendril {

/// One step of a sampling application before it runs: its size, and which executor runs it.
struct planned_step {
  std::int64_t num_transits = 0;  ///< A sample.
  std::int64_t sample_size = 0;   ///< Calls for each transit; collective: for each sample.
  std::int64_t num_slots = 0;     ///< A sample: vertices that the step can add.
  sampling_executor executor = sampling_executor::sample_parallel;
  double sample_seconds = 0;   ///< What the step is estimated to take on a GPU, sample-parallel,
  double transit_seconds = 0;  ///< and transit-parallel; 0 on the CPU, which has one executor.
  std::string reason;          ///< One sentence.
};

/// "auto", "sample", "transit".
[[nodiscard]] std::string_view to_string(sampling_executor executor) noexcept;

/// @throws argument_error for a name that is none of these.
[[nodiscard]] sampling_executor parse_sampling_executor(std::string_view name);

}  // namespace tendril
