// Sums of weights as kernels see them. Host and device code.

#pragma once

#include "core/weight_sums.hpp"
#include "plan/tables.hpp"  // weight_sums

namespace tendril::gpu {

/// plan::weight_sums of a graph, in device memory; nulls where there are none.
struct summed_tables {
  core::row_weight const* rows = nullptr;
  core::weight_sum const* sums = nullptr;

  [[nodiscard]] static summed_tables of(plan::weight_sums const* kept)
  {
    return kept == nullptr ? summed_tables{} : summed_tables{kept->rows.data(), kept->sums.data()};
  }
};

}  // namespace tendril::gpu
