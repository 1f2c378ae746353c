// Batches of rows, as caches of features meet them: few rows are in many batches.

#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <tendril/types.hpp>

namespace tendril::test {

using row_batch = std::vector<vertex_id>;

/// Batches of up to `size` different rows each, in no order. The lower its number, the more often a row is drawn.
inline std::vector<row_batch> skewed_batches(int count, int size, std::int64_t num_rows, unsigned seed)
{
  std::mt19937 random(seed);
  std::vector<row_batch> batches;
  for (int b = 0; b < count; ++b) {
    row_batch batch;
    for (int i = 0; i < size; ++i) {
      auto const limit = static_cast<std::uint64_t>(num_rows);
      batch.push_back(static_cast<vertex_id>(random() % (random() % limit + 1)));
    }
    std::sort(batch.begin(), batch.end());
    batch.erase(std::unique(batch.begin(), batch.end()), batch.end());
    std::shuffle(batch.begin(), batch.end(), random);
    batches.push_back(std::move(batch));
  }
  return batches;
}

}  // namespace tendril::test
