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

inline std::string text_of(message const& m)
{
  return {reinterpret_cast<char const*>(m.data()), static_cast<std::size_t>(m.size())};
}

}  // namespace tendril::test
