#pragma once

// A sink for streams of walks.

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/walk_stream.hpp>

namespace tendril::test {

/// Keeps everything, and checks that it comes in order.
struct collected_walks {
  std::vector<vertex_id> vertices;
  std::vector<std::int32_t> lengths;
  std::int64_t calls = 0;

  std::function<void(walk_rows const&)> sink()
  {
    return [this](walk_rows const& rows) {
      EXPECT_EQ(rows.first, static_cast<std::int64_t>(lengths.size()));
      vertices.insert(vertices.end(), rows.vertices.begin(), rows.vertices.end());
      lengths.insert(lengths.end(), rows.lengths.begin(), rows.lengths.end());
      ++calls;
    };
  }

  [[nodiscard]] std::int64_t num_steps() const
  {
    return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  }
};

}  // namespace tendril::test
