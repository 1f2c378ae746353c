// Who makes the samples of a job of `tendril sample`, and writes them.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include <tendril/transport.hpp>

#include "text.hpp"  // batches_of

namespace tendril::cli {

using metadata = std::map<std::string, std::string>;

struct sample_makers {
  transport* ranks = nullptr;  ///< That share the job; null: this process alone.
  bool own_file = false;       ///< Of ranks: each writes a file of its own samples.
  int num_places = 1;          ///< Of this process: GPUs that share the job, or 1 for the CPU.

  /// The ranks that write one file together; null: this process writes one alone.
  [[nodiscard]] transport* writers() const { return own_file ? nullptr : ranks; }

  /// Whether this process writes what is of all samples of the file together.
  [[nodiscard]] bool tells() const { return writers() == nullptr || writers()->rank() == 0; }

  /// Samples of a piece, so that every place, or rank, gets some. @param most  That a piece may have; 1 or more.
  [[nodiscard]] std::int64_t piece(std::int64_t num_samples, std::int64_t most) const
  {
    std::int64_t const each = batches_of(num_samples, writers() != nullptr ? writers()->size() : num_places);
    return std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(each, 1));
  }
};

}  // namespace tendril::cli
