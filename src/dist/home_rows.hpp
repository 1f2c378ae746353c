// The rows of the walks that a rank asked for, in the making: vertices come in any order of walks, step by step.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

namespace tendril::dist {

class home_rows {
 public:
  /// @param most_walks  Of a batch.
  home_rows(std::int64_t most_walks, std::int64_t length, memory_resource& memory);

  /// Begins a batch. @param starts  [n]
  void begin(std::span<vertex_id const> starts);

  [[nodiscard]] std::int64_t size() const { return num_walks_; }
  [[nodiscard]] vertex_id start(std::uint32_t walk) const { return steps_[walk]; }

  /// A walk is at v after `step` steps. Several threads may put vertices.
  void put(std::uint32_t walk, std::int32_t step, vertex_id v) { steps_[step * num_walks_ + walk] = v; }
  /// A walk has ended after so many steps; those of which nothing is told take all. @param repeats  The rest of its row is its last
  /// vertex. Several threads may end different walks.
  void end(std::uint32_t walk, std::int32_t steps, bool repeats)
  {
    lengths_[walk] = steps;
    repeats_[walk] = repeats ? 1 : 0;
  }

  /// The batch as rows, [n, length + 1]. The memory is overwritten by the next call.
  [[nodiscard]] std::span<vertex_id const> rows(cpu_exec const& exec);
  [[nodiscard]] std::span<std::int32_t const> lengths() const
  {
    return {lengths_.data(), static_cast<std::size_t>(num_walks_)};
  }

 private:
  std::int64_t width_;
  std::int64_t num_walks_ = 0;
  buffer<vertex_id> steps_;  // [width, num_walks]: a step's vertices lie together, and so in the cache
  buffer<vertex_id> rows_;   // [num_walks, width]
  buffer<std::int32_t> lengths_;
  std::vector<char> repeats_;
};

}  // namespace tendril::dist
