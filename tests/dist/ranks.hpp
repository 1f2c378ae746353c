#pragma once

// Ranks as threads of a test.

#include <cstdint>
#include <string>
#include <vector>

#include <tendril/partition.hpp>
#include <tendril/transport.hpp>

#include "support/sanitized.hpp"

namespace tendril::test {

/// Threads that outnumber cores are slow under a sanitizer.
inline std::vector<int> rank_counts() { return is_sanitized ? std::vector{1, 3} : std::vector{1, 2, 3, 4, 7}; }

/// How a job is shared among ranks.
struct ranks_options {
  partition_method method = partition_method::degree;
  int threads = 1;
  std::int64_t batch_bytes = 0;  ///< Of walks.
  bool restless = false;
};

/// Where the rows of each rank begin, and where the last ones end: later ranks have more.
inline std::vector<std::int64_t> uneven_bounds(std::int64_t num_rows, int num_ranks)
{
  std::vector<std::int64_t> out;
  for (int r = 0; r <= num_ranks; ++r) { out.push_back(num_rows * r * r / (num_ranks * num_ranks)); }
  return out;
}

inline std::string text_of(message const& m)
{
  return {reinterpret_cast<char const*>(m.data()), static_cast<std::size_t>(m.size())};
}

}  // namespace tendril::test
