#pragma once

// Sinks for streams of walks.

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/walk_stream.hpp>

#include "support/walk_rows.hpp"

namespace tendril::test {

template <class T>
std::vector<T> all_of(buffer<T> const& from)
{
  return {from.begin(), from.end()};
}

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

/// The same for ragged walks.
struct collected_ragged {
  ragged walks{{0}, {}};
  std::int64_t calls = 0;

  std::function<void(ragged_rows const&)> sink()
  {
    return [this](ragged_rows const& rows) {
      ASSERT_EQ(rows.first, std::ssize(walks.offsets) - 1);
      ASSERT_GT(rows.offsets.size(), 1U);
      ASSERT_EQ(rows.offsets.front(), 0);
      ASSERT_EQ(rows.offsets.back(), std::ssize(rows.vertices));
      auto const begin = walks.offsets.back();
      for (auto const end : rows.offsets.subspan(1)) { walks.offsets.push_back(begin + end); }
      walks.vertices.insert(walks.vertices.end(), rows.vertices.begin(), rows.vertices.end());
      ++calls;
    };
  }
};

}  // namespace tendril::test
