// LABOR-0 (Balin and Catalyurek, "Layer-neighbor sampling: defusing neighborhood explosion in GNNs", NeurIPS'23): which
// edges a vertex takes, by a random number that belongs to the neighbour. Exact in integers. Executors: src/cpu/layers/labor.cpp,
// src/gpu/layers/labor.cu.

#pragma once

#include <cstdint>

#include <tendril/types.hpp>

#include "core/alias.hpp"  // fraction_of
#include "core/draws.hpp"  // labor_number

namespace tendril::core {

/// How one vertex takes its edges.
struct labor_choice {
  std::uint64_t threshold = 0;  ///< floor(2^64 fanout / degree)
  bool all = true;              ///< All edges: a fan-out of -1, or one not below the degree.

  [[nodiscard]] static TENDRIL_HD labor_choice of(std::int64_t fanout, std::uint32_t degree)
  {
    if (fanout < 0 || fanout >= degree) { return {}; }
    return {fraction_of(static_cast<std::uint64_t>(fanout), degree), false};
  }

  [[nodiscard]] TENDRIL_HD bool takes(std::uint64_t number) const { return all || number < threshold; }

  /// The weight of each of the `taken` edges.
  [[nodiscard]] TENDRIL_HD float weight(std::int64_t fanout, std::uint32_t degree, std::int64_t taken,
                                        bool normalize) const
  {
    if (normalize) { return static_cast<float>(1.0 / static_cast<double>(taken)); }
    return all ? 1.0F : static_cast<float>(static_cast<double>(degree) / static_cast<double>(fanout));
  }
};

}  // namespace tendril::core
